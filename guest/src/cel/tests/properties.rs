//! Properties that hold for all expressions, on random ones.

use super::grammar::{CORE, Choose, DYNAMIC, KUBERNETES, expression};
use super::*;

/// A small generator of numbers; the seeds are fixed, so a failure repeats.
struct Random(u64);

impl Choose for Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

fn device(env: &Environment) -> DeviceValue {
    let scalar = |value| AttributeValue::Scalar(value);
    env.device_from(&DeviceInput {
        driver: "d.example.com",
        attributes: vec![
            ("flag", scalar(api::Attribute::Bool(true))),
            ("count", scalar(api::Attribute::Int(3))),
            ("name", scalar(api::Attribute::String("abc".into()))),
            ("version", scalar(api::Attribute::Version("1.2.3".into()))),
        ],
        capacity: vec![("memory", "80Gi")],
        allow_multiple_allocations: true,
    })
}

/// `&&` and `||` do not depend on the order of their operands, whatever those are.
#[test]
fn logic_is_commutative() {
    let env = Environment::new(&Profile::current());
    let device = device(&env);
    let attribute = |name: &str| format!("device.attributes['d.example.com'].{name}");
    let mut operands = vec![
        "true".to_string(),
        "false".to_string(),
        "1 / 0 == 1".to_string(),
    ];
    operands.extend(["flag", "missing", "count", "name", "version"].map(attribute));
    operands.push("[1].all(x, x / 0 == 1)".to_string());
    let verdict = |expression: &str| {
        let program = env
            .compile(expression)
            .unwrap_or_else(|e| panic!("{expression}: {e}"));
        program.matches(&device).map_err(|_| ())
    };
    for a in &operands {
        for b in &operands {
            for operator in ["&&", "||"] {
                let (one, other) = (format!("{a} {operator} {b}"), format!("{b} {operator} {a}"));
                assert_eq!(verdict(&one), verdict(&other), "{one}");
                let negated = format!("!({one})");
                assert_eq!(verdict(&negated), verdict(&one).map(|v| !v), "{negated}");
            }
            // An absorbing operand decides, whatever the other is.
            assert_eq!(verdict(&format!("false && {a} && {b}")), Ok(false));
            assert_eq!(verdict(&format!("{a} || {b} || true")), Ok(true));
        }
    }
}

/// What the checker accepts has an overload at run time, as long as nothing is dynamically typed.
#[test]
fn accepted_means_overloads_exist() {
    let env = Environment::new(&Profile::current());
    let device = device(&env);
    let mut random = Random(42);
    for _ in 0..20_000 {
        let depth = 1 + random.below(4);
        let text = expression(&mut random, &[CORE, KUBERNETES], 'B', depth);
        // Generated literals can be wrong in themselves; types cannot.
        let program = match env.compile(&text) {
            Ok(program) => program,
            Err(error) => {
                let error = error.to_string();
                assert!(
                    error.contains("invalid ") || error.contains("instantiation"),
                    "{text}: {error}"
                );
                continue;
            }
        };
        if let Err(error) = program.matches(&device) {
            assert!(
                !error.to_string().contains("no such overload"),
                "{text}: {error}"
            );
        }
    }
}

/// Where the crate's own evaluator can do the same, both agree. It has no checker, no Kubernetes types and other errors.
#[test]
fn core_language_agrees_with_the_crate() {
    use cel_interpreter::{Context, Env, Value as Plain};
    let ours = Environment::new(&Profile::current());
    let nothing = ours.device("d", &api::Device::default());
    let standard = Arc::new(Env::stdlib());
    let plain = Context::with_env(standard.clone());
    let parser = || standard.parser();
    let mut random = Random(7);
    let mut compared = 0;
    for _ in 0..5_000 {
        let depth = 1 + random.below(4);
        let text = expression(&mut random, &[CORE], 'B', depth);
        let Ok(program) = ours.compile(&text) else {
            continue;
        };
        let Ok(tree) = parser().parse(&text) else {
            continue;
        };
        let (Ok(verdict), Ok(Plain::Bool(other))) =
            (program.matches(&nothing), Plain::resolve(&tree, &plain))
        else {
            continue;
        };
        compared += 1;
        assert_eq!(verdict, other, "{text}");
    }
    assert!(
        compared > 1_000,
        "only {compared} expressions could be compared"
    );
}

/// Mutated pieces of valid expressions: nothing panics. `CEL_FUZZ=N` does N rounds instead of the default.
#[test]
fn mutations_do_not_panic() {
    let rounds = std::env::var("CEL_FUZZ")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(3_000);
    let seed = std::env::var("CEL_SEED")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1);
    let run = move || {
        let env = Environment::with_list_type_attributes(&Profile::current());
        let device = device(&env);
        let mut random = Random(seed);
        for _ in 0..rounds {
            let depth = 1 + random.below(4);
            let mut text = expression(&mut random, &[CORE, KUBERNETES, DYNAMIC], 'B', depth);
            for _ in 0..random.below(4) {
                mutate(&mut random, &mut text);
            }
            if let Ok(program) = env.compile(&text) {
                let _verdict = program.matches(&device);
                if let Some(driver) = program.required_driver() {
                    assert_ne!(driver, "d.example.com", "{text}");
                }
            }
        }
    };
    let thread = std::thread::Builder::new()
        .stack_size(16 << 20)
        .spawn(run)
        .expect("thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Removes, repeats or inserts a piece of text.
fn mutate(random: &mut Random, text: &mut String) {
    const PIECES: [&str; 40] = [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ".",
        ",",
        ":",
        "?",
        "&&",
        "||",
        "!",
        "-",
        "+",
        "'",
        "\"",
        "\\",
        "in",
        "null",
        "0x",
        "1e400",
        "9223372036854775808",
        "é",
        "\u{1F600}",
        "\n",
        "//",
        "has(",
        ".all(x, ",
        ".?a",
        "[?0]",
        "{?'a': ",
        "device.attributes",
        "['d.example.com'].version",
        ".format(['%s",
        "%d",
        ".matches('(",
        "r'",
        "b'\\xff",
        "`a`",
    ];
    let mut at = random.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    match random.below(3) {
        0 => {
            let end = (at + 1 + random.below(6)).min(text.len());
            let end = (end..=text.len())
                .find(|end| text.is_char_boundary(*end))
                .unwrap_or(text.len());
            text.replace_range(at..end, "");
        }
        1 => {
            let tail = text[at..].to_string();
            text.push_str(&tail);
            if text.len() > 2_000 {
                text.clear();
            }
        }
        _ => text.insert_str(at, PIECES[random.below(PIECES.len())]),
    }
}

#[test]
fn a_driver_conjunct_is_found() {
    let env = Environment::new(&Profile::current());
    let required = |text: &str| {
        env.compile(text)
            .expect(text)
            .required_driver()
            .map(str::to_string)
    };
    let some = Some("x".to_string());
    assert_eq!(required("device.driver == 'x'"), some);
    assert_eq!(
        required("'x' == device.driver && device.attributes['x'].a == 1"),
        some
    );
    assert_eq!(
        required("device.attributes['x'].a == 1 && (device.driver == 'x' && true)"),
        some
    );
    assert_eq!(required("device.driver == 'x' || true"), None);
    assert_eq!(required("!(device.driver == 'x')"), None);
    assert_eq!(required("device.driver != 'x'"), None);
    assert_eq!(required("device.driver == 'x' + ''"), None);
    // Might exhaust the budget before the driver is looked at.
    assert_eq!(
        required("lists.range(300000).all(x, true) && device.driver == 'x'"),
        None
    );
    let device = device(&env);
    let program = env
        .compile("device.attributes['y'].a == 1 && device.driver == 'x'")
        .expect("compiles");
    assert_eq!(program.matches(&device), Ok(false));
}

/// One bad attribute fails every expression.
#[test]
fn a_malformed_device_is_an_error_for_all() {
    let env = Environment::new(&Profile::v1_31());
    let bad = |name: &'static str, value| api::Device {
        attributes: [
            (Arc::from("a"), api::Attribute::Bool(true)),
            (Arc::from(name), value),
        ]
        .into(),
        ..api::Device::default()
    };
    let program = env.compile("true").expect("compiles");
    for (device, error) in [
        (
            bad("v", api::Attribute::Version("1.0".into())),
            "attribute v: parse semantic version: No Major.Minor.Patch elements found",
        ),
        (
            bad("u", api::Attribute::Unknown),
            "attribute u: unsupported attribute value",
        ),
    ] {
        let value = env.device("d", &device);
        assert_eq!(value.driver(), None);
        assert_eq!(
            program.matches(&value).map_err(|e| e.to_string()),
            Err(error.to_string())
        );
    }
}

#[test]
fn qualified_names_win() {
    let env = Environment::new(&Profile::v1_31());
    let int = api::Attribute::Int;
    let device = api::Device {
        attributes: [
            (Arc::from("a"), int(1)),
            (Arc::from("d/a"), int(2)),
            (Arc::from("e/a/b"), int(3)),
        ]
        .into(),
        ..api::Device::default()
    };
    let value = env.device("d", &device);
    let program = env
        .compile("device.attributes.d.a == 2 && device.attributes['e']['a/b'] == 3 && size(device.attributes) == 2")
        .expect("compiles");
    assert_eq!(program.matches(&value), Ok(true));
}

#[test]
fn programs_can_be_shared() {
    fn shareable<T: Send + Sync>() {}
    shareable::<Environment>();
    shareable::<Program>();
    shareable::<DeviceValue>();
}
