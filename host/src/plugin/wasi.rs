//! What a plugin gets of WASI: nothing, except what a language's runtime library needs to start and to say why it stops.
//!
//! Standard output and standard error go to the log, the environment is empty, the seed of hash tables is fixed. Every
//! other function that a component imports traps when it is called.

use wasmtime::StoreContextMut;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{
    Component, ComponentType, Lift, Linker, LinkerInstance, Lower, Resource, ResourceType,
};

use super::limits::Refusal;
use super::state::State;
use crate::plugin::Fault;

/// Seed of hash tables: fixed, so that runs can be repeated.
const SEED: (u64, u64) = (0x6472_6163_746c_2d30, 0x6472_6163_746c_2d31);
/// How much a stream takes at once.
const STREAM_ROOM: u64 = 4096;

/// Rust type of `wasi:io/streams.output-stream`.
struct OutputStream;
/// Rust type of `wasi:io/error.error`.
struct IoError;
/// Rust type of every other resource; no value of it is ever made.
struct Nothing;

#[derive(ComponentType, Lift, Lower)]
#[component(variant)]
enum StreamError {
    #[component(name = "last-operation-failed")]
    LastOperationFailed(Resource<IoError>),
    #[component(name = "closed")]
    Closed,
}

type StreamResult<T> = Result<T, StreamError>;

/// Defines the WASI imports of this component in the linker.
pub(super) fn define(linker: &mut Linker<State>, component: &Component) -> wasmtime::Result<()> {
    let engine = linker.engine().clone();
    for (name, item) in component.component_type().imports(&engine) {
        let ComponentItem::ComponentInstance(interface) = item.ty else {
            continue;
        };
        if !name.starts_with("wasi:") {
            continue;
        }
        let mut instance = linker.instance(name)?;
        for (export, item) in interface.exports(&engine) {
            match item.ty {
                ComponentItem::ComponentFunc(_) => {
                    define_function(&mut instance, unversioned(name), export)?
                }
                ComponentItem::Resource(_) => define_resource(&mut instance, export)?,
                _ => {}
            }
        }
    }
    Ok(())
}

fn unversioned(name: &str) -> &str {
    name.split_once('@').map_or(name, |(name, _)| name)
}

/// Resources keep their name in the interfaces that use them.
fn define_resource(instance: &mut LinkerInstance<State>, name: &str) -> wasmtime::Result<()> {
    let resource = match name {
        "output-stream" => ResourceType::host::<OutputStream>(),
        "error" => ResourceType::host::<IoError>(),
        _ => ResourceType::host::<Nothing>(),
    };
    instance.resource(name, resource, |_, _| Ok(()))
}

fn define_function(
    instance: &mut LinkerInstance<State>,
    interface: &str,
    name: &str,
) -> wasmtime::Result<()> {
    type Strings = Vec<String>;
    type Pairs = Vec<(String, String)>;
    match (interface, name) {
        ("wasi:cli/environment", "get-environment") => {
            instance.func_wrap(name, |_, (): ()| Ok((Pairs::new(),)))
        }
        ("wasi:cli/environment", "get-arguments") => {
            instance.func_wrap(name, |_, (): ()| Ok((Strings::new(),)))
        }
        ("wasi:cli/environment", "initial-cwd") => {
            instance.func_wrap(name, |_, (): ()| Ok((None::<String>,)))
        }
        ("wasi:cli/stdout", "get-stdout") | ("wasi:cli/stderr", "get-stderr") => instance
            .func_wrap(name, |_, (): ()| {
                Ok((Resource::<OutputStream>::new_own(0),))
            }),
        ("wasi:cli/terminal-stdin", _)
        | ("wasi:cli/terminal-stdout", _)
        | ("wasi:cli/terminal-stderr", _) => {
            instance.func_wrap(name, |_, (): ()| Ok((None::<Resource<Nothing>>,)))
        }
        ("wasi:random/insecure-seed", "insecure-seed") => {
            instance.func_wrap(name, |_, (): ()| Ok((SEED,)))
        }
        ("wasi:io/streams", "[method]output-stream.check-write") => instance
            .func_wrap(name, |_, (_,): (Resource<OutputStream>,)| {
                Ok((StreamResult::Ok(STREAM_ROOM),))
            }),
        (
            "wasi:io/streams",
            "[method]output-stream.write" | "[method]output-stream.blocking-write-and-flush",
        ) => instance.func_wrap(name, print),
        (
            "wasi:io/streams",
            "[method]output-stream.flush" | "[method]output-stream.blocking-flush",
        ) => instance.func_wrap(name, |_, (_,): (Resource<OutputStream>,)| {
            Ok((StreamResult::Ok(()),))
        }),
        _ => {
            let cause = format!("called {interface}#{name}, and nothing of it is granted");
            instance.func_new(name, move |_, _, _, _| {
                Err(Refusal {
                    fault: Fault::Trap,
                    cause: cause.clone(),
                }
                .into())
            })
        }
    }
}

fn print(
    mut store: StoreContextMut<State>,
    (_, bytes): (Resource<OutputStream>, Vec<u8>),
) -> wasmtime::Result<(StreamResult<()>,)> {
    let shared = store.data().shared.clone();
    store
        .data_mut()
        .host_call(|state| state.output.print(&shared, &bytes))?;
    Ok((Ok(()),))
}
