//! Traps of choosing devices that show through the plugin's calls: T5 and T16.

use dractl::plugin::Code;
use serde_json::{Value, json};

use super::scene::{PROFILES, Scene, on_both, structured};
use super::{UTS, assert_status, assert_success};

/// One node with devices `x`, `y`, ... that have these attributes.
fn scene(attributes: &[Value]) -> Scene {
    let mut scene = Scene::with_nodes(1);
    let names = ["x", "y", "z"];
    let devices: Value = names
        .iter()
        .zip(attributes)
        .map(|(name, attributes)| json!({"name": name, "basic": {"attributes": attributes}}))
        .collect();
    let slice = json!({"metadata": {"name": "s"}, "spec": {"driver": "d.example.com", "nodeName": "n1",
        "devices": devices, "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1}}});
    scene
        .double
        .load("resource.k8s.io/v1alpha3", "ResourceSlice", &slice);
    scene
}

#[test]
fn t5_an_unknown_domain_is_an_empty_map_and_an_unknown_id_an_error() {
    let cases: [(&str, Result<(), &str>); 5] = [
        (
            "size(device.attributes['unknown.example.com']) == 0",
            Ok(()),
        ),
        ("!('unknown.example.com' in device.attributes)", Ok(())),
        ("has(device.attributes.unknown)", Ok(())),
        (
            "device.attributes['unknown.example.com'].a == 1",
            Err("claim ns/a: selector #0: CEL runtime error: no such key: a"),
        ),
        (
            "device.attributes['d.example.com'].b == 1",
            Err("claim ns/a: selector #0: CEL runtime error: no such key: b"),
        ),
    ];
    for profile in PROFILES {
        for (expression, expected) in cases {
            on_both(profile, |plugin| {
                let mut scene = scene(&[json!({"a": {"int": 1}})]);
                let mut claim = structured("a");
                claim["spec"]["devices"]["requests"][0]["selectors"] =
                    json!([{"cel": {"expression": expression}}]);
                scene.claim(&claim);
                let mut driver = scene.pre_filtered(plugin);
                match expected {
                    Ok(()) => assert_success(driver.filter(0)),
                    Err(text) => assert_status(driver.filter(0), Code::Error, text),
                }
            });
        }
    }
}

/// The devices that a claim for two with the same attribute gets.
fn two_alike(attribute: &str, attributes: &[Value]) -> Vec<Option<Vec<String>>> {
    let collected = std::cell::RefCell::new(Vec::new());
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let mut scene = scene(attributes);
            let mut claim = structured("a");
            claim["spec"]["devices"]["requests"][0]["count"] = 2.into();
            claim["spec"]["devices"]["constraints"] = json!([{"matchAttribute": attribute}]);
            scene.claim(&claim);
            let mut driver = scene.pre_filtered(plugin);
            let status = driver.filter(0).unwrap();
            if status.code != Code::Success {
                assert_status(Ok(status), UTS, "cannot allocate all claims");
                collected.borrow_mut().push(None);
                return;
            }
            assert_success(driver.reserve(0));
            let claims = driver.double().in_flight_claims();
            let results = claims[0].pointer("/status/allocation/devices/results");
            let devices = results.and_then(Value::as_array).into_iter().flatten();
            let names = devices.map(|result| result["device"].as_str().unwrap().to_owned());
            collected.borrow_mut().push(Some(names.collect()));
        });
    }
    collected.into_inner()
}

#[track_caller]
fn assert_two_alike(attribute: &str, attributes: &[Value], expected: Option<[&str; 2]>) {
    let expected = expected.map(|names| names.map(str::to_owned).to_vec());
    for answer in two_alike(attribute, attributes) {
        assert_eq!(answer, expected);
    }
}

#[test]
fn t16_match_attribute_wants_the_attribute_with_one_type_and_the_full_name() {
    let int = |name: &str, value: i64| json!({name: {"int": value}});
    let own = "d.example.com/a";
    // A device without the attribute is refused, even as the first.
    let lacking = [json!({}), int("a", 1), int("a", 1)];
    assert_two_alike(own, &lacking, Some(["y", "z"]));
    assert_two_alike(own, &lacking[..2], None);
    // The bare name stands for the device's own driver only; the full name is the same attribute.
    let named = [int("a", 1), int(own, 1)];
    assert_two_alike(own, &named, Some(["x", "y"]));
    let other = "other.example.com/a";
    assert_two_alike(other, &named, None);
    assert_two_alike(other, &[int(other, 1), int(other, 1)], Some(["x", "y"]));
    // Values of different types are different, whatever they look like.
    let typed = [
        json!({"a": {"string": "1.0.0"}}),
        json!({"a": {"version": "1.0.0"}}),
    ];
    assert_two_alike(own, &typed, None);
    // Versions are compared as texts.
    let versions = ["1.0.0+a", "1.0.0+b"].map(|version| json!({"a": {"version": version}}));
    assert_two_alike(own, &versions, None);
}
