//! Many, large, nested, cyclic, repeated, contradictory.

use serde_json::{Value, json};

use super::{
    Placed, Refused, assert_fate, assert_warned, claim, class, cluster, devices, list, node, pod,
    request, simulate, slice, with,
};

#[test]
fn many_requests_claims_constraints_and_devices() {
    let requests = |count: usize| {
        (0..count)
            .map(|index| request(&format!("r{index}")))
            .collect()
    };
    let too_many = "number of requested devices 10000 exceeds the claim limit of 32";
    assert_fate(
        "10,000 requests",
        cluster(vec![claim(requests(10_000))]),
        Refused("error", too_many),
    );
    let enough = vec![claim(requests(10_000)), slice(devices(10_000))];
    assert_fate(
        "10,000 requests of 10,000",
        cluster(enough),
        Refused("error", too_many),
    );
    let enough = vec![claim(requests(32)), slice(devices(5_000))];
    assert_fate("32 of 5,000", cluster(enough), Placed(32));

    let constraints = vec![json!({"matchAttribute": "gpu.example.com/x"}); 10_000];
    let constrained = with(
        claim(requests(2)),
        "/spec/devices/constraints",
        constraints.into(),
    );
    let refused = Refused("unschedulable", "cannot allocate all claims");
    assert_fate("10,000 constraints", cluster(vec![constrained]), refused);

    let names: Vec<String> = (0..3_000).map(|index| format!("c{index}")).collect();
    let claims = names.iter().map(|name| {
        with(
            claim(vec![request("r")]),
            "/metadata/name",
            name.as_str().into(),
        )
    });
    let entries: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "resourceClaimName": name}))
        .collect();
    let many = |count: usize| {
        let pod = with(
            pod(),
            "/spec/resourceClaims",
            entries[..count].to_vec().into(),
        );
        let mut objects = vec![node(), class(), slice(devices(5_000)), pod];
        objects.extend(claims.clone().take(count));
        objects
    };
    assert_fate("1,000 claims", many(1_000), Placed(1_000));
    // Each claim's search begins with the first device: 3,000 * 3,001 / 2 visits are more than the budget.
    let undecided = Refused("unschedulable", "undecided after 1000000 search steps");
    assert_fate("3,000 claims", many(3_000), undecided);
    let mut scarce = many(3_000);
    scarce[2] = slice(devices(2));
    assert_fate("3,000 claims for 2 devices", scarce, refused);
}

#[test]
fn a_slice_of_5_000_devices() {
    let all = with(
        claim(vec![request("r")]),
        "/spec/devices/requests/0/exactly/allocationMode",
        "All".into(),
    );
    let objects = cluster(vec![slice(devices(5_000)), all]);
    assert_fate(
        "all of 5,000",
        objects,
        Refused("error", "5000 exceeds the claim limit of 32"),
    );
    let last = json!([{"cel": {"expression": "device.attributes['gpu.example.com'].last"}}]);
    let selected = with(
        claim(vec![request("r")]),
        "/spec/devices/requests/0/exactly/selectors",
        last,
    );
    let attributes = |last: usize| -> Value {
        (0..5_000)
            .map(|index| json!({"name": format!("gpu-{index}"), "attributes": {"last": {"bool": index == last}}}))
            .collect()
    };
    assert_fate(
        "the last of 5,000",
        cluster(vec![slice(attributes(4_999)), selected.clone()]),
        Placed(1),
    );
    let none = cluster(vec![slice(attributes(5_000)), selected]);
    assert_fate(
        "none of 5,000",
        none,
        Refused("unschedulable", "cannot allocate all claims"),
    );

    // Groups of 31 that have the attribute in common, and 32 wanted of one.
    let grouped: Value = (0..5_000)
        .map(|index| json!({"name": format!("gpu-{index}"), "attributes": {"group": {"int": index / 31}}}))
        .collect();
    let matched = |count: i64| {
        let claim = with(
            claim(vec![request("r")]),
            "/spec/devices/requests/0/exactly/count",
            count.into(),
        );
        with(
            claim,
            "/spec/devices/constraints",
            json!([{"matchAttribute": "gpu.example.com/group"}]),
        )
    };
    assert_fate(
        "31 alike",
        cluster(vec![slice(grouped.clone()), matched(31)]),
        Placed(31),
    );
    let objects = cluster(vec![slice(grouped), matched(32)]);
    assert_fate(
        "32 alike",
        objects,
        Refused("unschedulable", "cannot allocate all claims"),
    );
}

#[test]
fn lists_in_lists() {
    let nested = |depth: usize| {
        let mut objects = cluster(vec![]);
        for _ in 1..depth {
            objects = vec![list(objects)];
        }
        objects
    };
    assert_fate("a List in a List in a List", nested(3), Placed(1));
    let deep = simulate("60 Lists", list(nested(60)).to_string().into_bytes());
    assert!(
        deep.stderr.contains("Lists are nested more than 16 deep"),
        "{}",
        deep.stderr
    );
    let text = "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[".repeat(20_000)
        + &"]}".repeat(20_000);
    let deeper = simulate("20,000 Lists", text.into_bytes());
    assert!(
        deeper.stderr.contains("standard input:1:") && deeper.stderr.contains("nested too deeply"),
        "{}",
        deeper.stderr
    );
    for item in [json!(1), json!("x"), json!(null), json!([])] {
        let mut objects = cluster(vec![]);
        objects.push(item);
        let odd = simulate("odd item", list(objects).to_string().into_bytes());
        assert_eq!(odd.status, 2);
        assert!(
            odd.stderr
                .contains("standard input:1: a List has an item that is"),
            "{}",
            odd.stderr
        );
    }
}

#[test]
fn the_same_object_twice() {
    let run = |objects: Vec<Value>| {
        let finished = simulate("twice", list(objects).to_string().into_bytes());
        finished.json()
    };
    let mut equal = cluster(vec![]);
    equal.extend(cluster(vec![]));
    let output = run(equal);
    assert_eq!(
        (&output["warnings"], output["pods"].as_array().map(Vec::len)),
        (&json!([]), Some(1))
    );

    // The last definition wins, also across versions, and it is said that they differ.
    let two = with(
        claim(vec![request("r")]),
        "/spec/devices/requests/0/exactly/count",
        2.into(),
    );
    let mut differing = cluster(vec![]);
    differing.push(two.clone());
    let output = run(differing);
    assert_eq!(
        output["pods"][0]["claims"][0]["devices"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    assert_warned(
        &output,
        "ResourceClaim default/c: defined more than once, and differently",
    );
    let beta = json!({"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": "r", "deviceClassName": "gpu"}]}}});
    let mut differing = cluster(vec![two]);
    differing.push(beta);
    let output = run(differing);
    assert_eq!(
        output["pods"][0]["claims"][0]["devices"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    assert_warned(
        &output,
        "ResourceClaim default/c: defined more than once, and differently",
    );

    // A uid belongs to one object.
    let mut same_uid = cluster(vec![with(pod(), "/metadata/uid", "u".into())]);
    same_uid.push(with(
        with(pod(), "/metadata/uid", "u".into()),
        "/metadata/name",
        "q".into(),
    ));
    let output = run(same_uid);
    assert_eq!(output["pods"].as_array().map(Vec::len), Some(2));
    assert_warned(&output, "Pod default/q: metadata.uid u is another object's");
}

#[test]
fn contradictions_within_an_object() {
    assert_fate(
        "two requests of one name",
        cluster(vec![claim(vec![request("r"), request("r")])]),
        Placed(2),
    );
    let twice = slice(json!([{"name": "g"}, {"name": "g"}]));
    assert_fate(
        "two devices of one name",
        cluster(vec![twice]),
        Refused("unschedulable", "invalid resource pools"),
    );
    let thrice = vec![json!({"name": "c", "resourceClaimName": "c"}); 3];
    let thrice = with(pod(), "/spec/resourceClaims", thrice.into());
    assert_fate(
        "one claim thrice",
        cluster(vec![thrice]),
        Refused("unschedulable", "cannot allocate all claims"),
    );
    let both = json!([{"name": "r", "exactly": {"deviceClassName": "gpu"},
        "firstAvailable": [{"name": "s", "deviceClassName": "gpu"}]}]);
    let both = with(claim(vec![]), "/spec/devices/requests", both);
    let refused = Refused(
        "input-error",
        "ResourceClaim default/c: spec.devices.requests[0].firstAvailable",
    );
    assert_fate("both forms of a request", cluster(vec![both]), refused);
    let mixed = with(
        claim(vec![request("r")]),
        "/apiVersion",
        "resource.k8s.io/v1beta1".into(),
    );
    let refused = Refused(
        "input-error",
        "ResourceClaim default/c: spec.devices.requests[0]",
    );
    assert_fate(
        "the shape of another version",
        cluster(vec![mixed]),
        refused,
    );
}

#[test]
fn objects_of_the_wrong_shape() {
    let hollow = |object: Value| with(object, "/spec", Value::Null);
    assert_fate(
        "a pod without a spec",
        cluster(vec![hollow(pod())]),
        Placed(0),
    );
    for (spec, part) in [
        (json!(7), "spec is a number"),
        (json!([]), "spec is a list"),
        (json!("x"), "spec is a string"),
    ] {
        for object in [pod(), claim(vec![])] {
            let objects = cluster(vec![with(object, "/spec", spec.clone())]);
            assert_fate(part, objects, Refused("input-error", part));
        }
        let objects = cluster(vec![with(class(), "/spec", spec.clone())]);
        assert_fate(part, objects, Refused("input-error", "DeviceClass gpu"));
        let objects = cluster(vec![with(slice(json!([])), "/spec", spec.clone())]);
        let finished = simulate(part, list(objects).to_string().into_bytes());
        assert_warned(&finished.json(), "ResourceSlice s1: not used");
    }
    let wrong = with(
        claim(vec![request("r")]),
        "/spec/devices/requests",
        json!({"r": 1}),
    );
    let refused = Refused(
        "input-error",
        "ResourceClaim default/c: spec.devices.requests: expected a list, found an object",
    );
    assert_fate("requests by name", cluster(vec![wrong]), refused);
}

#[test]
fn replicas_beyond_reason() {
    let workload = |api_version: &str, kind: &str, key: &str, count: u64| {
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "w"},
            "spec": {key: count, "template": {"spec": {"containers": []}}}})
    };
    for count in [1 << 31, (1 << 63) - 1, 1 << 63, u64::MAX] {
        for (api_version, kind, key) in [
            ("apps/v1", "Deployment", "replicas"),
            ("batch/v1", "Job", "parallelism"),
        ] {
            let mut objects = cluster(vec![]);
            objects.push(workload(api_version, kind, key, count));
            let finished = simulate(kind, list(objects).to_string().into_bytes());
            assert_warned(&finished.json(), &format!("{kind} default/w: not used"));
        }
    }
}

#[test]
fn what_other_objects_hide_is_told_although_the_pod_is_placed() {
    // A claim of somebody else whose allocation has a pool of the wrong type, and a slice of another node.
    let held = |result: Value| {
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "held", "namespace": "other"},
            "spec": {"devices": {"requests": [request("r")]}},
            "status": {"allocation": {"devices": {"results": [result]}}}})
    };
    let slice_of = |name: &str, value: Value| {
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": {
            "driver": "gpu.example.com", "nodeName": "n9", "pool": {"name": "n9", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0", "attributes": {"a": {"bool": value}}}]}})
    };
    for (other, told) in [
        (
            held(
                json!({"request": "r", "driver": "gpu.example.com", "pool": 7, "device": "gpu-0"}),
            ),
            "of the devices that it holds, 0 could be read",
        ),
        (
            slice_of("s9", "yes".into()),
            "no pod that asks for devices goes to the nodes that it reaches",
        ),
    ] {
        let name = other["metadata"]["name"].as_str().unwrap().to_owned();
        let mut objects = cluster(vec![]);
        objects.push(other);
        let output = simulate("hides", list(objects).to_string().into_bytes()).json();
        assert_eq!(output["pods"][0]["verdict"], "scheduled");
        let warnings = output["warnings"].to_string();
        assert!(
            warnings.contains(told) && warnings.contains(&name),
            "{warnings}"
        );
    }
    let healthy = held(
        json!({"request": "r", "driver": "gpu.example.com", "pool": "elsewhere", "device": "gpu-0"}),
    );
    let mut objects = cluster(vec![]);
    objects.extend([healthy, slice_of("s9", true.into())]);
    let output = simulate("healthy", list(objects).to_string().into_bytes()).json();
    assert_eq!(output["warnings"], json!([]));
}
