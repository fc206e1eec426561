//! Hostile input: everything ends, soon, without a panic, and costly expressions are cut off.

use std::time::{Duration, Instant};

use super::*;

/// 4 MiB is enough for optimised code (2 MiB natively); frames of unoptimised code are larger.
const GUEST_STACK: usize = if cfg!(debug_assertions) {
    16 << 20
} else {
    4 << 20
};

/// Runs with the stack that the guest is to have.
fn on_guest_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new()
        .stack_size(GUEST_STACK)
        .spawn(test)
        .expect("thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Processor time of this thread, so that a busy machine does not fail the test; elapsed time where that is unknown.
struct Stopwatch {
    started: Instant,
    before: Option<u64>,
}

impl Stopwatch {
    fn start() -> Self {
        Self {
            started: Instant::now(),
            before: Self::processor_nanos(),
        }
    }

    fn processor_nanos() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split(' ').next()?.parse().ok()
    }

    fn elapsed(&self) -> Duration {
        match (self.before, Self::processor_nanos()) {
            (Some(before), Some(now)) => Duration::from_nanos(now - before),
            _ => self.started.elapsed(),
        }
    }
}

fn compile(expression: &str) -> Result<Program, CompileError> {
    Environment::new(&Profile::current()).compile(expression)
}

fn verdict_of(expression: &str) -> Result<bool, String> {
    let env = Environment::new(&Profile::current());
    let program = env.compile(expression).map_err(|e| e.to_string())?;
    program
        .matches(&env.device("d", &api::Device::default()))
        .map_err(|e| e.to_string())
}

#[test]
fn depth_is_limited_as_in_cel_go() {
    on_guest_stack(|| {
        let nested = |n: usize| format!("{}true{}", "(".repeat(n), ")".repeat(n));
        assert_eq!(verdict_of(&nested(240)), Ok(true));
        assert!(compile(&nested(260)).is_err());
        let sum = |n: usize| format!("1{} > 0", " + 1".repeat(n));
        assert_eq!(verdict_of(&sum(240)), Ok(true));
        assert!(compile(&sum(260)).is_err());
        let chain = |n: usize| format!("has(device.attributes{})", ".a".repeat(n));
        assert!(
            compile(&chain(240)).is_ok(),
            "{:?}",
            compile(&chain(240)).err()
        );
        assert!(compile(&chain(260)).is_err());
        let calls = |n: usize| format!("{}true{} == true", "dyn(".repeat(n), ")".repeat(n));
        assert_eq!(verdict_of(&calls(240)), Ok(true));
        assert!(compile(&calls(260)).is_err());
        // Each level holds three rules of the same kind open.
        let sums = |n: usize| format!("{}1{} > 0", "(1+".repeat(n), ")".repeat(n));
        assert_eq!(verdict_of(&sums(80)), Ok(true));
        assert!(compile(&sums(90)).is_err());
        let ternaries = |n: usize| format!("{}true", "false ? false : ".repeat(n));
        assert_eq!(verdict_of(&ternaries(200)), Ok(true));
        assert!(compile(&ternaries(300)).is_err());
        let not = |n: usize| format!("{}true", "!".repeat(n));
        assert_eq!(verdict_of(&not(1000)), Ok(true));
    });
}

/// What the parser's lexer skips as wrong must not hide code from the limits.
#[test]
fn nothing_hides_behind_what_is_no_token() {
    on_guest_stack(|| {
        let deep = [
            format!("{}1", "1+".repeat(2_000)),
            format!("a{}", ".a".repeat(2_000)),
            format!("1{}", ".a".repeat(2_000)),
            format!("1{}", "[0]".repeat(1_500)),
            "(".repeat(2_000),
            "[".repeat(2_000),
            "-(".repeat(2_000),
        ];
        for (before, after) in [
            ("'''\n", ""),
            ("'\r", ""),
            ("\"\n", "\""),
            ("'\\z ", "'"),
            ("'\\u12 ", "'"),
            ("b'\\400 ", "'"),
            ("r'''\n", ""),
            ("rb'\\' ", "'"),
            ("&'", "'"),
            ("='", "'"),
            ("|\"", "\""),
            ("#'", "'"),
            ("é'", "'"),
            ("`\n", ""),
            ("1. ", ""),
            ("0x ", ""),
            ("1e ", ""),
            ("//\n", ""),
            ("/*", "*/"),
        ] {
            for middle in &deep {
                let text = format!("{before}{middle}{after}");
                assert!(compile(&text).is_err(), "{before:?}");
            }
        }
    });
}

#[test]
fn dense_expressions_are_limited() {
    let list = |n: usize| format!("0 in [{}1]", "1,".repeat(n));
    assert_eq!(verdict_of(&list(2_400)), Ok(false));
    let signed = |n: usize| format!("0 in [{}1]", "-1,".repeat(n));
    assert_eq!(verdict_of(&signed(300)), Ok(false));
    for dense in [list(2_500), signed(400)] {
        let error = compile(&dense).expect_err("too many tokens");
        assert!(
            error.to_string().contains("more than 5000 tokens"),
            "{error}"
        );
    }
}

#[test]
fn flat_chains_of_logic_are_not_limited() {
    on_guest_stack(|| {
        for operator in ["&&", "||"] {
            let flat = vec!["true"; 1200].join(operator);
            assert_eq!(verdict_of(&flat), Ok(true), "{operator}");
        }
        let terms: Vec<String> = (0..400).map(|i| format!("1 + 1 == {i}")).collect();
        assert_eq!(verdict_of(&terms.join(" || ")), Ok(true));
        let list: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
        assert_eq!(
            verdict_of(&format!("999 in [{}]", list.join(","))),
            Ok(true)
        );
    });
}

/// Pieces that are repeated up to the greatest length.
const UNITS: [&str; 60] = [
    "(",
    ")",
    "[",
    "{",
    "-(",
    "!(",
    "f(",
    "[[",
    "a.",
    ".a",
    "1+",
    "a[",
    "a?",
    "a?b:",
    "a?b:(",
    "'",
    "\"",
    "\\",
    "//",
    "{a:",
    "a{",
    "x.all(x,",
    "[x].map(x,",
    "a&&",
    "||",
    "has(",
    "?",
    "[?",
    ".?a",
    "a.?a",
    "0x",
    "1.",
    "e",
    "é",
    "\u{0}",
    "true,",
    "in ",
    "a in ",
    "==",
    "1<",
    "cel.bind(a,[a],",
    "cel.bind(a,1,",
    "[1,2].exists(i,",
    "-",
    "!",
    "--1",
    "''",
    "b'\\377'",
    "optional.of(",
    "a.optMap(a,",
    "a.b(",
    "{1:",
    "{1:2,",
    "[1,",
    "'%s'.format([",
    "\n",
    " ",
    "/*",
    "as ",
    "if(",
];

/// Inputs of the greatest length that press on the parser, the checker and everything that recurses.
fn bombs() -> Vec<String> {
    let most = guard::MOST_BYTES;
    let fill = |unit: &str| unit.repeat(most / unit.len());
    let mut bombs: Vec<String> = UNITS.iter().map(|unit| fill(unit)).collect();
    let closing: Vec<String> = [
        ("(", ")"),
        ("[", "]"),
        ("-(", ")"),
        ("dyn(", ")"),
        ("{1:", "}"),
        ("[1].all(x,", ")"),
        ("cel.bind(a,[a,a],", ")"),
    ]
    .iter()
    .flat_map(|(open, close)| {
        [100, 200, 249, 250, 400, 1000]
            .map(|n| format!("{}true{}", open.repeat(n), close.repeat(n)))
    })
    .collect();
    bombs.extend(closing);
    // A chain in a group in a chain: each within cel-go's count, together thousands of levels.
    let mut nest = String::from("1");
    for k in 0..60 {
        nest = format!("({nest}{})", "+1".repeat(60 - k % 3));
    }
    bombs.push(format!("{nest} > 0"));
    bombs.push(format!(
        "cel.bind(a0,[],{}true{})",
        (1..300)
            .map(|i| format!("cel.bind(a{i},{{a{0}:a{0}}},", i - 1))
            .collect::<String>(),
        ")".repeat(299)
    ));
    bombs.push(format!(
        "cel.bind(a0,[],{}a200==a200{})",
        (1..201)
            .map(|i| format!("cel.bind(a{i},[a{0},a{0}],", i - 1))
            .collect::<String>(),
        ")".repeat(200)
    ));
    for element in ["1,", "-1,", "-1.5,", "[],", "-1-1,", "(1),", "a==-1,"] {
        bombs.extend(
            [200, 300, 1_000, 1_600, 2_400, 5_000]
                .map(|n| format!("[{}1].size() > 0", element.repeat(n))),
        );
    }
    bombs.push(format!("{}true", "1==1&&".repeat(1_700)));
    bombs.push(format!("{}true", "a.b==1||".repeat(1_270)));
    bombs.push(format!("'x'.matches('{}')", r"\\pL{1000}".repeat(900)));
    bombs.push(format!(
        "'x'.matches('{}')",
        "(".repeat(4000) + &")".repeat(4000)
    ));
    bombs.push(format!(
        "'x'.matches('{}')",
        "(a|".repeat(2000) + &")".repeat(2000)
    ));
    bombs.push(format!(
        "quantity('{}') == quantity('1')",
        "9".repeat(10_000)
    ));
    bombs.push(format!("quantity('1e{}') == quantity('1')", "9".repeat(18)));
    bombs.push(format!(
        "semver('{}') == semver('1.0.0')",
        "1.".repeat(5_000)
    ));
    bombs
        .iter()
        .map(|bomb| bomb.chars().take(most).collect())
        .collect()
}

#[test]
fn bombs_end_soon() {
    on_guest_stack(|| {
        let env = Environment::new(&Profile::current());
        let device = env.device("d", &api::Device::default());
        let mut slow = Vec::new();
        for bomb in bombs() {
            let head: String = bomb.chars().take(40).collect();
            let started = Stopwatch::start();
            let compiled = env.compile(&bomb);
            let compile_time = started.elapsed();
            if let Ok(program) = &compiled {
                let _verdict = program.matches(&device);
            }
            drop(compiled);
            let total = started.elapsed();
            eprintln!("{compile_time:>10.2?} {total:>10.2?} {head:?}");
            // 50 ms on a machine with nothing else to do; shared caches cost up to half of it, and without optimisation
            // everything takes ten times longer.
            let limit = if cfg!(debug_assertions) {
                Duration::from_millis(1500)
            } else {
                Duration::from_millis(100)
            };
            if compile_time > limit || total > limit * 20 {
                slow.push((compile_time, total, head));
            }
        }
        assert!(slow.is_empty(), "{slow:#?}");
    });
}

#[test]
fn costly_expressions_are_cancelled() {
    let ten = "[1,2,3,4,5,6,7,8,9,10]";
    let nested = (0..7).fold("true".to_string(), |body, i| {
        format!("{ten}.all(x{i}, {body})")
    });
    let grown = (0..30).fold("a.size() > 0".to_string(), |body, _| {
        format!("cel.bind(a, a + a, {body})")
    });
    let shared = (0..60).fold("a == a".to_string(), |body, _| {
        format!("cel.bind(a, [a, a], {body})")
    });
    let grown = format!("cel.bind(a, 'xxxxxxxxxxxxxxxx', {grown})");
    let shared = format!("cel.bind(a, [1], {shared})");
    let replaced = (0..6).fold("'aaaaaaaaaa'".to_string(), |text, _| {
        format!("{text}.replace('', 'aaaaaaaaaaaaaaaaaaaa')")
    });
    let costly = [
        nested,
        grown,
        shared,
        format!("{replaced} == ''"),
        "lists.range(200000).all(x, x >= 0)".to_string(),
        "lists.range(1000000000).size() > 0".to_string(),
        "lists.range(100000).map(x, lists.range(100000)).size() > 0".to_string(),
    ];
    let cancelled = Err("operation cancelled: actual cost limit exceeded".to_string());
    for expression in costly {
        let started = Stopwatch::start();
        assert_eq!(verdict_of(&expression), cancelled, "{expression}");
        eprintln!(
            "{:?} {}",
            started.elapsed(),
            expression.chars().take(60).collect::<String>()
        );
        // Nothing can absorb it.
        assert_eq!(
            verdict_of(&format!("({expression}) || true")),
            cancelled,
            "{expression} || true"
        );
        assert_eq!(
            verdict_of(&format!("!(({expression}) && false)")),
            cancelled,
            "{expression} && false"
        );
        assert_eq!(
            verdict_of(&format!("[1].exists(i, ({expression}) || true)")),
            cancelled
        );
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "{expression}: {:?}",
            started.elapsed()
        );
    }
    assert_eq!(verdict_of("lists.range(100000).all(x, x >= 0)"), Ok(true));
}
