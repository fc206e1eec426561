//! What is remembered, for how long, and that it changes nothing but the number of evaluations.

use super::*;
use crate::api::{Attribute, Device};

/// Devices of a driver, with the number that the content of the first one has. No two are alike, unless they have the same
/// number and birth.
struct Devices {
    number: u32,
    birth: u32,
    driver: Arc<str>,
    devices: Vec<Device>,
}

fn devices(number: u32, birth: u32, driver: &str, sizes: &[i64]) -> Devices {
    let device = |size: &i64| Device {
        attributes: [(Arc::from("size"), Attribute::Int(*size))].into(),
        ..Device::default()
    };
    Devices {
        number,
        birth,
        driver: Arc::from(driver),
        devices: sizes.iter().map(device).collect(),
    }
}

fn cache() -> SelectorCache {
    SelectorCache::new(&Profile::current(), true)
}

/// The verdicts of all devices.
fn ask(
    cache: &mut SelectorCache,
    text: &str,
    devices: &Devices,
) -> Vec<Result<bool, SelectorError>> {
    let id = cache.expression(&Arc::from(text));
    let verdict = |(index, device): (usize, &Device)| {
        let index = index as u32;
        let content = Content {
            number: devices.number + index,
            birth: devices.birth,
        };
        let device = DeviceRef {
            content,
            slot: 0,
            index,
            driver: &devices.driver,
            device,
        };
        cache.matches(id, device)
    };
    devices.devices.iter().enumerate().map(verdict).collect()
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
fn verdicts_last_as_long_as_the_content() {
    let mut cache = cache();
    let old = devices(1, 1, "d", &[1, 9]);
    for _ in 0..3 {
        assert_eq!(ask(&mut cache, LARGE, &old), [Ok(false), Ok(true)]);
    }
    assert_eq!(cache.evaluations(), 2);
    // The same numbers for something else.
    let new = devices(1, 2, "d", &[9, 1, 1]);
    assert_eq!(
        ask(&mut cache, LARGE, &new),
        [Ok(true), Ok(false), Ok(false)]
    );
    assert_eq!(cache.evaluations(), 5);
    // Another number, and the first again.
    assert_eq!(
        ask(&mut cache, LARGE, &devices(0, 3, "d", &[9])),
        [Ok(true)]
    );
    assert_eq!(ask(&mut cache, LARGE, &new)[0], Ok(true));
    assert_eq!(cache.evaluations(), 6);
    cache.forget_verdicts();
    assert_eq!(ask(&mut cache, LARGE, &new)[0], Ok(true));
    assert_eq!(cache.evaluations(), 9);
}

#[test]
fn too_many_verdicts_are_forgotten() {
    let mut cache = cache();
    // The number alone makes the list long.
    let far = devices(VERDICTS_LIMIT as u32, 1, "d", &[9]);
    assert_eq!(ask(&mut cache, LARGE, &far), [Ok(true)]);
    assert!(cache.verdicts > VERDICTS_LIMIT);
    assert_eq!(
        ask(&mut cache, "false", &devices(0, 2, "d", &[9])),
        [Ok(false)]
    );
    assert_eq!(cache.verdicts, 1);
    assert_eq!(ask(&mut cache, LARGE, &far), [Ok(true)]);
}

#[test]
fn without_memory_all_is_done_anew() {
    let mut cache = SelectorCache::new(&Profile::current(), false);
    let given = devices(0, 1, "d", &[1, 9]);
    let missing = "device.attributes['d'].missing == 1";
    for round in 1..3 {
        assert_eq!(ask(&mut cache, LARGE, &given), [Ok(false), Ok(true)]);
        assert!(ask(&mut cache, missing, &given).iter().all(Result::is_err));
        assert_eq!(cache.evaluations(), 4 * round);
        assert_eq!(cache.expressions.len(), 2 * round as usize);
    }
}

#[test]
fn errors_are_remembered_as_well() {
    let mut cache = cache();
    let given = devices(0, 1, "d", &[1]);
    let missing = "device.attributes['d'].missing == 1";
    let error = SelectorError::Runtime("no such key: missing".to_owned());
    for _ in 0..2 {
        assert_eq!(ask(&mut cache, missing, &given), [Err(error.clone())]);
    }
    assert_eq!(cache.evaluations(), 1);
    for _ in 0..2 {
        let verdict = ask(&mut cache, "device.nosuch", &given);
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
    let verdicts = ask(&mut cache, text, &devices(0, 1, "other", &sizes));
    assert!(verdicts.iter().all(|verdict| *verdict == Ok(false)));
    assert_eq!((cache.evaluations(), cache.values.made), (0, 0));
    let verdicts = ask(&mut cache, text, &devices(1, 2, "d", &sizes));
    assert!(verdicts.iter().all(|verdict| *verdict == Ok(true)));
    assert_eq!(cache.evaluations(), 1_000);
    // A malformed device is an error even so.
    let mut bad = devices(2, 3, "other", &[1]);
    bad.devices[0].attributes = [(Arc::from("size"), Attribute::Version("x".into()))].into();
    let verdicts = ask(&mut cache, text, &bad);
    assert!(
        matches!(&verdicts[0], Err(SelectorError::Runtime(text)) if text.starts_with("attribute size: ")),
        "{verdicts:?}"
    );
}

#[test]
fn contents_are_converted_once() {
    let mut cache = cache();
    let given = devices(0, 1, "d", &[1, 9, 3]);
    for text in [LARGE, "device.attributes['d'].size == 3", "true"] {
        ask(&mut cache, text, &given);
    }
    assert_eq!(
        (
            cache.evaluations(),
            cache.values.made,
            cache.values.kept_now()
        ),
        (9, 3, 3)
    );
    ask(&mut cache, LARGE, &devices(0, 2, "d", &[1]));
    assert_eq!((cache.values.made, cache.values.kept_now()), (4, 3));
    // Too many are converted as they come.
    let many = devices(0, 3, "d", &vec![9; 4_097]);
    assert!(
        ask(&mut cache, LARGE, &many)
            .iter()
            .all(|verdict| *verdict == Ok(true))
    );
    assert_eq!(cache.values.kept_now(), 4_096);
}

#[test]
fn too_many_expressions_are_forgotten_between_cycles() {
    let mut cache = cache();
    for n in 0..=EXPRESSIONS_LIMIT {
        cache.expression(&Arc::from(format!("{n} == 1")));
    }
    let given = devices(0, 1, "d", &[9]);
    assert_eq!(ask(&mut cache, LARGE, &given), [Ok(true)]);
    cache.make_room();
    assert!(cache.expressions.is_empty() && cache.ids.is_empty());
    assert_eq!(ask(&mut cache, LARGE, &given), [Ok(true)]);
}
