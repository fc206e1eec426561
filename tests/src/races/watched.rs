//! A plugin with somebody between it and the host, who sees that no plan is used twice, and who can break one thing on
//! purpose: whether the invariants notice is what the random cases are worth.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};

use dractl::object::{Kind, Object};
use dractl::plugin::{
    ApiCall, ApiError, BindingCall, BindingRun, CallStats, Change, Description, Entry, Exports,
    InFlight, InFlightChange, LogLevel, Page, Plan, Plugin, PluginError, Revision,
    SchedulingInstance, Services, SharedServices,
};

/// One thing that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// T7 the wrong way round: the claim leaves flight, then it is assumed.
    DropsBeforeAssuming,
    /// What was written is not assumed.
    DoesNotAssume,
    /// D16 as upstream has it: whoever asks takes an entry out.
    IgnoresHolders,
    /// What is in flight is neither looked for nor counted as in use.
    IgnoresFlight,
    /// Reserve puts nothing in flight.
    FliesBlind,
    /// Entries stay in flight.
    StaysInFlight,
    /// A stale write wins.
    IgnoresVersions,
    /// Unreserve does not take the pod out of `reservedFor`.
    KeepsReservations,
    /// The finalizer is not written.
    ForgetsTheFinalizer,
    /// A failed write is taken for a success.
    IgnoresErrors,
}

impl Mutation {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::DropsBeforeAssuming,
        Self::DoesNotAssume,
        Self::IgnoresHolders,
        Self::IgnoresFlight,
        Self::FliesBlind,
        Self::StaysInFlight,
        Self::IgnoresVersions,
        Self::KeepsReservations,
        Self::ForgetsTheFinalizer,
        Self::IgnoresErrors,
    ];
}

/// The plugin in between.
pub struct Watched {
    inner: Rc<dyn Plugin>,
    mutation: Option<Mutation>,
    /// Plans that PreBind was given. Kept, so that none of them can be at another's address.
    plans: RefCell<Vec<Plan>>,
}

impl Watched {
    pub fn new(inner: Rc<dyn Plugin>, mutation: Option<Mutation>) -> Self {
        Self {
            inner,
            mutation,
            plans: RefCell::default(),
        }
    }

    /// Whether each plan was used once.
    pub fn check(&self) -> Result<(), String> {
        let plans = self.plans.borrow();
        let mut places: Vec<_> = plans.iter().map(|plan| plan.as_ptr() as usize).collect();
        places.sort_unstable();
        match places.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(_) => Err("a plan was used twice".into()),
            None => Ok(()),
        }
    }

    fn between(&self, services: SharedServices) -> SharedServices {
        match self.mutation {
            None => services,
            Some(mutation) => Arc::new(Mutex::new(Tampered {
                services,
                mutation,
                waiting: None,
            })),
        }
    }
}

impl Plugin for Watched {
    fn description(&self) -> &Description {
        self.inner.description()
    }

    fn exports(&self) -> Exports {
        self.inner.exports()
    }

    fn scheduling(
        &self,
        services: SharedServices,
    ) -> Result<Box<dyn SchedulingInstance>, PluginError> {
        self.inner.scheduling(self.between(services))
    }

    fn binding(
        &self,
        services: SharedServices,
        call: BindingCall,
    ) -> Result<Box<dyn BindingRun>, PluginError> {
        if let BindingCall::PreBind { plan, .. } = &call
            && !plan.is_empty()
        {
            self.plans.borrow_mut().push(plan.clone());
        }
        self.inner.binding(self.between(services), call)
    }

    fn stats(&self) -> CallStats {
        self.inner.stats()
    }
}

/// Services with one thing broken.
struct Tampered {
    services: SharedServices,
    mutation: Mutation,
    /// What is to be assumed once it has left flight.
    waiting: Option<Object>,
}

impl Tampered {
    fn services(&self) -> MutexGuard<'_, dyn Services + 'static> {
        self.services
            .lock()
            .unwrap_or_else(|broken| broken.into_inner())
    }

    fn is(&self, mutation: Mutation) -> bool {
        self.mutation == mutation
    }

    /// The object as sent, with the version that is stored.
    fn unversioned(&self, object: &Object) -> Object {
        let id = object.id();
        let stored = self.services().call(ApiCall::Get {
            kind: id.kind.clone(),
            namespace: id.namespace.to_string(),
            name: id.name.to_string(),
        });
        let mut value = object.value().clone();
        if let Ok(Some(stored)) = stored {
            value["metadata"]["resourceVersion"] = stored.resource_version().into();
        }
        super::world::of(value)
    }
}

impl Services for Tampered {
    fn changes(&mut self, kind: &Kind, since: Revision) -> Page<Change> {
        self.services().changes(kind, since)
    }

    fn get(&mut self, kind: &Kind, namespace: &str, name: &str) -> Result<Entry, ApiError> {
        self.services().get(kind, namespace, name)
    }

    fn in_flight_changes(&mut self, since: Revision) -> Page<InFlightChange> {
        let mut page = self.services().in_flight_changes(since);
        if self.is(Mutation::IgnoresFlight) {
            page.changes.clear();
        }
        page
    }

    fn get_in_flight(&mut self, kind: &Kind, uid: &str) -> Option<InFlight> {
        self.services().get_in_flight(kind, uid)
    }

    fn put_in_flight(&mut self, pod_uid: &str, entries: Vec<InFlight>) -> Result<(), ApiError> {
        if self.is(Mutation::FliesBlind) {
            return Ok(());
        }
        self.services().put_in_flight(pod_uid, entries)
    }

    fn remove_in_flight(&mut self, pod_uid: &str, kind: &Kind, uid: &str, wake: bool) -> bool {
        match self.mutation {
            Mutation::StaysInFlight => false,
            Mutation::IgnoresHolders => {
                let held = self.services().get_in_flight(kind, uid);
                let holder = held.map_or_else(|| pod_uid.to_owned(), |held| held.holder);
                self.services().remove_in_flight(&holder, kind, uid, wake)
            }
            Mutation::DropsBeforeAssuming => {
                if let Some(object) = self.waiting.take() {
                    let _ = self.services().assume(object);
                    return true;
                }
                self.services().remove_in_flight(pod_uid, kind, uid, wake)
            }
            _ => self.services().remove_in_flight(pod_uid, kind, uid, wake),
        }
    }

    fn assume(&mut self, object: Object) -> Result<(), ApiError> {
        match self.mutation {
            Mutation::DoesNotAssume => Ok(()),
            Mutation::DropsBeforeAssuming => {
                let id = object.id().clone();
                let held = self.services().get_in_flight(&id.kind, &id.uid);
                if let Some(held) = held {
                    self.services()
                        .remove_in_flight(&held.holder, &id.kind, &id.uid, false);
                }
                self.waiting = Some(object);
                Ok(())
            }
            _ => self.services().assume(object),
        }
    }

    fn restore(&mut self, kind: &Kind, namespace: &str, name: &str) {
        self.services().restore(kind, namespace, name);
    }

    fn call(&mut self, call: ApiCall) -> Result<Option<Object>, ApiError> {
        let call = match (self.mutation, call) {
            (Mutation::KeepsReservations, ApiCall::PatchStatus { .. }) => return Ok(None),
            (Mutation::ForgetsTheFinalizer, ApiCall::Update { object }) => return Ok(Some(object)),
            (Mutation::IgnoresVersions, ApiCall::UpdateStatus { object }) => {
                ApiCall::UpdateStatus {
                    object: self.unversioned(&object),
                }
            }
            (_, call) => call,
        };
        let sent = match &call {
            ApiCall::Update { object } | ApiCall::UpdateStatus { object } => Some(object.clone()),
            _ => None,
        };
        let answer = self.services().call(call);
        match sent {
            Some(sent) if self.is(Mutation::IgnoresErrors) && answer.is_err() => Ok(Some(sent)),
            _ => answer,
        }
    }

    fn now(&mut self) -> u64 {
        self.services().now()
    }

    fn random(&mut self) -> u64 {
        self.services().random()
    }

    fn log_enabled(&self, level: LogLevel) -> bool {
        self.services().log_enabled(level)
    }

    fn log(&mut self, level: LogLevel, plugin: &str, message: &str, fields: &[(String, String)]) {
        self.services().log(level, plugin, message, fields);
    }
}
