//! What must hold for every expression and every text. The fuzz targets call it with random input; ordinary tests call it
//! with what fuzzing found (`regressions/`).

use std::sync::OnceLock;

use dynamic_resources::api::Attribute;
use dynamic_resources::cel::{
    AttributeValue, DeviceInput, DeviceValue, Environment, Evaluation, Program,
};
use dynamic_resources::profile::Profile;
use dynamic_resources::quantity::Quantity;
use dynamic_resources::semver::Version;

/// Upstream's limit, and what the step that exceeds it may cost at most: one call.
const COST_LIMIT: u64 = 1_000_000;
const CANCELLED: &str = "operation cancelled: actual cost limit exceeded";

/// Environments and devices to try an expression with.
struct Bench {
    environments: [Environment; 3],
    devices: [DeviceValue; 2],
}

fn bench() -> &'static Bench {
    static BENCH: OnceLock<Bench> = OnceLock::new();
    BENCH.get_or_init(|| {
        let current = Environment::new(&Profile::current());
        let scalar = AttributeValue::Scalar;
        let full = DeviceInput {
            driver: "d.example.com",
            attributes: vec![
                ("flag", scalar(Attribute::Bool(true))),
                ("count", scalar(Attribute::Int(3))),
                ("name", scalar(Attribute::String("abc é".into()))),
                ("version", scalar(Attribute::Version("1.2.3-rc.1".into()))),
                (
                    "other.example.com/name",
                    scalar(Attribute::String("".into())),
                ),
                (
                    "list",
                    AttributeValue::List(vec![Attribute::Int(1), Attribute::Int(2)]),
                ),
            ],
            capacity: vec![("memory", "80Gi"), ("huge", "1e30")],
            allow_multiple_allocations: true,
        };
        let devices = [
            current.device_from(&full),
            current.device_from(&DeviceInput {
                driver: "empty",
                ..DeviceInput::default()
            }),
        ];
        Bench {
            environments: [
                Environment::new(&Profile::v1_31()),
                current,
                Environment::with_list_type_attributes(&Profile::current()),
            ],
            devices,
        }
    })
}

/// Compiles and evaluates an expression in one of the environments, and in contexts that decide what must come out.
/// Returns whether it compiled.
pub fn selector(text: &str) -> bool {
    let bench = bench();
    let sum = text.bytes().fold(0, |sum: usize, b| sum + usize::from(b));
    let environment = &bench.environments[sum % bench.environments.len()];
    let program = match environment.compile(text) {
        Ok(program) => program,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    for device in &bench.devices {
        let evaluation = evaluate(&program, device);
        if let Some(driver) = program.required_driver()
            && device.driver() != Some(driver)
        {
            assert_eq!(
                evaluation.verdict,
                Ok(false),
                "required driver {driver}: {text}"
            );
        }
        in_context(environment, text, device, &evaluation, sum / 3);
    }
    true
}

/// An evaluation, which does not depend on former ones.
fn evaluate(program: &Program, device: &DeviceValue) -> Evaluation {
    let evaluation = program.evaluate(device);
    if is_cancelled(&evaluation) {
        return evaluation;
    }
    assert!(evaluation.cost <= COST_LIMIT, "cost {}", evaluation.cost);
    let again = program.evaluate(device);
    assert_eq!(evaluation.verdict, again.verdict);
    assert_eq!(evaluation.cost, again.cost);
    evaluation
}

/// Whether something ended the evaluation that no `||` can absorb: a limit, or what makes cel-go itself panic.
fn is_cancelled(evaluation: &Evaluation) -> bool {
    evaluation.verdict.as_ref().is_err_and(|error| {
        let text = error.to_string();
        text == CANCELLED || text.starts_with("internal error: ")
    })
}

/// The expression as a part of a larger one, whose verdict follows from its own.
fn in_context(
    environment: &Environment,
    text: &str,
    device: &DeviceValue,
    alone: &Evaluation,
    which: usize,
) {
    // A line end, because the expression may end with a comment.
    let (around, expected) = match which % 4 {
        0 => (format!("({text}\n) || true"), Ok(true)),
        1 => (format!("false && ({text}\n)"), Ok(false)),
        2 => (
            format!("!({text}\n)"),
            alone.verdict.clone().map(|verdict| !verdict),
        ),
        _ => (format!("({text}\n) ? true : false"), alone.verdict.clone()),
    };
    // What is larger can be too large.
    let Ok(program) = environment.compile(&around) else {
        return;
    };
    let whole = evaluate(&program, device);
    match (&whole.verdict, &expected) {
        (Err(_), Err(_)) => {}
        _ if is_cancelled(&whole) => {}
        (verdict, expected) => assert_eq!(verdict, expected, "{around}"),
    }
    // Where the part is evaluated, its cancellation is the whole's.
    if is_cancelled(alone) && which % 4 != 1 {
        assert!(is_cancelled(&whole), "{around}");
    }
}

/// True of all texts `a` and `b`.
const ALWAYS: &[&str] = &[
    "!isIP(a) || (ip(string(ip(a))) == ip(a) && ip.isCanonical(string(ip(a))))",
    "!isIP(a) || ip(a).family() == 4 || ip(a).family() == 6",
    "!isIP(a) || !(ip(a).isGlobalUnicast() && (ip(a).isLoopback() || ip(a).isUnspecified() || ip(a).isLinkLocalUnicast()))",
    "!isCIDR(a) || cidr(string(cidr(a))) == cidr(a)",
    "!isCIDR(a) || cidr(a).masked().masked() == cidr(a).masked()",
    "!isCIDR(a) || (cidr(a).containsIP(cidr(a).ip()) && cidr(a).containsCIDR(cidr(a).masked()))",
    "!isCIDR(a) || !isIP(b) || cidr(a).containsIP(b) == cidr(a).masked().containsIP(ip(b))",
    "!isQuantity(a) || (quantity(a) == quantity(a) && quantity(a).compareTo(quantity(a)) == 0)",
    "!isQuantity(a) || !isQuantity(b) || quantity(a).compareTo(quantity(b)) == -quantity(b).compareTo(quantity(a))",
    "!isQuantity(a) || !isQuantity(b) || (quantity(a).isLessThan(quantity(b)) == quantity(b).isGreaterThan(quantity(a)))",
    "!isQuantity(a) || sign(quantity(a)) == quantity(a).compareTo(quantity('0'))",
    "!isQuantity(a) || !quantity(a).isInteger() || quantity(string(quantity(a).asInteger())) == quantity(a)",
    "!isSemver(a) || (semver(a) == semver(a, true) && semver(a).compareTo(semver(a)) == 0)",
    "!isSemver(a) || !isSemver(b) || semver(a).compareTo(semver(b)) == -semver(b).compareTo(semver(a))",
    "a.split(b).join(b) == a",
    "(a + b).startsWith(a) && (a + b).endsWith(b) && size(a + b) == size(a) + size(b)",
    "a.contains(b) == (a.indexOf(b) >= 0) && (a.indexOf(b) >= 0) == (a.lastIndexOf(b) >= 0)",
    "!a.contains(b) || (a.substring(a.indexOf(b), a.indexOf(b) + size(b)) == b && a.substring(a.lastIndexOf(b)).startsWith(b))",
    "a.replace(b, b) == a && a.trim() == a.trim().trim() && a.lowerAscii().upperAscii() == a.upperAscii()",
    "string(bytes(a)) == a && size(bytes(a)) >= size(a) && size(strings.quote(a)) >= size(a) + 2",
    "(a < b) == (b > a) && (a <= b) == !(a > b) && (a == b) == (a <= b && b <= a)",
    "format.dns1123Label().validate(a).hasValue() || !format.dns1123Subdomain().validate(a).hasValue()",
    "format.dns1035Label().validate(a).hasValue() || !format.dns1123Label().validate(a).hasValue()",
    "[a, b].sort() == [b, a].sort() && [a, b].distinct().size() == (a == b ? 1 : 2) && {a: 1}[?b].hasValue() == (a == b)",
    "'%s%s'.format([a, b]) == a + b && sets.contains([a, b], [b])",
];

/// True of all texts `a` and `b` for which they are no error.
const WHERE_DEFINED: &[&str] = &[
    // Printed as a floating-point number of seconds.
    "duration(string(duration(a))) < duration(a) + duration('4us') && duration(a) < duration(string(duration(a))) + duration('4us')",
    "timestamp(string(timestamp(a))) == timestamp(a)",
    "timestamp(a) + duration(b) - duration(b) == timestamp(a)",
    "duration(a) < duration(b) || duration(a) >= duration(b)",
    "timestamp(a).getDayOfYear(b) >= timestamp(a).getDayOfMonth(b)",
    "int(string(int(a))) == int(a) && int(a) == int(double(a) - double(a)) + int(a)",
    "uint(string(uint(a))) == uint(a)",
    "string(double(a)) == 'NaN' || double(string(double(a))) == double(a)",
    "bool(a) || !bool(a)",
    "a.matches(b) || (a.find(b) == '' && a.findAll(b) == [])",
    "!a.matches(b) || a.find(b) == a.findAll(b)[0]",
    "a.format([b]).size() >= 0",
    "a.format([1, 2.5, b, [b], {b: true}]).size() >= 0",
    "quantity(a).add(quantity(b)) == quantity(b).add(quantity(a))",
    "quantity(a).sub(quantity(a)) == quantity('0')",
    "url(a).getQuery().all(k, v, size(v) > 0)",
    "isURL(a) == (url(a) == url(a)) && url(a).getHost().contains(url(a).getHostname())",
];

/// The programs of [`ALWAYS`] and [`WHERE_DEFINED`] over two attributes.
fn programs() -> &'static [(&'static str, bool, Program)] {
    static PROGRAMS: OnceLock<Vec<(&'static str, bool, Program)>> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let environment = &bench().environments[1];
        let compile = |text: &'static str, always| {
            // Bound as strings, so that everything is statically typed.
            let bound = format!(
                "cel.bind(a, string(device.attributes['d'].a), cel.bind(b, string(device.attributes['d'].b), {text}))"
            );
            let program = environment.compile(&bound);
            (text, always, program.unwrap_or_else(|error| panic!("{error}")))
        };
        let always = ALWAYS.iter().map(|text| compile(text, true));
        let defined = WHERE_DEFINED.iter().map(|text| compile(text, false));
        always.chain(defined).collect()
    })
}

/// Reads a text as every kind of value that has a textual form. Two texts are separated by the first line end.
pub fn values(text: &str) {
    let (a, b) = text.split_once('\n').unwrap_or((text, "a"));
    if let Ok(quantity) = Quantity::parse(a) {
        let again = Quantity::parse(&quantity.to_string());
        assert_eq!(again.as_ref(), Ok(&quantity), "{a:?} as {quantity}");
    }
    for version in [Version::parse(a), Version::parse_normalized(a)]
        .into_iter()
        .flatten()
    {
        let printed = version.to_string();
        let again = Version::parse(&printed).map(|again| again.to_string());
        assert_eq!(again, Ok(printed), "{a:?}");
    }
    let string = |text: &str| AttributeValue::Scalar(Attribute::String(text.into()));
    let device = bench().environments[1].device_from(&DeviceInput {
        driver: "d",
        attributes: vec![("a", string(a)), ("b", string(b))],
        ..DeviceInput::default()
    });
    for (property, always, program) in programs() {
        let evaluation = evaluate(program, &device);
        match &evaluation.verdict {
            Ok(true) => {}
            Err(_) if is_cancelled(&evaluation) => {}
            Err(error) if !*always && !error.to_string().contains("no such overload") => {}
            other => panic!("{other:?} for a={a:?} b={b:?}: {property}"),
        }
    }
}
