//! A plugin whose every answer is a closure of the test, and which notes what it was asked.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::chooser::Task;
use crate::object::{Kind, Object};
use crate::plugin::{
    Action, Answers, ApiCall, ApiErrorReason, BindingCall, BindingRun, CallStats, Code, CycleId,
    Description, Exports, Fault, Hint, Interest, Nomination, ObjectEvent, Plan, Plugin,
    PluginError, Progress, Revision, SchedulingInstance, Scope, Services, SharedServices, Slot,
    Status, Step, Suspension,
};

pub type Answer<T> = Result<T, PluginError>;
type OnServices = Box<dyn FnOnce(&mut dyn Services)>;
type OnReserve = Box<dyn FnMut(&Object, Slot, &mut dyn Services) -> Answer<Status>>;
type Of<A, T> = Box<dyn FnMut(&A) -> T>;

/// What a binding call does before it returns.
pub enum Act {
    Sleep(u64),
    Call(ApiCall),
    State(OnServices),
}

/// One answer per call; the defaults let every pod pass.
pub struct Script {
    pub pre_enqueue: Of<Object, Answer<Status>>,
    pub hint: Of<(ObjectEvent, Object), Result<Hint, String>>,
    pub scope: Of<Object, Answer<Scope>>,
    pub filter: Of<(Object, Slot), Answer<Status>>,
    pub post_filter: Of<Object, Answer<Status>>,
    pub pre_score: Of<Object, Answer<Status>>,
    pub score: Of<(Object, Slot), i64>,
    pub reserve: OnReserve,
    pub binding: Of<BindingCall, (Vec<Act>, Answer<Status>)>,
    pub interests: Vec<Interest>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            pre_enqueue: Box::new(|_| Ok(Status::success())),
            hint: Box::new(|_| Ok(Hint::Queue)),
            scope: Box::new(|_| Ok(Scope::AllNodes)),
            filter: Box::new(|_| Ok(Status::success())),
            post_filter: Box::new(|_| {
                Ok(Status::new(Code::Unschedulable, "still not schedulable"))
            }),
            pre_score: Box::new(|_| Ok(Status::success())),
            score: Box::new(|_| 0),
            reserve: Box::new(|_, _, _| Ok(Status::success())),
            binding: Box::new(|_| (Vec::new(), Ok(Status::success()))),
            interests: Vec::new(),
        }
    }
}

/// The plugin. All its instances share the script.
pub struct Fake {
    pub description: Description,
    pub exports: Exports,
    script: Rc<RefCell<Script>>,
    calls: Rc<RefCell<Vec<String>>>,
}

pub const POINTS: [&str; 7] = [
    "pre-enqueue",
    "filter",
    "post-filter",
    "pre-score",
    "reserve",
    "pre-bind",
    "post-bind",
];

impl Fake {
    pub fn new(script: Script) -> Self {
        let description = Description {
            name: "Fake".into(),
            version: "1".into(),
            points: POINTS.map(str::to_owned).to_vec(),
            accesses: Vec::new(),
        };
        let exports = Exports {
            enqueue: true,
            binding: true,
            ..Exports::default()
        };
        Self {
            description,
            exports,
            script: Rc::new(RefCell::new(script)),
            calls: Rc::default(),
        }
    }

    pub fn with_point(mut self, point: &str) -> Self {
        self.description.points.push(point.to_owned());
        self
    }

    pub fn calls(&self) -> Vec<String> {
        self.calls.borrow().clone()
    }

    pub fn take_calls(&self) -> Vec<String> {
        self.calls.take()
    }

    pub fn change(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.script.borrow_mut());
    }
}

impl Plugin for Fake {
    fn description(&self) -> &Description {
        &self.description
    }

    fn exports(&self) -> Exports {
        self.exports
    }

    fn scheduling(&self, services: SharedServices) -> Answer<Box<dyn SchedulingInstance>> {
        self.calls.borrow_mut().push("instance".into());
        let (script, calls) = (self.script.clone(), self.calls.clone());
        Ok(Box::new(Instance {
            script,
            calls,
            services,
            cycles: BTreeMap::new(),
            next: 0,
        }))
    }

    fn binding(&self, services: SharedServices, call: BindingCall) -> Answer<Box<dyn BindingRun>> {
        let plan = match &call {
            BindingCall::PreBind { plan, .. } | BindingCall::PostBind { plan, .. } => {
                Some(plan.clone())
            }
            BindingCall::Unreserve { plan, .. } => plan.clone(),
        };
        let plan = plan.map_or("none".to_owned(), |plan| {
            String::from_utf8_lossy(&plan).into_owned()
        });
        self.calls
            .borrow_mut()
            .push(format!("{} {} {plan}", call.name(), call.pod().id().name));
        let (acts, result) = (self.script.borrow_mut().binding)(&call);
        let is_pre_bind = matches!(call, BindingCall::PreBind { .. });
        let result = result.map(|status| {
            is_pre_bind.then(|| Progress {
                status,
                plan: plan_of("plan of pre-bind"),
            })
        });
        Ok(Box::new(Run {
            services,
            acts: acts.into(),
            announced: None,
            result: Some(result),
            failed: None,
        }))
    }

    fn stats(&self) -> CallStats {
        CallStats::default()
    }
}

struct Instance {
    script: Rc<RefCell<Script>>,
    calls: Rc<RefCell<Vec<String>>>,
    services: SharedServices,
    cycles: BTreeMap<u64, Object>,
    next: u64,
}

impl Instance {
    fn note(&self, call: impl Into<String>) {
        self.calls.borrow_mut().push(call.into());
    }

    fn pod(&self, cycle: CycleId) -> Object {
        self.cycles[&cycle.0].clone()
    }
}

impl SchedulingInstance for Instance {
    fn events_to_register(&mut self) -> Answer<Vec<Interest>> {
        Ok(self.script.borrow().interests.clone())
    }

    fn pre_enqueue(&mut self, pod: &Object) -> Answer<Status> {
        self.note(format!("pre-enqueue {}", pod.id().name));
        (self.script.borrow_mut().pre_enqueue)(pod)
    }

    fn hints(&mut self, event: &ObjectEvent, pods: &[Object]) -> Answer<Vec<Result<Hint, String>>> {
        let names: Vec<&str> = pods.iter().map(|pod| pod.id().name.as_ref()).collect();
        self.note(format!("hints {}", names.join(" ")));
        Ok(pods
            .iter()
            .map(|pod| (self.script.borrow_mut().hint)(&(event.clone(), pod.clone())))
            .collect())
    }

    fn pre_filter(&mut self, pod: &Object, _at: Revision) -> Answer<(CycleId, Scope)> {
        self.note(format!("pre-filter {}", pod.id().name));
        let scope = (self.script.borrow_mut().scope)(pod)?;
        self.next += 1;
        self.cycles.insert(self.next, pod.clone());
        Ok((CycleId(self.next), scope))
    }

    fn filter(&mut self, cycle: CycleId, nodes: &[Slot]) -> Answer<Answers> {
        self.note(format!("filter {nodes:?}"));
        let pod = self.pod(cycle);
        let mut answers = Answers {
            verdicts: Vec::new(),
            statuses: Vec::new(),
        };
        for &node in nodes {
            let status = (self.script.borrow_mut().filter)(&(pod.clone(), node))?;
            let known = answers.statuses.iter().position(|other| *other == status);
            let index = known.unwrap_or(answers.statuses.len());
            if known.is_none() {
                answers.statuses.push(status);
            }
            answers.verdicts.push(index as u32);
        }
        Ok(answers)
    }

    fn post_filter(&mut self, cycle: CycleId) -> Answer<Nomination> {
        self.note("post-filter");
        let status = (self.script.borrow_mut().post_filter)(&self.pod(cycle))?;
        Ok(Nomination { status, node: None })
    }

    fn pre_score(&mut self, cycle: CycleId, nodes: &[Slot]) -> Answer<Status> {
        self.note(format!("pre-score {nodes:?}"));
        (self.script.borrow_mut().pre_score)(&self.pod(cycle))
    }

    fn score(&mut self, cycle: CycleId, nodes: &[Slot]) -> Answer<Result<Vec<i64>, Status>> {
        self.note(format!("score {nodes:?}"));
        let pod = self.pod(cycle);
        Ok(Ok(nodes
            .iter()
            .map(|&node| (self.script.borrow_mut().score)(&(pod.clone(), node)))
            .collect()))
    }

    fn reserve(&mut self, cycle: CycleId, node: Slot) -> Answer<Progress> {
        self.note(format!("reserve {node}"));
        let pod = self.pod(cycle);
        let mut services = self.services.lock().unwrap();
        let status = (self.script.borrow_mut().reserve)(&pod, node, &mut *services)?;
        Ok(Progress {
            status,
            plan: plan_of("plan of reserve"),
        })
    }

    fn end_cycle(&mut self, cycle: CycleId) -> Answer<()> {
        self.note("end-cycle");
        self.cycles.remove(&cycle.0);
        Ok(())
    }
}

struct Run {
    services: SharedServices,
    acts: VecDeque<Act>,
    announced: Option<Act>,
    result: Option<Answer<Option<Progress>>>,
    /// An API call failed: the rest is left out and pre-bind fails.
    failed: Option<String>,
}

impl BindingRun for Run {
    fn resume(&mut self) -> Step {
        let mut services = self.services.lock().unwrap();
        match self.announced.take() {
            Some(Act::Call(call)) => {
                self.failed = services.call(call).err().map(|error| error.message)
            }
            Some(Act::State(act)) => act(&mut *services),
            Some(Act::Sleep(_)) | None => {}
        }
        if let Some(message) = self.failed.take() {
            self.acts.clear();
            if let Some(Ok(Some(progress))) = &mut self.result {
                progress.status = Status::new(Code::Error, message);
            }
        }
        let Some(act) = self.acts.pop_front() else {
            return Step::Done(self.result.take().expect("resumed after the end"));
        };
        let suspension = match &act {
            Act::Sleep(nanoseconds) => Suspension::Sleep {
                nanoseconds: *nanoseconds,
            },
            Act::Call(call) => Suspension::Api(call.verb()),
            Act::State(_) => Suspension::State("test"),
        };
        self.announced = Some(act);
        Step::Suspended(suspension)
    }
}

pub fn plan_of(text: &str) -> Plan {
    Arc::from(text.as_bytes())
}

pub fn trap(call: &str) -> PluginError {
    PluginError {
        fault: Fault::Trap,
        plugin: "Fake 1".into(),
        call: call.into(),
        cause: "unreachable".into(),
    }
}

pub fn api_error(reason: ApiErrorReason, message: &str) -> crate::plugin::ApiError {
    crate::plugin::ApiError {
        reason,
        message: message.into(),
    }
}

pub fn object(value: Value) -> Object {
    Object::from_value(value).unwrap()
}

pub fn pod(name: &str) -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "ns", "name": name, "uid": format!("uid-{name}")},
        "spec": {"containers": [{"name": "c"}]}}),
    )
}

pub fn node(name: &str) -> Object {
    object(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}))
}

pub fn thing(name: &str) -> Object {
    object(
        json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"namespace": "ns", "name": name, "uid": format!("uid-{name}")}}),
    )
}

pub fn interest(kind: &str, hinted: bool) -> Interest {
    Interest {
        kind: Kind::new(kind),
        actions: vec![Action::Add, Action::Update],
        hinted,
    }
}

pub fn added(object: Object) -> ObjectEvent {
    ObjectEvent {
        kind: object.id().kind.clone(),
        action: Action::Add,
        old: None,
        new: Some(object),
    }
}

/// A chooser: no binding goes on while a pod waits for its cycle.
pub fn cycles_first(tasks: &[Task]) -> usize {
    let cycle = tasks.iter().position(|task| *task == Task::Cycle);
    cycle.unwrap_or_default()
}
