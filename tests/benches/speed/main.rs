//! What the plugin costs, as a component and linked natively, in one run; each figure with an assertion of its result.
//!
//! Cycles are measured in processor time, single steps in time as it passes: for those the machine should have nothing else to do.
//!
//! `cargo bench --bench speed`, or `cargo bench --bench speed -- NAME` for the parts whose name contains NAME.

mod calls;
mod cluster;
mod cycles;
mod halves;
mod parts;
mod run;
mod table;

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::time::{Duration, Instant};

use cycles::Size;
use run::Plugins;
use table::{milliseconds, say};

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SMALL: [Size; 2] = [(100, 8), (1_000, 8)];
const LARGE: [Size; 3] = [(5_000, 8), (10_000, 8), (1_000, 128)];

/// Something that everybody can repeat: SipHash-1-3 of the standard library over 256 MiB of zeros.
fn calibration() -> Duration {
    let block = vec![0_u8; 1 << 20];
    run::shortest(3, || {
        let begun = Instant::now();
        let mut hasher = DefaultHasher::new();
        for _ in 0..256 {
            hasher.write(&block);
        }
        assert_ne!(hasher.finish(), 0);
        begun.elapsed()
    })
}

fn main() {
    // cargo passes --bench.
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let begun = Instant::now();
    let hashing = milliseconds(calibration());
    say(&format!("Calibration: hashing 256 MiB takes {hashing} ms."));
    let plugins = Plugins::new();
    let parts: [(&str, &dyn Fn()); 12] = [
        ("cycles-small", &|| cycles::all_nodes(&plugins, &SMALL)),
        ("cycles-large", &|| cycles::all_nodes(&plugins, &LARGE)),
        ("calls", &|| calls::by_call(&plugins)),
        ("stop", &|| cycles::early_stop(&plugins)),
        ("halves", &|| halves::halves(&plugins)),
        ("hard", &|| parts::hard(&plugins)),
        ("before", &|| parts::before_first_node(&plugins)),
        ("filter", &|| parts::empty_filter(&plugins)),
        ("update", &|| parts::slice_update(&plugins)),
        ("start", &parts::cold_start),
        ("swap", &|| parts::swap(&plugins)),
        ("reading", &parts::reading),
    ];
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|wanted| name.contains(wanted.as_str())) {
            part();
        }
    }
    let hashing = milliseconds(calibration());
    say(&format!(
        "\n{:.0} s in all; hashing 256 MiB now takes {hashing} ms.",
        begun.elapsed().as_secs_f64()
    ));
}
