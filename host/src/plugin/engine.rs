//! The engine that compiles and runs components: one per process, with one fixed configuration.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use wasmtime::{Cache, CacheConfig, Config, Engine};

use super::stats::{Census, Living};

/// Length of a tick, the unit of deadlines.
const TICK: Duration = Duration::from_millis(10);
/// Stack of the code of a component. A thread of a test has 2 MiB, which must hold this and the host's own frames.
const WASM_STACK: usize = 1 << 20;
/// Stack of a suspendable call: the above and what the host's imports need.
const FIBER_STACK: usize = 4 << 20;

/// Where compiled code is kept between runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CompileCache {
    /// `dractl` in the user's cache directory (`XDG_CACHE_HOME` or `~/.cache`).
    #[default]
    User,
    /// This directory. It is created, readable for its owner only.
    Directory(PathBuf),
    /// Nowhere.
    Off,
}

/// Compiles and runs components. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    engine: Engine,
    ticks: Arc<AtomicU64>,
    cache: Option<Cache>,
    living: Arc<Living>,
}

impl Runtime {
    /// Makes an engine and the thread that counts time for it, which ends with the last clone. A cache that cannot be used
    /// is left out.
    pub fn new(cache: &CompileCache) -> wasmtime::Result<Self> {
        Self::make(cache, true)
    }

    /// The same, but its code never looks at the clock: calls are not limited in time. To measure what looking costs.
    pub fn without_deadlines(cache: &CompileCache) -> wasmtime::Result<Self> {
        Self::make(cache, false)
    }

    fn make(cache: &CompileCache, deadlines: bool) -> wasmtime::Result<Self> {
        let cache = open_cache(cache);
        let mut config = Config::new();
        config
            .epoch_interruption(deadlines)
            .parallel_compilation(true)
            .max_wasm_stack(WASM_STACK)
            .async_stack_size(FIBER_STACK)
            .cache(cache.clone());
        let engine = Engine::new(&config)?;
        let ticks = Arc::new(AtomicU64::new(0));
        start_ticker(&engine, &ticks)?;
        Ok(Self {
            engine,
            ticks,
            cache,
            living: Arc::default(),
        })
    }

    /// How often compiled code was found on disk, and how often not.
    pub fn cache_hits_and_misses(&self) -> (usize, usize) {
        self.cache
            .as_ref()
            .map_or((0, 0), |cache| (cache.cache_hits(), cache.cache_misses()))
    }

    /// What exists now of everything that was loaded with it.
    pub fn census(&self) -> Census {
        self.living.census()
    }

    pub(super) fn living(&self) -> &Arc<Living> {
        &self.living
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(super) fn clock(&self) -> TickClock {
        TickClock(self.ticks.clone())
    }
}

/// Reads the ticks that the engine's deadlines are counted in.
#[derive(Clone)]
pub(super) struct TickClock(Arc<AtomicU64>);

impl TickClock {
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A deadline in ticks. One more, because the running tick is a partial one.
pub(super) fn ticks(microseconds: u64) -> u64 {
    microseconds
        .div_ceil(TICK.as_micros() as u64)
        .saturating_add(1)
}

fn start_ticker(engine: &Engine, ticks: &Arc<AtomicU64>) -> io::Result<()> {
    let (engine, ticks) = (engine.weak(), Arc::downgrade(ticks));
    thread::Builder::new()
        .name("plugin-ticks".into())
        .spawn(move || {
            loop {
                thread::sleep(TICK);
                let (Some(engine), Some(ticks)) = (engine.upgrade(), ticks.upgrade()) else {
                    return;
                };
                ticks.fetch_add(1, Ordering::Relaxed);
                engine.increment_epoch();
            }
        })?;
    Ok(())
}

fn open_cache(wanted: &CompileCache) -> Option<Cache> {
    let directory = match wanted {
        CompileCache::Off => return None,
        CompileCache::Directory(directory) => directory.clone(),
        CompileCache::User => user_cache()?.join("dractl"),
    };
    prepare(&directory).ok()?;
    let mut config = CacheConfig::new();
    config.with_directory(directory);
    Cache::new(config).ok()
}

fn user_cache() -> Option<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

/// Compiled code is run as it is found, so nobody else may be able to write it.
fn prepare(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)?;
    static PROBES: AtomicU64 = AtomicU64::new(0);
    let number = PROBES.fetch_add(1, Ordering::Relaxed);
    let probe = directory.join(format!(".probe-{}-{number}", std::process::id()));
    File::create_new(&probe)?;
    let private = is_private(directory, &probe);
    fs::remove_file(&probe)?;
    match private? {
        true => Ok(()),
        false => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// Whether the directory belongs to the owner of a file that was just made in it, and only that owner may
/// write there.
#[cfg(unix)]
fn is_private(directory: &Path, probe: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (directory, probe) = (
        fs::symlink_metadata(directory)?,
        fs::symlink_metadata(probe)?,
    );
    Ok(directory.is_dir() && directory.uid() == probe.uid() && directory.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn is_private(_directory: &Path, _probe: &Path) -> io::Result<bool> {
    Ok(true)
}
