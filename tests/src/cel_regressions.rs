//! What fuzzing found (`guest/fuzz/regressions`) still holds: all of it natively, and a part of it through the component,
//! where every selector must end as it does natively and none may cost the plugin its instance. So must selectors at the
//! limits.

#[path = "../../guest/fuzz/checks.rs"]
mod checks;

use std::path::PathBuf;

use dynamic_resources::cel::Environment;
use dynamic_resources::profile::Profile;
use serde_json::{Value, json};

use crate::cel_cases::device_input;
use crate::command::dractl_with;
use crate::repository;

/// The texts of a folder, by file name.
fn regressions(folder: &str) -> Vec<String> {
    let folder = repository::root()
        .join("guest/fuzz/regressions")
        .join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder is in the repository");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    paths.into_iter().map(read).collect()
}

/// Runs on a thread with as much stack as the program has.
fn with_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(test);
    if let Err(panic) = thread.expect("a thread").join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn selectors_that_fuzzing_found() {
    with_stack(|| {
        let texts = regressions("selector");
        let compiled = texts.iter().filter(|text| checks::selector(text)).count();
        // Enough of them get as far as evaluation.
        assert!(
            texts.len() >= 100 && compiled * 3 > texts.len(),
            "{compiled} of {} compile",
            texts.len()
        );
    });
}

#[test]
fn values_that_fuzzing_found() {
    with_stack(|| {
        let texts = regressions("values");
        assert!(texts.len() >= 50, "only {}", texts.len());
        for text in &texts {
            checks::values(text);
        }
    });
}

const DRIVER: &str = "d.example.com";

fn device() -> Value {
    json!({
        "attributes": {
            "flag": {"bool": true}, "count": {"int": 3}, "name": {"string": "abc é"}, "version": {"version": "1.2.3-rc.1"},
            "other.example.com/name": {"string": ""},
        },
        "capacity": {"memory": {"value": "80Gi"}, "huge": {"value": "1e30"}},
    })
}

/// What a pod must come to whose claim has this selector: verdict, and a part of the message.
fn expected(environment: &Environment, expression: &str) -> (&'static str, String) {
    let mut case = device();
    case["driver"] = DRIVER.into();
    let first_line = |error: String| error.lines().next().unwrap_or_default().to_owned();
    let program = match environment.compile(expression) {
        Ok(program) => program,
        Err(error) => {
            let error = first_line(error.to_string());
            return ("error", format!("selector #0: CEL compile error: {error}"));
        }
    };
    let input = device_input(&case).expect("a device");
    match program.matches(&environment.device_from(&input)) {
        Ok(true) => ("scheduled", String::new()),
        Ok(false) => ("unschedulable", "cannot allocate all claims".to_owned()),
        Err(error) => {
            let error = first_line(error.to_string());
            ("error", format!("selector #0: CEL runtime error: {error}"))
        }
    }
}

/// A pod with a claim for each selector, on one node with enough devices.
fn cluster(expressions: &[String]) -> Value {
    let devices: Vec<Value> = (0..expressions.len())
        .map(|index| {
            let mut device = device();
            device["name"] = format!("d{index}").into();
            device
        })
        .collect();
    let slices = devices.chunks(100).enumerate().map(|(index, devices)| {
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": format!("s{index}")}, "spec": {
            "driver": DRIVER, "nodeName": "n", "devices": devices,
            "pool": {"name": format!("p{index}"), "generation": 1, "resourceSliceCount": 1}}})
    });
    let pods = expressions.iter().enumerate().flat_map(|(index, expression)| {
        let name = format!("p{index}");
        let metadata = json!({"name": name, "namespace": "default"});
        let exactly = json!({"deviceClassName": "any", "selectors": [{"cel": {"expression": expression}}]});
        [
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata,
                "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}}),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "x"}],
                "resourceClaims": [{"name": "c", "resourceClaimName": name}]}}),
        ]
    });
    let mut objects = vec![
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}}),
    ];
    objects.extend(slices.chain(pods));
    json!({"apiVersion": "v1", "kind": "List", "items": objects})
}

/// Simulates a pod for each selector in one instance of the plugin, and compares with what they come to natively.
fn assert_same_in_the_component(expressions: &[String]) {
    let finished = dractl_with(
        &["simulate", "-o", "json", "-"],
        cluster(expressions).to_string().into_bytes(),
    );
    let output = finished.json();
    assert!(
        !output["warnings"].to_string().contains("died"),
        "{}",
        output["warnings"]
    );
    let environment = Environment::new(&Profile::current());
    for (index, expression) in expressions.iter().enumerate() {
        let name = format!("p{index}");
        let pods = output["pods"].as_array().expect("a list");
        let pod = pods.iter().find(|pod| pod["name"] == name.as_str());
        let pod = pod.unwrap_or_else(|| panic!("{name}: not in the output: {expression}"));
        let (verdict, part) = expected(&environment, expression);
        let message = pod["message"].as_str().expect("a text");
        assert_eq!(pod["verdict"], verdict, "{message}: {expression}");
        let part: String = part.chars().take(200).collect();
        assert!(message.contains(&part), "{part:?} is not in {message:?}");
        assert!(
            !pod["warnings"].to_string().contains("died"),
            "{}: {expression}",
            pod["warnings"]
        );
    }
}

#[test]
fn selectors_that_fuzzing_found_in_the_component() {
    let sample: Vec<String> = regressions("selector").into_iter().step_by(2).collect();
    with_stack(move || assert_same_in_the_component(&sample));
}

/// Deep, long and costly: what is just allowed works and what is not is refused, all in the same instance of the plugin.
#[test]
fn selectors_at_the_limits_in_the_component() {
    let around = |open: &str, middle: &str, close: &str, n: usize| {
        format!("{}{middle}{}", open.repeat(n), close.repeat(n))
    };
    let loops = |n: usize| {
        (0..n).fold("true".to_owned(), |body, i| {
            format!("[1].all(x{i}, {body})")
        })
    };
    // A chain in a group in a chain, each within what cel-go counts.
    let tree = (0..12).fold("1".to_owned(), |inner, _| {
        format!("({inner}{})", " + 1".repeat(18))
    });
    let mut expressions = Vec::new();
    for n in [240, 249, 250, 260] {
        expressions.extend([
            around("(", "true", ")", n),
            around("[", "1", "]", n) + " != []",
            around("dyn(", "true", ")", n) + " == true",
            around("{1: ", "1", "}", n) + " != {}",
            format!("1{} > 0", " + 1".repeat(n)),
            format!("1{} > 0", " * 1".repeat(n)),
            format!("has(device.attributes{})", ".a".repeat(n)),
            format!("'a'{} == 'a'", ".trim()".repeat(n)),
            format!("[[1]]{} != []", "[0]".repeat(n)),
            format!("{}true", "false ? false : ".repeat(n)),
            format!("true{}", " == true".repeat(n)),
            loops(n / 3),
            around("cel.bind(x, 1, ", "true", ")", n / 2),
        ]);
    }
    expressions.extend([
        tree + " > 0",
        vec!["true"; 1_600].join(" && "),
        "!".repeat(4_000) + "true",
        format!("true{}", " ".repeat(10_236)),
        format!("'{}' != ''", "x".repeat(10_230)),
        format!("2 in [{}1]", "1,".repeat(2_400)),
        // Up to the cost limit and above.
        "lists.range(100000).all(x, x >= 0)".to_owned(),
        "lists.range(200000).all(x, x >= 0)".to_owned(),
        "lists.range(1000000000).size() > 0".to_owned(),
        "lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))".to_owned(),
        (0..30)
            .fold("a.size() > 0".to_owned(), |body, _| {
                format!("cel.bind(a, a + a, {body})")
            })
            .replacen("a + a", "'xxxxxxxx' + ''", 1),
        format!("'a'{}.size() > 0", ".replace('a', 'aaaa')".repeat(40)),
        "'a'.matches('(a*)*b') || true".to_owned(),
        "true".to_owned(),
    ]);
    with_stack(move || assert_same_in_the_component(&expressions));
}
