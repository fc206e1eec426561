//! Collects findings about one object after the other, within bounds: what follows from a finding that was told, and what
//! nobody reads on to, is left out.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Severity};
use crate::host::ObjectRef;

/// Most findings of one severity.
const MOST: usize = 10_000;
/// Most bytes of all their texts.
const MOST_BYTES: usize = 16 << 20;

/// Findings so far.
#[derive(Default)]
pub(super) struct Findings {
    /// Each with whether it says that something is not there.
    kept: Vec<(Finding, bool)>,
    /// By severity: kept, and left off.
    counts: BTreeMap<Severity, (usize, usize)>,
    bytes: usize,
    /// Places where something is missing because it stands elsewhere, and was told there.
    excused: BTreeMap<ObjectRef, BTreeSet<String>>,
    /// What is told at its first place only: index in `kept`, and how often it was found again.
    once: BTreeMap<String, (usize, usize)>,
    /// The same, with everything inside.
    moved: BTreeMap<ObjectRef, BTreeSet<String>>,
}

impl Findings {
    pub(super) fn about<'a>(&'a mut self, object: &'a ObjectRef) -> About<'a> {
        About {
            findings: self,
            object,
        }
    }

    /// Objects of a kind about which an error was told.
    pub(super) fn accused(&self, kind: &str) -> BTreeSet<ObjectRef> {
        let errors = self
            .kept
            .iter()
            .filter(|(finding, _)| finding.severity == Severity::Error);
        let of_kind = errors.filter(|(finding, _)| finding.object.kind == kind);
        of_kind.map(|(finding, _)| finding.object.clone()).collect()
    }

    /// Everything, by object, then by path. One without an object says how many were left off.
    pub(super) fn all(mut self) -> Vec<Finding> {
        for (at, again) in self.once.values().filter(|(_, again)| *again > 0) {
            if let Some((finding, _)) = self.kept.get_mut(*at) {
                let places = count(*again, "other place");
                finding.message.push_str(&format!(" (as in {places})"));
            }
        }
        let excused = self.excused;
        let moved = self.moved;
        let is_inside = |finding: &Finding| {
            let places = moved.get(&finding.object);
            places.is_some_and(|places| {
                places.iter().any(|place| {
                    let inner = finding.path.strip_prefix(place.as_str());
                    inner.is_some_and(|inner| inner.is_empty() || inner.starts_with(['.', '[']))
                })
            })
        };
        let follows = |finding: &Finding| {
            let places = excused.get(&finding.object);
            places.is_some_and(|places| {
                let parent = parent(&finding.path);
                let inside = format!("{}.", finding.path);
                places.contains(&finding.path)
                    || places.contains(parent)
                    || places.iter().any(|place| place.starts_with(&inside))
            })
        };
        self.kept.retain(|(finding, is_absence)| {
            !is_absence || !(follows(finding) || is_inside(finding))
        });
        let mut all: Vec<Finding> = self.kept.into_iter().map(|(finding, _)| finding).collect();
        all.sort_by(|a, b| (&a.object, &a.path).cmp(&(&b.object, &b.path)));
        let left_off = |severity| self.counts.get(&severity).map_or(0, |(_, left)| *left);
        let (errors, warnings) = (left_off(Severity::Error), left_off(Severity::Warning));
        let hints = left_off(Severity::Hint);
        if errors + warnings + hints > 0 {
            all.push(Finding {
                severity: Severity::Warning,
                object: ObjectRef::default(),
                path: String::new(),
                message: format!(
                    "more was found than is shown: {}, {} and {} are left off",
                    count(errors, "error"),
                    count(warnings, "warning"),
                    count(hints, "hint")
                ),
                remedy: "correct what is shown, or look at fewer objects at a time".to_owned(),
            });
        }
        all
    }

    fn add(&mut self, finding: Finding, is_absence: bool) {
        let (kept, left_off) = self.counts.entry(finding.severity).or_default();
        let size = finding.path.len() + finding.message.len() + finding.remedy.len();
        if *kept >= MOST || self.bytes + size > MOST_BYTES {
            *left_off += 1;
            return;
        }
        *kept += 1;
        self.bytes += size;
        self.kept.push((finding, is_absence));
    }
}

/// The path without its last step; an index alone is no step, and dots within one separate nothing.
pub(super) fn parent(path: &str) -> &str {
    let mut depth = 0;
    let mut end = 0;
    for (at, c) in path.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            '.' if depth == 0 => end = at,
            _ => {}
        }
    }
    &path[..end]
}

/// Adds findings about one object.
pub(super) struct About<'a> {
    findings: &'a mut Findings,
    object: &'a ObjectRef,
}

impl About<'_> {
    pub(super) fn error(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Severity::Error, path, message, remedy, false);
    }

    /// An error that something is not there. It may follow from a key at a wrong place, and is not told then.
    pub(super) fn lacking(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Severity::Error, path, message, remedy, true);
    }

    /// The same where nothing refuses it.
    pub(super) fn lacking_perhaps(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Severity::Warning, path, message, remedy, true);
    }

    pub(super) fn warning(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Severity::Warning, path, message, remedy, false);
    }

    pub(super) fn hint(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Severity::Hint, path, message, remedy, false);
    }

    /// What is told at its first place only, with how often it was found again.
    pub(super) fn once(
        &mut self,
        severity: Severity,
        path: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let message = message.into();
        if let Some((_, again)) = self.findings.once.get_mut(&message) {
            *again += 1;
            return;
        }
        let at = self.findings.kept.len();
        self.findings.once.insert(message.clone(), (at, 0));
        self.add(severity, path, message, remedy, false);
    }

    /// What is missing at this place, right below or around it stands elsewhere.
    pub(super) fn excuse(&mut self, place: impl Into<String>) {
        let places = self.findings.excused.entry(self.object.clone());
        places.or_default().insert(place.into());
    }

    /// What is missing at this place and inside of it stands elsewhere.
    pub(super) fn excuse_below(&mut self, place: impl Into<String>) {
        let place = place.into();
        let places = self.findings.moved.entry(self.object.clone());
        places.or_default().insert(place.clone());
        self.excuse(place);
    }

    /// Complains about a list that is too long.
    pub(super) fn at_most(
        &mut self,
        path: &str,
        what: &str,
        count: usize,
        most: usize,
        remedy: &str,
    ) {
        if count > most {
            self.error(
                path,
                format!("{count} {what}, at most {most} are allowed"),
                remedy,
            );
        }
    }

    fn add(
        &mut self,
        severity: Severity,
        path: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
        is_absence: bool,
    ) {
        let finding = Finding {
            severity,
            object: self.object.clone(),
            path: path.into(),
            message: message.into(),
            remedy: remedy.into(),
        };
        self.findings.add(finding, is_absence);
    }
}

/// `"a", "b" and 3 more`.
pub(super) fn some_of<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    const SHOWN: usize = 5;
    let mut names = names.into_iter();
    let shown: Vec<T> = names.by_ref().take(SHOWN).collect();
    let shown: Vec<&str> = shown.iter().map(AsRef::as_ref).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// `1 device`, `2 devices`.
pub(super) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}
