//! The imports of binding instances: each one that depends on the rest of the world suspends the call first, so that the
//! host's loop decides when it takes effect and what happens before.

use std::future::Future;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll};

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, LinkerInstance};

use super::contract::imports::types::{Object, ObjectRef};
use super::contract::imports::{api, clock, cluster, ledger};
use super::contract::interface;
use super::state::{Phase, State};
use crate::plugin::{Suspension, Verb};

type Store<'a> = StoreContextMut<'a, State>;
type Suspended<'a, R> = Box<dyn Future<Output = wasmtime::Result<R>> + Send + 'a>;
type Name = (String, String, String);

/// Offers `cluster`, `ledger`, `api` and `clock` to binding instances.
pub(super) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    add_cluster(&mut linker.instance(interface!("cluster"))?)?;
    add_ledger(&mut linker.instance(interface!("ledger"))?)?;
    add_api(&mut linker.instance(interface!("api"))?)?;
    add_clock(&mut linker.instance(interface!("clock"))?)
}

fn add_cluster(cluster: &mut LinkerInstance<State>) -> wasmtime::Result<()> {
    cluster.func_wrap_async("changes", |store: Store, (kind, since): (String, u64)| {
        state_call(store, "changes", move |state| {
            cluster::Host::changes(state, kind, since)
        })
    })?;
    cluster.func_wrap_async("get", |store: Store, (kind, namespace, name): Name| {
        state_call(store, "get", move |state| {
            cluster::Host::get(state, kind, namespace, name)
        })
    })
}

fn add_ledger(ledger: &mut LinkerInstance<State>) -> wasmtime::Result<()> {
    ledger.func_wrap_async("in-flight-changes", |store: Store, (since,): (u64,)| {
        state_call(store, "in-flight-changes", move |state| {
            ledger::Host::in_flight_changes(state, since)
        })
    })?;
    ledger.func_wrap_async(
        "get-in-flight",
        |store: Store, (kind, uid): (String, String)| {
            state_call(store, "get-in-flight", move |state| {
                ledger::Host::get_in_flight(state, kind, uid)
            })
        },
    )?;
    ledger.func_wrap_async(
        "put-in-flight",
        |store: Store, (entries,): (Vec<ledger::InFlight>,)| {
            state_call(store, "put-in-flight", move |state| {
                ledger::Host::put_in_flight(state, entries)
            })
        },
    )?;
    ledger.func_wrap_async(
        "remove-in-flight",
        |store: Store, (kind, uid, wake): (String, String, bool)| {
            state_call(store, "remove-in-flight", move |state| {
                ledger::Host::remove_in_flight(state, kind, uid, wake)
            })
        },
    )?;
    ledger.func_wrap_async("assume", |store: Store, (object,): (Object,)| {
        state_call(store, "assume", move |state| {
            ledger::Host::assume(state, object)
        })
    })?;
    ledger.func_wrap_async("restore", |store: Store, (kind, namespace, name): Name| {
        // A function without a result returns the empty tuple.
        suspend(store, Suspension::State("restore"), move |state| {
            ledger::Host::restore(state, kind, namespace, name)
        })
    })
}

fn add_api(api: &mut LinkerInstance<State>) -> wasmtime::Result<()> {
    api.func_wrap_async("get", |store: Store, (kind, namespace, name): Name| {
        api_call(store, Verb::Get, move |state| {
            api::Host::get(state, kind, namespace, name)
        })
    })?;
    api.func_wrap_async("create", |store: Store, (json,): (Vec<u8>,)| {
        api_call(store, Verb::Create, move |state| {
            api::Host::create(state, json)
        })
    })?;
    api.func_wrap_async("update", |store: Store, (json,): (Vec<u8>,)| {
        api_call(store, Verb::Update, move |state| {
            api::Host::update(state, json)
        })
    })?;
    api.func_wrap_async("update-status", |store: Store, (json,): (Vec<u8>,)| {
        api_call(store, Verb::UpdateStatus, move |state| {
            api::Host::update_status(state, json)
        })
    })?;
    api.func_wrap_async(
        "patch-status",
        |store: Store,
         (kind, namespace, name, form, patch): (
            String,
            String,
            String,
            api::PatchType,
            Vec<u8>,
        )| {
            api_call(store, Verb::PatchStatus, move |state| {
                api::Host::patch_status(state, kind, namespace, name, form, patch)
            })
        },
    )?;
    api.func_wrap_async(
        "apply",
        |store: Store, (json, options): (Vec<u8>, api::ApplyOptions)| {
            api_call(store, Verb::Apply, move |state| {
                api::Host::apply(state, json, options)
            })
        },
    )?;
    api.func_wrap_async("delete", |store: Store, (target,): (ObjectRef,)| {
        api_call(store, Verb::Delete, move |state| {
            api::Host::delete(state, target)
        })
    })
}

fn add_clock(clock: &mut LinkerInstance<State>) -> wasmtime::Result<()> {
    clock.func_wrap("now", |mut store: Store, (): ()| {
        Ok((clock::Host::now(store.data_mut())?,))
    })?;
    clock.func_wrap_async("sleep", |store: Store, (nanoseconds,): (u64,)| {
        suspend(store, Suspension::Sleep { nanoseconds }, move |state| {
            Ok((clock::Host::sleep(state, nanoseconds)?,))
        })
    })
}

fn state_call<'a, R>(
    store: Store<'a>,
    name: &'static str,
    effect: impl FnOnce(&mut State) -> wasmtime::Result<R> + Send + 'a,
) -> Suspended<'a, (R,)> {
    suspend(store, Suspension::State(name), move |state| {
        Ok((effect(state)?,))
    })
}

fn api_call<'a, R>(
    store: Store<'a>,
    verb: Verb,
    effect: impl FnOnce(&mut State) -> wasmtime::Result<R> + Send + 'a,
) -> Suspended<'a, (R,)> {
    suspend(store, Suspension::Api(verb), move |state| {
        Ok((effect(state)?,))
    })
}

/// Announces the import, waits to be resumed, and performs it. Starting an instance is not suspended.
fn suspend<'a, R>(
    mut store: Store<'a>,
    what: Suspension,
    effect: impl FnOnce(&mut State) -> wasmtime::Result<R> + Send + 'a,
) -> Suspended<'a, R> {
    Box::new(async move {
        if store.data().phase == Phase::Binding {
            let left = store.data().ticks_left();
            *store
                .data()
                .announcement
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(what);
            Pause(false).await;
            // Only the plugin's own time counts.
            let now = store.data().shared.clock.now();
            store.data_mut().deadline = now.saturating_add(left);
            store.set_epoch_deadline(left.max(1));
        }
        effect(store.data_mut())
    })
}

/// Gives control back once.
struct Pause(bool);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        match std::mem::replace(&mut self.0, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}
