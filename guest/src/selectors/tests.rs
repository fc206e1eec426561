//! What is remembered, for how long, and that it changes nothing but the number of evaluations.

use super::*;
use crate::api::{Attribute, Device};

/// A slice: where it is, and the driver of its devices.
struct Slice {
    slot: u32,
    version: u64,
    driver: Arc<str>,
    devices: Vec<Device>,
}

fn slice(slot: u32, version: u64, driver: &str, sizes: &[i64]) -> Slice {
    let device = |size: &i64| Device {
        attributes: vec![(Arc::from("size"), Attribute::Int(*size))],
        ..Device::default()
    };
    Slice {
        slot,
        version,
        driver: Arc::from(driver),
        devices: sizes.iter().map(device).collect(),
    }
}

fn cache() -> SelectorCache {
    SelectorCache::new(&Profile::current())
}

/// The verdicts of all devices.
fn ask(cache: &mut SelectorCache, text: &str, slice: &Slice) -> Vec<Result<bool, SelectorError>> {
    let id = cache.expression(&Arc::from(text));
    let devices = slice.devices.iter().enumerate();
    devices
        .map(|(index, device)| {
            let of_slice = DeviceRef {
                slot: slice.slot,
                version: slice.version,
                index: index as u32,
                driver: &slice.driver,
                device,
            };
            cache.matches(id, of_slice)
        })
        .collect()
}

const LARGE: &str = "device.attributes['d'].size > 5";

#[test]
fn an_expression_is_compiled_once() {
    let mut cache = cache();
    let first = cache.expression(&Arc::from(LARGE));
    assert_eq!(cache.expression(&Arc::from(LARGE)), first);
    assert_ne!(cache.expression(&Arc::from("true")), first);
    assert_eq!(cache.expressions.len(), 2);
}

#[test]
fn verdicts_last_until_the_slice_changes() {
    let mut cache = cache();
    let old = slice(1, 1, "d", &[1, 9]);
    for _ in 0..3 {
        assert_eq!(ask(&mut cache, LARGE, &old), [Ok(false), Ok(true)]);
    }
    assert_eq!(cache.evaluations(), 2);
    // The same slot, filled anew.
    let new = slice(1, 2, "d", &[9, 1, 1]);
    assert_eq!(
        ask(&mut cache, LARGE, &new),
        [Ok(true), Ok(false), Ok(false)]
    );
    assert_eq!(cache.evaluations(), 5);
    // Another slot, and the first again.
    assert_eq!(ask(&mut cache, LARGE, &slice(0, 3, "d", &[9])), [Ok(true)]);
    assert_eq!(ask(&mut cache, LARGE, &new)[0], Ok(true));
    assert_eq!(cache.evaluations(), 6);
    cache.forget_slice(1);
    assert_eq!(ask(&mut cache, LARGE, &new)[0], Ok(true));
    assert_eq!(cache.evaluations(), 9);
    cache.forget_slices();
    assert_eq!(ask(&mut cache, LARGE, &slice(0, 3, "d", &[1])), [Ok(false)]);
}

#[test]
fn errors_are_remembered_as_well() {
    let mut cache = cache();
    let devices = slice(0, 1, "d", &[1]);
    let missing = "device.attributes['d'].missing == 1";
    let error = SelectorError::Runtime("no such key: missing".to_owned());
    for _ in 0..2 {
        assert_eq!(ask(&mut cache, missing, &devices), [Err(error.clone())]);
    }
    assert_eq!(cache.evaluations(), 1);
    for _ in 0..2 {
        let verdict = ask(&mut cache, "device.nosuch", &devices);
        assert!(
            matches!(verdict[0], Err(SelectorError::Compile(_))),
            "{verdict:?}"
        );
    }
    assert_eq!(cache.evaluations(), 1);
}

#[test]
fn a_driver_conjunct_decides_a_slice() {
    let mut cache = cache();
    let text = "device.attributes['d'].size > 5 && device.driver == 'd'";
    let sizes = vec![9; 1_000];
    // Of another driver nothing is evaluated or converted: here the first conjunct alone would be an error.
    let verdicts = ask(&mut cache, text, &slice(0, 1, "other", &sizes));
    assert!(verdicts.iter().all(|verdict| *verdict == Ok(false)));
    assert_eq!((cache.evaluations(), cache.values.made), (0, 0));
    let verdicts = ask(&mut cache, text, &slice(1, 2, "d", &sizes));
    assert!(verdicts.iter().all(|verdict| *verdict == Ok(true)));
    assert_eq!(cache.evaluations(), 1_000);
    // A malformed device is an error even so.
    let mut bad = slice(2, 3, "other", &[1]);
    bad.devices[0].attributes[0].1 = Attribute::Version("x".into());
    let verdicts = ask(&mut cache, text, &bad);
    assert!(
        matches!(&verdicts[0], Err(SelectorError::Runtime(text)) if text.starts_with("attribute size: ")),
        "{verdicts:?}"
    );
}

#[test]
fn devices_are_converted_once_per_slice() {
    let mut cache = cache();
    let devices = slice(0, 1, "d", &[1, 9, 3]);
    for text in [LARGE, "device.attributes['d'].size == 3", "true"] {
        ask(&mut cache, text, &devices);
    }
    assert_eq!(
        (cache.evaluations(), cache.values.made, cache.values.kept),
        (9, 3, 3)
    );
    ask(&mut cache, LARGE, &slice(0, 2, "d", &[1]));
    assert_eq!((cache.values.made, cache.values.kept), (4, 1));
    cache.forget_slices();
    assert_eq!(cache.values.kept, 0);
    // Too many are converted as they come.
    let many = slice(0, 3, "d", &vec![9; 10_001]);
    assert!(
        ask(&mut cache, LARGE, &many)
            .iter()
            .all(|verdict| *verdict == Ok(true))
    );
    assert_eq!(cache.values.kept, 10_000);
}

#[test]
fn too_many_expressions_are_forgotten_between_cycles() {
    let mut cache = cache();
    for n in 0..=EXPRESSIONS_LIMIT {
        cache.expression(&Arc::from(format!("{n} == 1")));
    }
    let devices = slice(0, 1, "d", &[9]);
    assert_eq!(ask(&mut cache, LARGE, &devices), [Ok(true)]);
    cache.make_room();
    assert!(cache.expressions.is_empty() && cache.ids.is_empty());
    assert_eq!(ask(&mut cache, LARGE, &devices), [Ok(true)]);
}
