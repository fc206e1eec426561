//! Numbers, quantities, versions and texts at and beyond their limits.

use serde_json::{Value, json};

use super::{
    Fate, Placed, Refused, assert_fate, assert_warned, claim, class, cluster, list, node, pod,
    request, simulate, slice, with,
};

fn counting(counts: &[Value]) -> Vec<Value> {
    let requests = counts.iter().enumerate().map(|(index, count)| {
        with(
            request(&format!("r{index}")),
            "/exactly/count",
            count.clone(),
        )
    });
    cluster(vec![claim(requests.collect())])
}

#[test]
fn counts_near_the_limits_of_numbers() {
    const MAX: i64 = i64::MAX;
    let limit = Refused(
        "error",
        "claim default/c: number of requested devices 9223372036854775807 exceeds the claim limit of 32",
    );
    assert_fate("2^63-1", counting(&[json!(MAX)]), limit);
    // The sums of 64-bit integers wrap to -2 and 1; these do not (rule D8).
    assert_fate("twice", counting(&[json!(MAX), json!(MAX)]), limit);
    assert_fate("to 1", counting(&[json!(MAX), json!(MAX), json!(3)]), limit);
    assert_fate(
        "33",
        counting(&[json!(33)]),
        Refused("error", "devices 33 exceeds the claim limit of 32"),
    );
    assert_fate(
        "32 of 2",
        counting(&[json!(32)]),
        Refused("unschedulable", "cannot allocate all claims"),
    );
    let count = |text: &'static str| Refused("input-error", text);
    let field = "ResourceClaim default/c: spec.devices.requests[0].exactly.count: expected a";
    for number in [
        "9223372036854775808",
        "18446744073709551616",
        "1.5",
        "1e30",
        "-9223372036854775809",
    ] {
        let number: Value = serde_json::from_str(number).expect("a number");
        assert_fate("beyond", counting(&[number]), count(field));
    }
    assert_fate(
        "a text",
        counting(&[json!("2")]),
        count("count: expected an integer, found a string"),
    );
    let pool = |pointer: &str, value: Value| {
        cluster(vec![with(slice(json!([{"name": "g"}])), pointer, value)])
    };
    assert_fate(
        "generation",
        pool("/spec/pool/generation", MAX.into()),
        Placed(1),
    );
    let more = pool("/spec/pool/resourceSliceCount", MAX.into());
    assert_fate(
        "slices",
        more,
        Refused("unschedulable", "cannot allocate all claims"),
    );
    let beyond = pool("/spec/pool/generation", json!(1_u64 << 63));
    assert_fate(
        "generation beyond",
        beyond,
        count("ResourceSlice s1: spec.pool.generation: expected a 64-bit integer"),
    );
}

/// One device with this value, and a request that asks for it to be above one.
fn compared(device: Value, path: &str, one: &str) -> Vec<Value> {
    let expression = format!("{path}.compareTo({one}) > 0");
    let selectors = json!([{"cel": {"expression": expression}}]);
    let claim = with(
        claim(vec![request("r")]),
        "/spec/devices/requests/0/exactly/selectors",
        selectors,
    );
    cluster(vec![slice(json!([device])), claim])
}

#[test]
fn quantities_of_devices() {
    let above_one = |quantity: Value| {
        let device = json!({"name": "g", "capacity": {"m": {"value": quantity}}});
        compared(
            device,
            "device.capacity['gpu.example.com'].m",
            "quantity('1')",
        )
    };
    let small = Refused("unschedulable", "cannot allocate all claims");
    let bad = Refused("error", "claim default/c: selector #0: CEL runtime error");
    let wrong = Refused(
        "input-error",
        "ResourceSlice s1: spec.devices[0].capacity[m].value",
    );
    let cases: [(Value, Fate); 20] = [
        (json!("2"), Placed(1)),
        (json!("1m"), small),
        (json!("9223372036854775807Ei"), Placed(1)),
        (json!("1e999"), Placed(1)),
        (json!(1e300), Placed(1)),
        (json!(-5), small),
        (json!("-9223372036854775808Ei"), small),
        (json!(""), bad),
        (json!("abc"), bad),
        (json!("1.2.3"), bad),
        (json!("--1"), bad),
        (json!(" 1"), bad),
        (json!("1 "), bad),
        (json!("1Ki1"), bad),
        (json!("0x10"), bad),
        (json!("\u{661}"), bad),
        (json!("9".repeat(1 << 20)), wrong),
        (json!(true), wrong),
        (json!([1]), wrong),
        (json!({"a": 1}), wrong),
    ];
    for (quantity, fate) in cases {
        let mut what = quantity.to_string();
        what.truncate(40);
        assert_fate(&what, above_one(quantity), fate);
    }
    // As long as a text may be.
    assert_fate(
        "64 KiB of digits",
        above_one("9".repeat(64 << 10).into()),
        Placed(1),
    );
}

#[test]
fn quantities_of_nodes_and_pods() {
    let needs = |quantity: Value| {
        with(
            pod(),
            "/spec/containers/0/resources",
            json!({"requests": {"cpu": quantity}}),
        )
    };
    let has = |quantity: Value| with(node(), "/status", json!({"allocatable": {"cpu": quantity}}));
    for quantity in [
        json!(""),
        json!("abc"),
        json!("--1"),
        json!("1Ki1"),
        json!(true),
        json!([1]),
        json!({"a": 1}),
    ] {
        let what = quantity.to_string();
        let part = "Pod default/p: spec.containers[0].resources.requests[cpu]";
        assert_fate(
            &what,
            cluster(vec![needs(quantity.clone())]),
            Refused("input-error", part),
        );
        let objects = cluster(vec![has(quantity)]);
        let finished = simulate(&what, list(objects).to_string().into_bytes());
        assert_warned(&finished.json(), "Node n1: status.allocatable[cpu]");
    }
    let huge = "9".repeat(1 << 20);
    let objects = cluster(vec![needs(huge.as_str().into()), has("1".into())]);
    let part = "Pod default/p: spec.containers[0].resources.requests[cpu]";
    assert_fate("1 MB of digits", objects, Refused("input-error", part));
    let part = "node(s) could not be read: status.allocatable[cpu]";
    let objects = cluster(vec![needs("1".into()), has(huge.into())]);
    assert_fate(
        "a node of 1 MB of digits",
        objects,
        Refused("unschedulable", part),
    );
}

#[test]
fn versions_of_attributes() {
    let above_one = |version: Value| {
        let device = json!({"name": "g", "attributes": {"v": {"version": version}}});
        compared(
            device,
            "device.attributes['gpu.example.com'].v",
            "semver('1.0.0')",
        )
    };
    let bad = Refused(
        "error",
        "claim default/c: selector #0: CEL runtime error: attribute v: parse semantic version",
    );
    for version in [
        "",
        "1",
        "1.0",
        "v1.0.0",
        "01.0.0",
        "1.0.0-",
        "1.0.0+",
        "a.b.c",
        "99999999999999999999.0.0",
    ] {
        assert_fate(version, above_one(version.into()), bad);
    }
    assert_fate(
        "18446744073709551615.0.0",
        above_one("18446744073709551615.0.0".into()),
        Placed(1),
    );
    let long = Refused(
        "input-error",
        "ResourceSlice s1: spec.devices[0].attributes[v].version",
    );
    assert_fate(
        "1 MB of numbers",
        above_one("1.".repeat(1 << 19).into()),
        long,
    );
    assert_fate("a number", above_one(1.into()), long);
}

#[test]
fn api_versions() {
    for version in [
        "resource.k8s.io/v1alpha1",
        "resource.k8s.io/v1alpha2",
        "resource.k8s.io/v2",
        "resource.k8s.io/x",
    ] {
        for (object, name) in [
            (claim(vec![request("r")]), "ResourceClaim default/c"),
            (class(), "DeviceClass gpu"),
            (slice(json!([])), "ResourceSlice s1"),
        ] {
            let objects = cluster(vec![with(object, "/apiVersion", version.into())]);
            assert_fate(version, objects, Refused("input-error", name));
        }
    }
    // What is no version of any group, or of the wrong one: the object is named, and so is the pod that needs it.
    for version in [
        json!(""),
        json!(null),
        json!(7),
        json!("v1"),
        json!("resource.k8s.io"),
        json!("resource.k8s.io/"),
        json!("a/b/c"),
    ] {
        for (object, name) in [
            (claim(vec![request("r")]), "ResourceClaim default/c"),
            (class(), "DeviceClass gpu"),
        ] {
            let what = format!("{version} {name}");
            let objects = cluster(vec![with(object, "/apiVersion", version.clone())]);
            assert_fate(&what, objects, Refused("input-error", name));
        }
        let objects = cluster(vec![with(slice(json!([])), "/apiVersion", version.clone())]);
        let finished = simulate("slice", list(objects).to_string().into_bytes());
        assert_warned(&finished.json(), "ResourceSlice s1: not used");
    }
    for version in [json!(7), json!("v2"), json!("a/b/c"), json!("v1/")] {
        let objects = cluster(vec![with(pod(), "/apiVersion", version.clone())]);
        assert_fate(
            &version.to_string(),
            objects,
            Refused("input-error", "apiVersion"),
        );
    }
}

#[test]
fn texts_of_a_megabyte() {
    let big = || Value::from("x".repeat(1 << 20));
    let of_claim = |pointer: &str| cluster(vec![with(claim(vec![request("r")]), pointer, big())]);
    let of_slice =
        |pointer: &str| cluster(vec![with(slice(json!([{"name": "g"}])), pointer, big())]);
    let of_pod = |pointer: &str| cluster(vec![with(pod(), pointer, big())]);
    let named = |object: &'static str| Refused("input-error", object);
    for (pointer, place) in [
        (
            "/spec/devices/requests/0/name",
            "ResourceClaim default/c: spec.devices.requests[0].name",
        ),
        (
            "/spec/devices/requests/0/exactly/deviceClassName",
            "requests[0].exactly.deviceClassName",
        ),
        (
            "/spec/devices/requests/0/exactly/allocationMode",
            "requests[0].exactly.allocationMode",
        ),
        ("/apiVersion", "ResourceClaim default/c"),
    ] {
        assert_fate(pointer, of_claim(pointer), named(place));
    }
    for (pointer, place) in [
        (
            "/spec/devices/0/name",
            "ResourceSlice s1: spec.devices[0].name",
        ),
        ("/spec/driver", "ResourceSlice s1: spec.driver"),
        ("/spec/pool/name", "ResourceSlice s1: spec.pool.name"),
    ] {
        assert_fate(pointer, of_slice(pointer), named(place));
    }
    for (pointer, place) in [
        (
            "/spec/resourceClaims/0/name",
            "Pod default/p: spec.resourceClaims[0].name",
        ),
        (
            "/spec/resourceClaims/0/resourceClaimName",
            "Pod default/p: spec.resourceClaims[0].resourceClaimName",
        ),
        ("/metadata/uid", "metadata.uid has 1048576 bytes"),
    ] {
        assert_fate(pointer, of_pod(pointer), named(place));
    }
    for object in [pod(), node(), claim(vec![]), class(), slice(json!([]))] {
        let what = object["kind"].to_string();
        let mut objects = cluster(vec![]);
        objects.push(with(object, "/metadata/name", big()));
        let finished = simulate(&what, list(objects).to_string().into_bytes());
        assert_warned(&finished.json(), "metadata.name has 1048576 bytes");
        assert!(
            finished.stdout.len() < 10_000,
            "{what}: {} bytes",
            finished.stdout.len()
        );
    }
    // Where long texts are allowed.
    let opaque = json!([{"opaque": {"driver": "gpu.example.com", "parameters": {"text": big()}}}]);
    let configured = with(claim(vec![request("r")]), "/spec/devices/config", opaque);
    assert_fate("parameters", cluster(vec![configured]), Placed(1));
    let annotated = with(pod(), "/metadata/annotations", json!({"a": big()}));
    assert_fate("annotation", cluster(vec![annotated]), Placed(1));
    let labelled = with(node(), "/metadata/labels", json!({"a": big()}));
    assert_fate("label", cluster(vec![labelled]), Placed(1));
}

/// The pod's error has upstream's text, which names neither slice nor device; the warning does, with field and value.
#[test]
fn a_bad_value_of_a_device_is_named() {
    let device = json!({"name": "g", "attributes": {"v": {"version": "1.x"}}, "capacity": {"m": {"value": "12Gx"}}});
    let objects = compared(
        device,
        "device.capacity['gpu.example.com'].m",
        "quantity('1')",
    );
    let finished = simulate("bad values", list(objects).to_string().into_bytes());
    let output = finished.json();
    assert_eq!(output["pods"][0]["verdict"], "error");
    assert_warned(
        &output,
        "ResourceSlice s1: device g: attribute v: \"1.x\" is not a semantic version",
    );
    assert_warned(&output, "capacity m: \"12Gx\" is not a quantity");
}

/// Each object is named once, and nothing is said about new claims where an object has to be corrected first.
#[test]
fn messages_name_an_object_once() {
    let bad = with(node(), "/metadata/name", "n2".into());
    let bad = with(bad, "/status", json!({"allocatable": {"cpu": "4x"}}));
    let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}});
    let pod = with(pod(), "/spec/priorityClassName", "high".into());
    let mut objects = cluster(vec![
        with(self::class(), "/apiVersion", "resource.k8s.io/v2".into()),
        pod,
    ]);
    objects.extend([bad, class]);
    let finished = simulate("named once", list(objects).to_string().into_bytes());
    let output = finished.json();
    assert_warned(
        &output,
        "Node n2: status.allocatable[cpu]: \"4x\" is not a quantity",
    );
    assert_warned(
        &output,
        "PriorityClass high: value is missing or not an integer",
    );
    let told = output.to_string();
    assert!(
        !told.contains("Node n2: Node n2") && !told.contains("PriorityClass high: PriorityClass"),
        "{told}"
    );
    let pod = &output["pods"][0];
    assert_eq!(
        pod["message"],
        "resource.k8s.io/v2 DeviceClass gpu: this version is not supported; convert it to resource.k8s.io/v1"
    );
    assert_eq!(
        pod["warnings"],
        json!([
            "there is no usable PriorityClass high in the input; add it, or the pod is scheduled with the default priority"
        ])
    );
}
