//! Files that are replaced while a run goes on, in real time. Nothing here is timed: a test waits until what it waits for has
//! happened, for a minute if need be.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use dractl::clock::{SECOND, Stopwatch};
use dractl::generations::SelfCheck;
use dractl::plugin::{LoadError, Problem, Unusable};
use dractl::soak::{Plan, Source, Versions, run};

use super::*;
use crate::fixture::MISBEHAVING;

const PATIENCE: u64 = 60 * SECOND;

/// A folder with the built-in plugin in `plugin.wasm`, which is watched.
fn watched() -> (tempfile::TempDir, PathBuf, Versions) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plugin.wasm");
    std::fs::write(&file, BUILT_IN).unwrap();
    let first = Source {
        name: "plugin.wasm".to_owned(),
        bytes: BUILT_IN.to_vec(),
        file: Some(file.clone()),
    };
    let versions = Versions::new(RUNTIME.clone(), Settings::default(), first, Vec::new());
    (
        folder,
        file,
        versions.unwrap_or_else(|error| panic!("{error}")),
    )
}

/// Another file takes the place of this one, at once.
fn replace(file: &Path, bytes: &[u8]) {
    let next = file.with_extension("next");
    std::fs::write(&next, bytes).unwrap();
    std::fs::rename(&next, file).unwrap();
}

/// What is loaded next: the name of the plugin.
fn next(versions: &mut Versions) -> Result<String, LoadError> {
    let waiting = Stopwatch::start();
    loop {
        if let Some(loaded) = versions.changed() {
            return loaded.map(|plugin| plugin.description().name.clone());
        }
        assert!(waiting.nanoseconds() < PATIENCE, "nothing was loaded");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_file_that_takes_the_place_of_another_is_loaded() {
    let (_folder, file, mut versions) = watched();
    replace(&file, &MISBEHAVING);
    assert_eq!(next(&mut versions), Ok("misbehaving".to_owned()));
    replace(&file, BUILT_IN);
    assert_eq!(next(&mut versions), Ok("DynamicResources".to_owned()));
    // A file that is gone is none that has changed; when it is back, it is.
    std::fs::remove_file(&file).unwrap();
    for _ in 0..20 {
        assert!(versions.changed().is_none());
        thread::sleep(Duration::from_millis(20));
    }
    replace(&file, &MISBEHAVING);
    assert_eq!(next(&mut versions), Ok("misbehaving".to_owned()));
}

#[test]
fn a_file_that_stays_half_written_is_refused_and_the_whole_one_taken() {
    let (_folder, file, mut versions) = watched();
    std::fs::write(&file, &MISBEHAVING[..MISBEHAVING.len() / 2]).unwrap();
    let error = next(&mut versions).unwrap_err();
    assert_eq!(
        (error.file.as_str(), &error.problem),
        ("plugin.wasm", &Problem::File(Unusable::Truncated))
    );
    std::fs::write(&file, &*MISBEHAVING).unwrap();
    assert_eq!(next(&mut versions), Ok("misbehaving".to_owned()));
}

#[test]
fn a_file_that_is_being_written_is_not_loaded_before_its_last_byte() {
    let (_folder, file, mut versions) = watched();
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut written = Vec::new();
            let parts: Vec<&[u8]> = MISBEHAVING.chunks(MISBEHAVING.len() / 40).collect();
            for (number, part) in parts.iter().enumerate() {
                ends.store(number + 1 == parts.len(), Ordering::SeqCst);
                written.extend_from_slice(part);
                std::fs::write(&file, &written).unwrap();
                thread::sleep(Duration::from_millis(15));
            }
        });
        // The writer may have been slow enough for a part to be looked at, which is refused.
        loop {
            match next(&mut versions) {
                Ok(name) => {
                    assert_eq!(name, "misbehaving");
                    assert!(ends.load(Ordering::SeqCst), "a part was loaded");
                    break;
                }
                Err(error) => assert!(
                    matches!(error.problem, Problem::File(_)),
                    "a part was run: {error}"
                ),
            }
        }
    });
}

#[test]
fn a_run_in_real_time_takes_a_new_file_in_and_goes_on() {
    let (_folder, file, mut versions) = watched();
    let plan = Plan {
        seed: 5,
        cycles: u64::MAX,
        swap_every: 0,
        check: SelfCheck {
            cycles: 2,
            ..SelfCheck::default()
        },
        real_time: true,
        size: Size::default(),
    };
    let running = Stopwatch::start();
    let (mut broken, mut whole) = (false, false);
    let report = run(&plan, &mut versions, &mut |report| {
        if !broken && report.cycles > 0 {
            broken = true;
            replace(&file, &BUILT_IN[..BUILT_IN.len() / 2]);
        } else if !whole && report.refusals > 0 {
            whole = true;
            replace(&file, BUILT_IN);
        }
        match report.swaps > 0 || running.nanoseconds() > 2 * PATIENCE {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })
    .unwrap();
    assert_eq!(
        (report.refusals, report.swaps, report.violations),
        (1, 1, 0),
        "{report}"
    );
    assert!(report.bound > 0, "{report}");
    assert!(
        report.events[0].starts_with("plugin.wasm: the component ends in the middle"),
        "{report}"
    );
}
