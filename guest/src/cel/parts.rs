//! Which part of an expression was false, and what of the device it looked at: for those who ask why. Nothing decides by it.
//!
//! A conjunction is taken apart in its text, through brackets and `cel.bind`; each conjunct is then a program of its own. What
//! cannot be taken apart stays whole.

use super::guard::{self, tokens};
use super::{DeviceValue, Environment, Program};
use tokens::Kind;

mod accesses;
#[cfg(test)]
mod tests;

pub use accesses::{Access, Field, Seen};

/// Conjuncts that are told apart at most.
const MOST_PARTS: usize = 64;
/// Brackets and `cel.bind`s that are looked into, one within the other.
const DEEPEST: usize = 32;

/// A conjunct.
pub struct Part {
    /// As written, but for white space and comments.
    pub text: String,
    program: Program,
    /// What it looks at, in order.
    pub accesses: Vec<Access>,
    /// Literals that something is compared with for equality: one of them would make it true.
    pub wanted: Vec<(Access, String)>,
}

impl Environment {
    /// The conjuncts of an expression, in order; none if it does not compile.
    pub fn parts(&self, expression: &str) -> Vec<Part> {
        if guard::check(expression).is_err() {
            return Vec::new();
        }
        let text = one_line(expression);
        let mut found = Vec::new();
        split(&text, &[], &mut found);
        let parts: Option<Vec<Part>> = match found.len() {
            0..=1 => None,
            2..=MOST_PARTS => found
                .iter()
                .map(|(text, wrappers)| self.part(text, &wrapped(text, wrappers)))
                .collect(),
            _ => None,
        };
        match parts {
            Some(parts) => parts,
            None => self.part(&text, &text).into_iter().collect(),
        }
    }

    fn part(&self, text: &str, whole: &str) -> Option<Part> {
        let program = self.compile(whole).ok()?;
        let (accesses, wanted) = accesses::of(&program.node);
        Some(Part {
            text: text.to_owned(),
            program,
            accesses,
            wanted,
        })
    }
}

impl Part {
    /// Whether it is true for a device; `None`: it fails.
    pub fn verdict(&self, device: &DeviceValue) -> Option<bool> {
        self.program.matches(device).ok()
    }
}

/// The tokens, with one space where there was any.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let Ok((kind, end)) = tokens::next(text, at) else {
            return text.to_owned();
        };
        match kind {
            Kind::Space | Kind::Comment if line.ends_with(' ') || line.is_empty() => {}
            Kind::Space | Kind::Comment => line.push(' '),
            _ => line.push_str(&text[at..end]),
        }
        at = end;
    }
    line.truncate(line.trim_end().len());
    line
}

/// A conjunct within the `cel.bind`s around it, which are given without their last argument.
fn wrapped(text: &str, wrappers: &[&str]) -> String {
    let mut whole = wrappers.concat();
    whole.push_str(text);
    whole.extend(std::iter::repeat_n(')', wrappers.len()));
    whole
}

/// A conjunct and what is around it.
type Found<'t> = (&'t str, Vec<&'t str>);

fn split<'t>(text: &'t str, wrappers: &[&'t str], found: &mut Vec<Found<'t>>) {
    let text = text.trim();
    let outline = Outline::of(text);
    if found.len() > MOST_PARTS || wrappers.len() > DEEPEST {
        return found.push((text, wrappers.to_vec()));
    }
    match outline {
        Some(Outline::Conjunction(ends)) => {
            let mut start = 0;
            for end in ends {
                split(&text[start..end], wrappers, found);
                start = end + "&&".len();
            }
            split(&text[start..], wrappers, found);
        }
        Some(Outline::Group) => split(&text[1..text.len() - 1], wrappers, found),
        Some(Outline::Bind(body)) => {
            let mut wrappers = wrappers.to_vec();
            wrappers.push(&text[..body]);
            split(&text[body..text.len() - 1], &wrappers, found);
        }
        None => found.push((text, wrappers.to_vec())),
    }
}

/// What can be taken apart.
enum Outline {
    /// Where each `&&` starts.
    Conjunction(Vec<usize>),
    /// Within brackets.
    Group,
    /// `cel.bind`, and where its last argument starts.
    Bind(usize),
}

impl Outline {
    fn of(text: &str) -> Option<Self> {
        let (mut depth, mut at) = (0_usize, 0);
        let (mut ands, mut commas) = (Vec::new(), Vec::new());
        let (mut closed, mut before) = (0, "");
        while at < text.len() {
            let (kind, end) = tokens::next(text, at).ok()?;
            let token = &text[at..end];
            match (kind, token) {
                (Kind::Space | Kind::Comment, _) => {
                    at = end;
                    continue;
                }
                (Kind::Sign, "(" | "[" | "{") => depth += 1,
                (Kind::Sign, ")" | "]" | "}") => {
                    depth = depth.checked_sub(1)?;
                    // How many groups were closed on the lowest level.
                    closed += usize::from(depth == 0);
                }
                (Kind::Sign, "&&") if depth == 0 => ands.push(at),
                (Kind::Sign, "||") if depth == 0 => return None,
                (Kind::Sign, "?") if depth == 0 && before != "." => return None,
                (Kind::Sign, ",") if depth == 1 => commas.push(end),
                _ => {}
            }
            before = token;
            at = end;
        }
        let is_one_group = closed == 1 && before == ")";
        if !ands.is_empty() {
            Some(Self::Conjunction(ands))
        } else if is_one_group && text.starts_with('(') {
            Some(Self::Group)
        } else if is_one_group && text.starts_with("cel.bind(") && commas.len() == 2 {
            Some(Self::Bind(commas[1]))
        } else {
            None
        }
    }
}
