//! What a selector costs: compiled and evaluated here, and by the plain crate with its own parser and interpreter on the
//! same device. `cargo bench --bench cel`, a table in microseconds.

#![allow(clippy::print_stdout, reason = "the table is what the program is for")]

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cel_interpreter::{Context, Env, Value};
use dynamic_resources::api::{Attribute, Device};
use dynamic_resources::cel::Environment;
use dynamic_resources::profile::Profile;

const DRIVER: &str = "gpu.example.com";

/// Name, expression, and whether the plain crate can do it: it knows neither quantities nor versions, and patterns only with
/// a feature that takes another dialect of them.
const SELECTORS: [(&str, &str, bool); 8] = [
    ("driver", "device.driver == 'gpu.example.com'", true),
    (
        "driver && type",
        "device.driver == 'gpu.example.com' && device.attributes['gpu.example.com'].type == 'gpu'",
        true,
    ),
    (
        "in a list",
        "device.attributes['gpu.example.com'].model in ['a', 'b', 'NVIDIA A100']",
        true,
    ),
    (
        "4 alternatives",
        "device.attributes['gpu.example.com'].index == 7 || device.attributes['gpu.example.com'].index == 8 || \
         device.attributes['gpu.example.com'].index == 9 || device.attributes['gpu.example.com'].index < 5",
        true,
    ),
    (
        "exists",
        "device.attributes['gpu.example.com'].exists(k, k.startsWith('mod'))",
        true,
    ),
    (
        "quantity",
        "device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0",
        false,
    ),
    (
        "version",
        "device.attributes['gpu.example.com'].version.compareTo(semver('1.2.3')) > 0",
        false,
    ),
    (
        "pattern",
        "device.attributes['gpu.example.com'].model.lowerAscii().matches('^.*a100.*$')",
        false,
    ),
];

fn attributes() -> Vec<(&'static str, Attribute)> {
    let string = |text: &str| Attribute::String(text.into());
    let mut all = vec![
        ("type", string("gpu")),
        ("model", string("NVIDIA A100")),
        ("index", Attribute::Int(3)),
        ("healthy", Attribute::Bool(true)),
        ("version", Attribute::Version("570.86.15".into())),
    ];
    const MORE: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];
    all.extend(MORE.map(|name| (name, string("value"))));
    all
}

fn device() -> Device {
    Device {
        attributes: attributes()
            .into_iter()
            .map(|(name, value)| (Arc::from(name), value))
            .collect(),
        capacity: [(Arc::from("memory"), Arc::from("80Gi"))].into(),
        ..Device::default()
    }
}

/// The same for the plain crate: maps in maps.
fn plain_device() -> Value {
    let value = |attribute| match attribute {
        Attribute::Int(i) => Value::from(i),
        Attribute::Bool(b) => Value::from(b),
        Attribute::String(text) | Attribute::Version(text) => Value::from(text.to_string()),
        // The device of this benchmark has none of these.
        Attribute::List(_) | Attribute::Unknown => Value::Null,
    };
    let inner: HashMap<String, Value> = attributes()
        .into_iter()
        .map(|(name, attribute)| (name.to_string(), value(attribute)))
        .collect();
    let domains = HashMap::from([(DRIVER.to_string(), Value::from(inner))]);
    Value::from(HashMap::from([
        ("driver".to_string(), Value::from(DRIVER.to_string())),
        ("attributes".to_string(), Value::from(domains)),
    ]))
}

/// Microseconds of the fastest of many short rounds, so that a busy machine does not count.
fn measure<T>(action: impl Fn() -> T) -> f64 {
    let mut count: u32 = 1;
    loop {
        let took = time(count, &action);
        if took > Duration::from_millis(1) {
            break;
        }
        count *= 2;
    }
    let rounds = (0..200).map(|_| time(count, &action).as_secs_f64());
    rounds.fold(f64::INFINITY, f64::min) / f64::from(count) * 1e6
}

fn time<T>(count: u32, action: &impl Fn() -> T) -> Duration {
    let started = Instant::now();
    for _ in 0..count {
        black_box(action());
    }
    started.elapsed()
}

fn main() {
    let environment = Environment::new(&Profile::current());
    let (model, plain_value) = (device(), plain_device());
    let value = environment.device(DRIVER, &model);
    let standard = Arc::new(Env::stdlib());
    println!("| selector | compile | device | evaluate | plain: compile | evaluate |");
    println!("|---|---|---|---|---|---|");
    for (name, expression, comparable) in SELECTORS {
        let program = environment.compile(expression).expect(expression);
        assert_eq!(program.matches(&value), Ok(true), "{expression}");
        let compile = measure(|| environment.compile(black_box(expression)));
        let convert = measure(|| environment.device(DRIVER, black_box(&model)));
        let evaluate = measure(|| program.matches(black_box(&value)));
        print!("| {name} | {compile:.1} | {convert:.1} | {evaluate:.2} |");
        if !comparable {
            println!(" - | - |");
            continue;
        }
        let mut context = Context::with_env(standard.clone());
        context.add_variable_from_value("device", plain_value.clone());
        let plain = standard.compile(expression).expect(expression);
        assert!(
            matches!(plain.execute(&context), Ok(Value::Bool(true))),
            "{expression}"
        );
        let compile = measure(|| standard.compile(black_box(expression)));
        let evaluate = measure(|| plain.execute(black_box(&context)));
        println!(" {compile:.1} | {evaluate:.2} |");
    }
}
