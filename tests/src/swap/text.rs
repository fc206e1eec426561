//! Plugins written as text: every exported function traps, but for those that a test gives a body. They do what no compiler of a
//! plugin would write, for example grow a table.

use std::fmt::Write;

use dractl::plugin::{Problem, Settings};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::abi::{AbiVariant, WasmType};
use wit_parser::{Function, Resolve, WorldItem};

use super::*;
use crate::repository;

/// A component of this world of the contract.
fn plugin(world: &str, bodies: &[(&str, &str)]) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let folder = repository::root().join("wit");
    let (package, _) = resolve.push_dir(&folder).unwrap();
    let world = resolve.select_world(&[package], Some(world)).unwrap();
    let mut functions = String::new();
    for (key, item) in &resolve.worlds[world].exports {
        let WorldItem::Interface { id, .. } = item else {
            continue;
        };
        let interface = resolve.name_world_key(key);
        for function in resolve.interfaces[*id].functions.values() {
            let body = bodies.iter().find(|(name, _)| *name == function.name);
            let body = body.map_or("unreachable", |(_, body)| body);
            export(&mut functions, &resolve, &interface, function, body);
        }
    }
    // At 0 the name, at 16 the version, and at 32 the description: two texts and two empty lists. At 64 a result without error.
    let module = format!(
        r#"(module
        (memory (export "memory") 16)
        (table $table 1 funcref)
        (global $free (mut i32) (i32.const 1024))
        (data (i32.const 0) "text")
        (data (i32.const 16) "0.0.1")
        (data (i32.const 32) "\00\00\00\00\04\00\00\00\10\00\00\00\05\00\00\00")
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (local i32)
            (local.set 4 (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
            (global.set $free (i32.add (local.get 4) (local.get 3)))
            (local.get 4))
        {functions})"#
    );
    let mut bytes = wat::parse_str(&module).unwrap_or_else(|error| panic!("{error}"));
    embed_component_metadata(&mut bytes, &resolve, world, StringEncoding::UTF8).unwrap();
    let encoder = ComponentEncoder::default().module(&bytes).unwrap();
    encoder.validate(true).encode().unwrap()
}

fn export(text: &mut String, resolve: &Resolve, interface: &str, function: &Function, body: &str) {
    let signature = resolve.wasm_signature(AbiVariant::GuestExport, function);
    let list = |word: &str, types: &[WasmType]| {
        let names = types.iter().map(|name| match name {
            WasmType::I64 | WasmType::PointerOrI64 => "i64",
            WasmType::F32 => "f32",
            WasmType::F64 => "f64",
            WasmType::I32 | WasmType::Pointer | WasmType::Length => "i32",
        });
        let names: Vec<&str> = names.collect();
        match names.is_empty() {
            true => String::new(),
            false => format!("({word} {})", names.join(" ")),
        }
    };
    let (params, results) = (
        list("param", &signature.params),
        list("result", &signature.results),
    );
    writeln!(
        text,
        "(func (export \"{interface}#{}\") {params} {results} {body})",
        function.name
    )
    .unwrap();
}

const DESCRIBES: (&str, &str) = ("describe", "(i32.const 32)");
const STARTS: (&str, &str) = ("configure", "(i32.const 64)");
const GROWS: &str = "(drop (table.grow $table (ref.null func) (i32.const 1000000))) unreachable";

#[test]
fn what_traps_before_it_can_be_configured_is_refused_when_it_is_loaded() {
    for (bodies, told) in [
        (
            vec![],
            "text.wasm: the plugin does not start: describe: trapped: wasm `unreachable` instruction executed",
        ),
        (
            vec![DESCRIBES],
            "text.wasm: the plugin does not start: configure: trapped: wasm `unreachable` instruction executed",
        ),
        (
            vec![("describe", GROWS)],
            "text.wasm: the plugin does not start: describe: wanted a table of 1000001 elements, the limit is 100000",
        ),
        (
            vec![DESCRIBES, ("configure", GROWS)],
            "text.wasm: the plugin does not start: configure: wanted a table of 1000001 elements, the limit is 100000",
        ),
    ] {
        let error = RUNTIME
            .load(
                &plugin("plugin", &bodies),
                "text.wasm",
                &Settings::default(),
            )
            .map(|_| ())
            .unwrap_err();
        assert_eq!(error.to_string(), told);
        assert!(matches!(error.problem, Problem::Start(_)), "{error:?}");
    }
}

#[test]
fn a_table_that_grows_costs_the_version_and_no_pod() {
    let settings = Settings::default();
    let bytes = plugin("plugin", &[DESCRIBES, STARTS, ("pre-filter", GROWS)]);
    let greedy = RUNTIME
        .load(&bytes, "text.wasm", &settings)
        .unwrap_or_else(|error| panic!("{error}"));
    let told =
        "plugin text 0.0.1: pre-filter: wanted a table of 1000001 elements, the limit is 100000";

    // Beside an active one.
    let good = real(&json!({}));
    let mut bench = Bench::new(&good, objects(&PODS), Policy::default());
    let error = bench.scheduler.swap(Rc::new(greedy.clone())).unwrap_err();
    assert_eq!(
        (error.fault, error.to_string().as_str()),
        (Fault::Table, told)
    );
    bench.run();
    assert_eq!(bench.bound(), PODS.len());
    bench.assert_in_order("a candidate that grows a table");

    // As the only one.
    let mut bench = Bench::new(&greedy, objects(&PODS), Policy::default());
    bench.run();
    assert_eq!(bench.bound(), 0);
    assert!(bench.shown("a").contains(told), "{}", bench.shown("a"));
    bench.scheduler.swap(Rc::new(good)).unwrap();
    bench.run();
    assert_eq!(bench.bound(), PODS.len());
    bench.assert_in_order("after one that grows a table");
    assert_eq!(greedy.live_instances(), 0);
}
