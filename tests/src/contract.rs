//! The package in `wit/`, and whether the built plugin is a component of its world.

use std::path::Path;

use dractl::plugin::{BUILT_IN, Settings};
use wasmparser::{Validator, WasmFeatures};
use wit_component::{DecodedWasm, WitPrinter};
use wit_parser::{Resolve, WorldId, WorldItem};

use crate::fixture::{MISBEHAVING, RUNTIME};

fn package() -> (Resolve, wit_parser::PackageId) {
    let mut resolve = Resolve::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    let (package, _) = resolve
        .push_dir(&folder)
        .unwrap_or_else(|error| panic!("{error:#}"));
    (resolve, package)
}

fn print(resolve: &Resolve, package: wit_parser::PackageId) -> String {
    let mut printer = WitPrinter::default();
    printer
        .print(resolve, package, &[])
        .unwrap_or_else(|error| panic!("{error:#}"));
    printer.output.to_string()
}

#[test]
fn the_package_is_valid_and_loses_nothing_when_it_is_encoded() {
    let (resolve, id) = package();
    assert_eq!(
        resolve.packages[id].name.to_string(),
        "kube-scheduler:plugin@0.1.0"
    );
    let printed = print(&resolve, id);

    let encoded = wit_component::encode(&resolve, id).unwrap_or_else(|error| panic!("{error:#}"));
    // Neither the parser nor the encoder notices two fields of one name.
    Validator::new_with_features(WasmFeatures::all())
        .validate_all(&encoded)
        .unwrap_or_else(|error| panic!("{error}"));
    let decoded = wit_component::decode(&encoded).unwrap_or_else(|error| panic!("{error:#}"));
    let DecodedWasm::WitPackage(decoded, decoded_id) = decoded else {
        panic!("not a package")
    };
    assert_eq!(print(&decoded, decoded_id), printed);

    let mut again = Resolve::default();
    let again_id = again
        .push_str("printed.wit", &printed)
        .unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(print(&again, again_id), printed);
}

#[test]
fn every_item_is_documented() {
    let (resolve, id) = package();
    let mut bare = Vec::new();
    for (name, interface) in &resolve.packages[id].interfaces {
        let interface = &resolve.interfaces[*interface];
        if interface.docs.contents.is_none() {
            bare.push(name.clone());
        }
        bare.extend(
            interface
                .functions
                .values()
                .filter(|function| function.docs.contents.is_none())
                .map(|function| format!("{name}.{}", function.name)),
        );
        for (type_name, type_id) in &interface.types {
            let definition = &resolve.types[*type_id];
            // A name taken over from another interface is documented there.
            let is_use = matches!(
                definition.kind,
                wit_parser::TypeDefKind::Type(wit_parser::Type::Id(_))
            );
            if definition.docs.contents.is_none() && !is_use {
                bare.push(format!("{name}.{type_name}"));
            }
        }
    }
    bare.extend(
        resolve.packages[id]
            .worlds
            .iter()
            .filter(|(_, world)| resolve.worlds[**world].docs.contents.is_none())
            .map(|(name, _)| name.clone()),
    );
    assert_eq!(bare, [""; 0]);
}

fn interfaces<'a>(
    resolve: &'a Resolve,
    items: impl Iterator<Item = &'a WorldItem> + 'a,
) -> Vec<String> {
    let mut names: Vec<String> = items
        .filter_map(|item| match item {
            WorldItem::Interface { id, .. } => resolve.id_of(*id),
            _ => None,
        })
        .collect();
    names.sort();
    names
}

fn world(resolve: &Resolve, package: wit_parser::PackageId, name: &str) -> WorldId {
    resolve.packages[package].worlds[name]
}

/// Checks that a component exports exactly this world and imports nothing outside of it but WASI.
fn check_world(bytes: &[u8], name: &str) {
    let (resolve, package) = package();
    let expected = &resolve.worlds[world(&resolve, package, name)];
    let DecodedWasm::Component(decoded, id) =
        wit_component::decode(bytes).unwrap_or_else(|error| panic!("{error:#}"))
    else {
        panic!("not a component")
    };
    let found = &decoded.worlds[id];
    assert_eq!(
        interfaces(&decoded, found.exports.values()),
        interfaces(&resolve, expected.exports.values())
    );
    assert_eq!(found.exports.len(), expected.exports.len());
    let offered = interfaces(&resolve, expected.imports.values());
    let foreign: Vec<String> = interfaces(&decoded, found.imports.values())
        .into_iter()
        .filter(|name| !name.starts_with("wasi:") && !offered.contains(name))
        .collect();
    assert_eq!(foreign, [""; 0]);
    assert!(
        found
            .imports
            .values()
            .all(|item| matches!(item, WorldItem::Interface { .. }))
    );
    // The types are those of the package, too: the host's own are made from it, and checked when an instance is made.
    RUNTIME
        .load(bytes, "component.wasm", &Settings::default())
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn the_misbehaving_plugin_is_given_pods_that_wait_with_each_event() {
    check_world(&MISBEHAVING, "explaining-plugin");
}

#[test]
fn the_built_in_plugin_exports_the_whole_contract() {
    check_world(BUILT_IN, "full-plugin");
}
