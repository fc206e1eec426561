//! Where the versions of a soak run come from: components that take turns, loaded anew for each swap, and files that are
//! watched.
//!
//! A file that has changed is read and compiled on a thread of its own, while pods are scheduled.

use std::path::PathBuf;
use std::rc::Rc;
use std::thread::{self, JoinHandle};

use crate::clock::{FileStamp, SECOND, Stopwatch};
use crate::plugin::{
    Component, Description, LoadError, Plugin, Problem, Runtime, Settings, Unusable,
};

/// A file is loaded when it has not changed for this long, in nanoseconds.
const DEBOUNCE: u64 = SECOND / 5;
/// How often files are looked at.
const LOOK_EVERY: u64 = SECOND / 20;

/// One component.
pub struct Source {
    /// Its name in messages.
    pub name: String,
    /// What was read.
    pub bytes: Vec<u8>,
    /// The file, if it is one that may change.
    pub file: Option<PathBuf>,
}

struct Watched {
    source: Source,
    loaded: Option<FileStamp>,
    seen: Option<FileStamp>,
    unchanged_since: Stopwatch,
}

/// What reading a changed file and loading what is in it came to.
type Loading = JoinHandle<(Option<Vec<u8>>, Result<Component, LoadError>)>;

/// The components, in turn.
pub struct Versions {
    runtime: Runtime,
    settings: Settings,
    sources: Vec<Watched>,
    turn: usize,
    /// A changed file, by its place in `sources`, that is on its way.
    loading: Option<(usize, Loading)>,
    last_look: Stopwatch,
    first: Rc<dyn Plugin>,
}

impl Versions {
    /// Loads the first one.
    pub fn new(
        runtime: Runtime,
        settings: Settings,
        first: Source,
        others: Vec<Source>,
    ) -> Result<Self, LoadError> {
        let plugin = runtime.load(&first.bytes, &first.name, &settings)?;
        let watched = [first].into_iter().chain(others).map(|source| {
            let stamp = stamp(&source);
            Watched {
                source,
                loaded: stamp,
                seen: stamp,
                unchanged_since: Stopwatch::start(),
            }
        });
        Ok(Self {
            sources: watched.collect(),
            runtime,
            settings,
            turn: 0,
            loading: None,
            last_look: Stopwatch::start(),
            first: Rc::new(plugin),
        })
    }

    /// The version that a run begins with.
    pub fn first(&self) -> Rc<dyn Plugin> {
        self.first.clone()
    }

    /// Loads every component once, so that one that cannot run is known before a run begins and not when its turn comes. Returns
    /// what they say about themselves.
    pub fn try_all(&self) -> Result<Vec<Description>, LoadError> {
        let rest = (1..self.sources.len()).map(|index| self.load(index));
        [Ok(self.first.clone())]
            .into_iter()
            .chain(rest)
            .map(|plugin| Ok(plugin?.description().clone()))
            .collect()
    }

    /// The next one in turn, loaded anew: with one component, itself again.
    pub fn next_in_turn(&mut self) -> Result<Rc<dyn Plugin>, LoadError> {
        self.turn = (self.turn + 1) % self.sources.len();
        self.load(self.turn)
    }

    /// A version whose file has changed and come to rest, once it is loaded.
    pub fn changed(&mut self) -> Option<Result<Rc<dyn Plugin>, LoadError>> {
        let done = |(_, loading): &mut (usize, Loading)| loading.is_finished();
        if let Some((index, loading)) = self.loading.take_if(done) {
            return Some(self.loaded(index, loading));
        }
        if self.loading.is_some() || self.last_look.nanoseconds() < LOOK_EVERY {
            return None;
        }
        self.last_look = Stopwatch::start();
        let mut due = None;
        for (index, watched) in self.sources.iter_mut().enumerate() {
            let stamp = stamp(&watched.source);
            if stamp != watched.seen {
                watched.seen = stamp;
                watched.unchanged_since = Stopwatch::start();
            } else if stamp.is_some()
                && stamp != watched.loaded
                && watched.unchanged_since.nanoseconds() >= DEBOUNCE
            {
                watched.loaded = stamp;
                due.get_or_insert(index);
            }
        }
        self.begin_loading(due?);
        None
    }

    fn begin_loading(&mut self, index: usize) {
        let Source { name, file, .. } = &self.sources[index].source;
        let Some(file) = file.clone() else {
            return;
        };
        let (runtime, settings, name) = (self.runtime.clone(), self.settings.clone(), name.clone());
        let load = move || match std::fs::read(file) {
            Ok(bytes) => {
                let loaded = runtime.load(&bytes, &name, &settings);
                (Some(bytes), loaded)
            }
            Err(error) => (None, Err(unreadable(name, error.to_string()))),
        };
        self.loading = Some((index, thread::spawn(load)));
    }

    fn loaded(&mut self, index: usize, loading: Loading) -> Result<Rc<dyn Plugin>, LoadError> {
        let source = &mut self.sources[index].source;
        let (bytes, loaded) = loading
            .join()
            .map_err(|_| unreadable(source.name.clone(), "loading it panicked".to_owned()))?;
        let plugin = loaded?;
        // What takes turns is what was good.
        source.bytes = bytes.unwrap_or_default();
        self.turn = index;
        Ok(Rc::new(plugin))
    }

    fn load(&self, index: usize) -> Result<Rc<dyn Plugin>, LoadError> {
        let source = &self.sources[index].source;
        let plugin = self
            .runtime
            .load(&source.bytes, &source.name, &self.settings)?;
        Ok(Rc::new(plugin))
    }
}

fn unreadable(file: String, why: String) -> LoadError {
    LoadError {
        file,
        problem: Problem::File(Unusable::Invalid(why)),
    }
}

fn stamp(source: &Source) -> Option<FileStamp> {
    FileStamp::of(source.file.as_ref()?)
}
