//! What the plugin does when its configuration says so.

use std::hint::black_box;

use crate::bindings::kube_scheduler::plugin::types::ObjectRef;
use crate::bindings::kube_scheduler::plugin::{api, clock, cluster, ledger, log, random};
use crate::{CONFIG, STATE, THING};

/// Does what is configured for this call. `Some`: the call goes on and says this.
pub fn deed(call: &str) -> Option<String> {
    let what = CONFIG.with_borrow(|deeds| {
        let deed = deeds.iter().find(|(configured, _)| configured == call);
        deed.map(|(_, what)| what.clone())
    })?;
    Some(match what.as_str() {
        "loop" => spin(),
        "recurse" => black_box(recurse(black_box(1))).to_string(),
        "memory" => hoard(),
        "trap" => core::arch::wasm32::unreachable(),
        "panic" => panic!("on purpose\nin two lines"),
        "exit" => std::process::exit(3),
        "null" => read_nowhere(),
        "bad-utf8" => unsafe { String::from_utf8_unchecked(vec![0xff; 3]) },
        "fuel" => "x".repeat(200 << 20),
        "giant-status" => "x".repeat(2 << 20),
        "host-calls" => loop {
            random::next();
        },
        "log-flood" => log_flood(),
        "log" => log_strangely(),
        "print" => print(),
        "undeclared" => undeclared(),
        "refused" => refused(),
        "wasi" => wasi(),
        "file" => {
            std::fs::read("/etc/passwd").map_or_else(|error| error.to_string(), |_| "read".into())
        }
        "time" => format!("{:?}", std::time::SystemTime::now()),
        "sleep" => format!("{:?}", clock::sleep(1_000)),
        other => other.to_owned(),
    })
}

/// Like [`deed`], in an instance that was made later.
pub fn later(call: &str) -> Option<String> {
    STATE
        .with_borrow(|known| known.later)
        .then(|| deed(call))
        .flatten()
}

fn spin() -> String {
    let mut count = 0_u64;
    loop {
        count = black_box(count + 1);
        if count == 0 {
            return "around".into();
        }
    }
}

#[allow(unconditional_recursion)]
fn recurse(depth: u64) -> u64 {
    // A WebAssembly frame each, and nothing in linear memory: it is the engine's stack that ends first.
    1 + black_box(recurse(black_box(depth + 1)))
}

fn hoard() -> String {
    let mut kept = Vec::new();
    loop {
        kept.push(black_box(vec![1_u8; 16 << 20]));
    }
}

fn read_nowhere() -> String {
    let nowhere = black_box(0xffff_0000_usize) as *const u8;
    unsafe { nowhere.read_volatile() }.to_string()
}

fn log_flood() -> String {
    for number in 0..50_000 {
        log::write(
            log::Level::Info,
            &format!("message {number} {}", "x".repeat(100)),
            &[],
        );
    }
    "flooded".into()
}

fn log_strangely() -> String {
    log::write(
        log::Level::Info,
        "one\nERROR two\u{1b}[31m",
        &[("key\n".into(), "v".repeat(100_000))],
    );
    log::write(log::Level::Info, &"y".repeat(100_000), &[]);
    "logged".into()
}

fn print() -> String {
    println!("to the output");
    eprintln!("to the error\nin two lines");
    "printed".into()
}

/// Everything that was not declared.
fn undeclared() -> String {
    let pod = ObjectRef {
        kind: "Pod".into(),
        namespace: "default".into(),
        name: "p".into(),
        uid: "u".into(),
    };
    let json = br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default","uid":"u"}}"#;
    let answers = [
        format!(
            "{:?}",
            cluster::changes("Pod", 0)
                .map(|_| ())
                .map_err(|error| error.reason)
        ),
        format!(
            "{:?}",
            cluster::get("Secret", "default", "s")
                .map(|_| ())
                .map_err(|error| error.reason)
        ),
        format!(
            "{:?}",
            api::get("Pod", "default", "p")
                .map(|_| ())
                .map_err(|error| error.reason)
        ),
        format!(
            "{:?}",
            api::update(json).map(|_| ()).map_err(|error| error.reason)
        ),
        format!(
            "{:?}",
            api::create(json).map(|_| ()).map_err(|error| error.reason)
        ),
        format!("{:?}", api::delete(&pod).map_err(|error| error.reason)),
        format!(
            "{:?}",
            ledger::put_in_flight(&[ledger::InFlight {
                target: pod,
                holder: "u".into(),
                json: json.into()
            }])
            .map_err(|error| error.reason)
        ),
        format!("{:?}", ledger::get_in_flight("Pod", "u").is_none()),
        format!("{:?}", ledger::remove_in_flight("Pod", "u", true)),
    ];
    ledger::restore("Pod", "default", "p");
    answers.join(" ")
}

/// Everything that was declared, at a point where it may not be allowed, and with the wrong holder.
fn refused() -> String {
    let thing = ObjectRef {
        kind: THING.into(),
        namespace: "default".into(),
        name: "thing".into(),
        uid: "thing-uid".into(),
    };
    let json = br#"{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"thing","namespace":"default","uid":"thing-uid"}}"#;
    let entry = |holder: &str| ledger::InFlight {
        target: thing.clone(),
        holder: holder.into(),
        json: json.into(),
    };
    [
        format!(
            "{:?}",
            api::update(json).map(|_| ()).map_err(|error| error.reason)
        ),
        format!(
            "{:?}",
            api::update(b"{").map(|_| ()).map_err(|error| error.reason)
        ),
        format!(
            "{:?}",
            ledger::put_in_flight(&[entry("somebody else")]).map_err(|error| error.reason)
        ),
        format!("{:?}", clock::sleep(1_000)),
    ]
    .join(" ")
}

/// What a runtime library asks for.
fn wasi() -> String {
    let map: std::collections::HashMap<u32, u32> = (0..3).map(|number| (number, number)).collect();
    let order: Vec<String> = map.keys().map(u32::to_string).collect();
    format!(
        "{} {} {}",
        std::env::vars().count(),
        std::env::args().count(),
        order.concat()
    )
}
