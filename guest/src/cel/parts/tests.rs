//! Expressions taken apart, and what they look at.

use crate::cel::Environment;
use crate::profile::Profile;

fn parts(expression: &str) -> Vec<String> {
    let environment = Environment::new(&Profile::current());
    let parts = environment.parts(expression);
    parts.into_iter().map(|part| part.text).collect()
}

fn accesses(expression: &str) -> Vec<String> {
    let environment = Environment::new(&Profile::current());
    let parts = environment.parts(expression);
    let accesses = parts.iter().flat_map(|part| &part.accesses);
    accesses.map(ToString::to_string).collect()
}

#[test]
fn conjunctions_come_apart() {
    assert_eq!(parts("true"), ["true"]);
    assert_eq!(
        parts("device.driver == 'a' && (1 < 2 && 'b && c' != 'd')\n && // no\n true"),
        ["device.driver == 'a'", "1 < 2", "'b && c' != 'd'", "true"]
    );
    let whole = "device.driver == 'a' && true || false";
    assert_eq!(parts(whole), [whole]);
    let whole = "true ? true && false : true";
    assert_eq!(parts(whole), [whole]);
    assert_eq!(
        parts("(true || false) && (false) && !(true && false)"),
        ["true || false", "false", "!(true && false)"]
    );
    assert_eq!(
        parts("device.attributes['d'].?a.orValue(true) && true"),
        ["device.attributes['d'].?a.orValue(true)", "true"]
    );
    // Two groups are not one.
    assert_eq!(parts("(1) + (2) == 3"), ["(1) + (2) == 3"]);
    assert_eq!(parts("no(t) && an expression"), [""; 0]);
}

#[test]
fn within_bindings() {
    let bind = "cel.bind(d, device.attributes['gpu.example.com'], d.model == 'a' && d.size > 2)";
    assert_eq!(parts(bind), ["d.model == 'a'", "d.size > 2"]);
    assert_eq!(
        accesses(bind),
        [
            "device.attributes[\"gpu.example.com\"].model",
            "device.attributes[\"gpu.example.com\"].size"
        ]
    );
    assert_eq!(
        accesses("cel.bind(a, device, cel.bind(b, a.capacity, b['d'].memory.isInteger()))"),
        ["device.capacity[\"d\"].memory"]
    );
    // The inner variable hides the outer one.
    assert_eq!(
        accesses(
            "cel.bind(d, device.attributes['a'], cel.bind(d, device.attributes['b'], d.x == 1))"
        ),
        ["device.attributes[\"b\"].x"]
    );
}

#[test]
fn every_form_of_access() {
    assert_eq!(
        accesses(
            "device.driver == 'x' && has(device.attributes.d.a) && 'b-c' in device.attributes['d'] \
             && device.attributes['d'].?e.orValue('') == 'x' && device.attributes[?'d'].?f.hasValue() \
             && device.capacity['d'].memory.compareTo(quantity('1Gi')) >= 0"
        ),
        [
            "device.driver",
            "device.attributes[\"d\"].a",
            "device.attributes[\"d\"][\"b-c\"]",
            "device.attributes[\"d\"].e",
            "device.attributes[\"d\"].f",
            "device.capacity[\"d\"].memory"
        ]
    );
    assert_eq!(
        accesses("[device.attributes['d'].x].exists(e, e == device.driver)"),
        ["device.attributes[\"d\"].x", "device.driver"]
    );
}

/// The domain of the device's own driver, also where the driver has a name of its own.
#[test]
fn by_the_drivers_own_domain() {
    assert_eq!(
        accesses("device.attributes[device.driver].model == 'a' && device.driver == 'x'"),
        ["device.attributes[device.driver].model", "device.driver"]
    );
    assert_eq!(
        accesses(
            "cel.bind(d, device.driver, device.capacity[d].memory.isLessThan(quantity('1Gi')))"
        ),
        ["device.capacity[device.driver].memory"]
    );
    assert_eq!(
        accesses("device.attributes[device.attributes['d'].of].model == 'a'"),
        ["device.attributes[\"d\"].of"]
    );
}

#[test]
fn literals_that_are_wanted() {
    let environment = Environment::new(&Profile::current());
    let wanted = |expression: &str| {
        let parts = environment.parts(expression);
        let wanted = parts.iter().flat_map(|part| &part.wanted);
        wanted
            .map(|(access, text)| format!("{access} {text}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        wanted("device.attributes['d'].a == 'x' || 3 == device.attributes['d'].b"),
        [
            "device.attributes[\"d\"].a \"x\"",
            "device.attributes[\"d\"].b 3"
        ]
    );
    assert_eq!(wanted("!(device.driver == 'x')"), [""; 0]);
    assert_eq!(
        wanted("device.driver in ['x', 'y']"),
        ["device.driver \"x\"", "device.driver \"y\""]
    );
}
