//! What tests of components share: the plugins of this repository that are not the real one, one engine, and a cluster of one node and one thing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use dractl::object::{Kind, Object};
use dractl::plugin::{
    ApiCall, ApiError, ApiErrorReason, Change, CompileCache, Component, Entry, InFlight,
    InFlightChange, Limits, LogLevel, Page, Revision, Runtime, Services, Settings, SharedServices,
};
use serde_json::json;

use crate::repository;

/// Kind that the misbehaving plugin reads and writes.
pub const THING: &str = "Thing.example.com";

/// One engine for all tests, as in a real host.
pub static RUNTIME: LazyLock<Runtime> = LazyLock::new(runtime);

/// Another engine, for tests that count what it holds.
pub fn runtime() -> Runtime {
    Runtime::new(&CompileCache::Directory(target_folder().join("compiled")))
        .unwrap_or_else(|error| panic!("no engine: {error}"))
}

/// The bytes of the plugin in `tests/plugins/misbehaving`, built once per test run.
pub static MISBEHAVING: LazyLock<Vec<u8>> =
    LazyLock::new(|| build("tests/plugins/misbehaving", "misbehaving"));

/// The bytes of the plugin in `examples/plugins/node-label`.
pub static NODE_LABEL: LazyLock<Vec<u8>> =
    LazyLock::new(|| build("examples/plugins/node-label", "node_label"));

fn build(folder: &str, name: &str) -> Vec<u8> {
    let folder = repository::root().join(folder);
    let target = target_folder();
    let mut command = Command::new(env!("CARGO"));
    for (variable, _) in std::env::vars_os() {
        let text = variable.to_string_lossy();
        if text.contains("RUSTFLAGS")
            || text.starts_with("CARGO_PROFILE")
            || text.starts_with("CARGO_BUILD")
        {
            command.env_remove(&variable);
        }
    }
    let output = command
        .args([
            "build",
            "--quiet",
            "--locked",
            "--release",
            "--target",
            "wasm32-wasip2",
            "--target-dir",
        ])
        .arg(&target)
        .current_dir(&folder)
        .output()
        .unwrap_or_else(|error| panic!("cargo does not run: {error}"));
    assert!(
        output.status.success(),
        "{name} does not build:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let file = target
        .join("wasm32-wasip2/release")
        .join(format!("{name}.wasm"));
    std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Beside the other products of the build.
fn target_folder() -> PathBuf {
    let here =
        std::env::current_exe().unwrap_or_else(|error| panic!("no path of the test: {error}"));
    // target/PROFILE/deps/tests-HASH
    let target = here.ancestors().nth(3).unwrap_or(Path::new("target"));
    target.join("fixtures")
}

/// Limits that a test reaches soon.
pub fn tight() -> Limits {
    Limits {
        memory_bytes: 32 << 20,
        output_bytes: 1 << 20,
        results: 1_000,
        call_milliseconds: 200,
        start_milliseconds: 5_000,
        host_calls: 20_000,
        ..Limits::default()
    }
}

/// The misbehaving plugin, told what to do.
pub fn misbehaving(deed: &str, limits: Limits) -> Component {
    let settings = Settings {
        config: json!(deed).to_string().into_bytes(),
        limits,
        ..Settings::default()
    };
    RUNTIME
        .load(&MISBEHAVING, "misbehaving.wasm", &settings)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// An object of the API from JSON.
pub fn object(value: serde_json::Value) -> Object {
    Object::from_value(value).unwrap_or_else(|error| panic!("{error}"))
}

/// A pod named `p` with this uid.
pub fn pod(uid: &str) -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default", "uid": uid}}),
    )
}

/// A message of the log and its fields.
pub type Logged = (LogLevel, String, Vec<(String, String)>);

/// A cluster that remembers what was done to it.
#[derive(Default)]
pub struct Double {
    /// Revision of the node, of the thing, and of the in-flight entry, if they exist.
    pub node: Option<(Revision, Object)>,
    pub thing: Option<(Revision, Object)>,
    pub in_flight: Option<(Revision, InFlight)>,
    pub revision: Revision,
    pub logs: Vec<Logged>,
    /// Verbs and names of what took effect, in order.
    pub effects: Vec<String>,
    pub now: u64,
    /// How long it takes to hand out objects.
    pub nap: Duration,
}

impl Double {
    /// One node in slot 0 and one thing.
    pub fn with_one_of_each() -> Arc<Mutex<Self>> {
        let node = object(
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "uid": "node-uid"}}),
        );
        let thing = object(json!({"apiVersion": "example.com/v1", "kind": "Thing",
            "metadata": {"name": "thing", "namespace": "default", "uid": "thing-uid", "resourceVersion": "7"}}));
        Arc::new(Mutex::new(Self {
            node: Some((1, node)),
            thing: Some((2, thing)),
            revision: 2,
            ..Self::default()
        }))
    }

    fn stream(&self, kind: &Kind) -> Option<&(Revision, Object)> {
        match kind.as_str() {
            "Node" => self.node.as_ref(),
            THING => self.thing.as_ref(),
            _ => None,
        }
    }

    /// Changes the node, as an event would.
    pub fn touch_node(&mut self) {
        self.revision += 1;
        let revision = self.revision;
        if let Some((at, _)) = &mut self.node {
            *at = revision;
        }
    }
}

/// The type that plugins take.
pub fn shared(double: &Arc<Mutex<Double>>) -> SharedServices {
    double.clone()
}

fn absent() -> ApiError {
    ApiError {
        reason: ApiErrorReason::NotFound,
        message: "there is no such object".to_owned(),
    }
}

impl Services for Double {
    fn changes(&mut self, kind: &Kind, since: Revision) -> Page<Change> {
        std::thread::sleep(self.nap);
        let entry = |object: &Object| {
            Change::Put(Entry {
                slot: 0,
                object: object.clone(),
                assumed: false,
            })
        };
        let changes = self
            .stream(kind)
            .filter(|(at, _)| *at > since)
            .map(|(_, object)| entry(object));
        Page {
            reset: since == 0,
            changes: changes.into_iter().collect(),
            until: self.revision,
            more: false,
        }
    }

    fn get(&mut self, kind: &Kind, _: &str, name: &str) -> Result<Entry, ApiError> {
        let (_, object) = self
            .stream(kind)
            .filter(|(_, object)| *object.id().name == *name)
            .ok_or_else(absent)?;
        Ok(Entry {
            slot: 0,
            object: object.clone(),
            assumed: false,
        })
    }

    fn in_flight_changes(&mut self, since: Revision) -> Page<InFlightChange> {
        let changes = self
            .in_flight
            .iter()
            .filter(|(at, _)| *at > since)
            .map(|(_, entry)| InFlightChange::Put(entry.clone()));
        Page {
            reset: since == 0,
            changes: changes.collect(),
            until: self.revision,
            more: false,
        }
    }

    fn get_in_flight(&mut self, _: &Kind, _: &str) -> Option<InFlight> {
        self.in_flight.as_ref().map(|(_, entry)| entry.clone())
    }

    fn put_in_flight(&mut self, pod_uid: &str, entries: Vec<InFlight>) -> Result<(), ApiError> {
        self.revision += 1;
        self.effects.push(format!("put-in-flight {pod_uid}"));
        self.in_flight = entries
            .into_iter()
            .next()
            .map(|entry| (self.revision, entry));
        Ok(())
    }

    fn remove_in_flight(&mut self, pod_uid: &str, _: &Kind, _: &str, _: bool) -> bool {
        self.effects.push(format!("remove-in-flight {pod_uid}"));
        self.in_flight.take().is_some()
    }

    fn assume(&mut self, object: Object) -> Result<(), ApiError> {
        self.effects.push(format!("assume {}", object.id()));
        Ok(())
    }

    fn restore(&mut self, kind: &Kind, _: &str, name: &str) {
        self.effects
            .push(format!("restore {} {name}", kind.short()));
    }

    fn call(&mut self, call: ApiCall) -> Result<Option<Object>, ApiError> {
        self.effects
            .push(format!("{:?} {}", call.verb(), call.kind().short()));
        match call {
            ApiCall::Update { object } => Ok(Some(object)),
            ApiCall::Get { kind, .. } => Ok(Some(self.stream(&kind).ok_or_else(absent)?.1.clone())),
            _ => Err(absent()),
        }
    }

    fn now(&mut self) -> u64 {
        self.now
    }

    fn random(&mut self) -> u64 {
        4
    }

    fn log_enabled(&self, level: LogLevel) -> bool {
        level < LogLevel::Trace
    }

    fn log(&mut self, level: LogLevel, _: &str, message: &str, fields: &[(String, String)]) {
        self.logs.push((level, message.to_owned(), fields.to_vec()));
    }
}
