//! Sentences with holes, so that nodes which say the same but for numbers and values can share one.

use std::fmt;

/// How many values a sentence names.
const VALUES: usize = 4;

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// The same for all that share the sentence.
    Text(String),
    /// A number, from the smallest to the largest of all.
    Number(u64, u64),
    /// A noun that follows such a number, in the singular and in the plural.
    Counted(u64, u64, &'static str, &'static str),
    /// Values and how many devices have each.
    Values(Vec<(String, u64)>),
}

/// A sentence without capital and full stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phrase(Vec<Part>);

impl Phrase {
    /// A plain text.
    pub fn of(text: impl Into<String>) -> Self {
        Self::default().text(text)
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        match self.0.last_mut() {
            Some(Part::Text(before)) => *before += &text,
            _ => self.0.push(Part::Text(text)),
        }
        self
    }

    /// Adds a number.
    #[must_use]
    pub fn number(mut self, number: u64) -> Self {
        self.0.push(Part::Number(number, number));
        self
    }

    /// Adds a number and what it counts.
    #[must_use]
    pub fn counted(mut self, number: u64, one: &'static str, many: &'static str) -> Self {
        self.0.push(Part::Counted(number, number, one, many));
        self
    }

    /// Adds values with the number of devices that have them.
    #[must_use]
    pub fn values(mut self, values: Vec<(String, u64)>) -> Self {
        self.0.push(Part::Values(values));
        self
    }

    /// Adds another one.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        for part in other.0 {
            match part {
                Part::Text(text) => self = self.text(text),
                part => self.0.push(part),
            }
        }
        self
    }

    /// Several, with something between them.
    pub fn joined(phrases: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let mut all = Self::default();
        for phrase in phrases {
            all = if all.is_empty() {
                phrase
            } else {
                all.text(between).then(phrase)
            };
        }
        all
    }

    /// Equal for sentences that differ in numbers and values only.
    pub fn shape(&self) -> String {
        let mut shape = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => shape += text,
                // Nothing at all is another matter than little.
                Part::Number(low, _) if *low == 0 => shape += "\u{0}0",
                Part::Number(..) => shape += "\u{0}1",
                Part::Counted(low, _, one, _) => {
                    shape += if *low == 0 { "\u{0}0" } else { "\u{0}1" };
                    shape += one;
                }
                Part::Values(_) => shape += "\u{0}v",
            }
        }
        shape
    }

    /// Takes the numbers and values of another one of the same shape in.
    pub fn merge(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            match (own, other) {
                (Part::Number(low, high), Part::Number(from, to))
                | (Part::Counted(low, high, ..), Part::Counted(from, to, ..)) => {
                    *low = (*low).min(*from);
                    *high = (*high).max(*to);
                }
                (Part::Values(values), Part::Values(more)) => add(values, more),
                _ => {}
            }
        }
    }
}

fn add(values: &mut Vec<(String, u64)>, more: &[(String, u64)]) {
    for (value, count) in more {
        match values.iter_mut().find(|(known, _)| known == value) {
            Some((_, sum)) => *sum += count,
            None => values.push((value.clone(), *count)),
        }
    }
}

impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.0 {
            match part {
                Part::Text(text) => f.write_str(text)?,
                Part::Number(low, high) => range(*low, *high, f)?,
                Part::Counted(low, high, one, many) => {
                    range(*low, *high, f)?;
                    write!(f, " {}", if *high == 1 { one } else { many })?;
                }
                Part::Values(values) => list(values, f)?,
            }
        }
        Ok(())
    }
}

fn range(low: u64, high: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match low == high {
        true => write!(f, "{low}"),
        false => write!(f, "{low} to {high}"),
    }
}

fn list(values: &[(String, u64)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut sorted: Vec<&(String, u64)> = values.iter().collect();
    sorted.sort_by(|(_, a), (_, b)| b.cmp(a));
    if let [(value, _)] = sorted.as_slice() {
        return f.write_str(value);
    }
    for (position, (value, count)) in sorted.iter().take(VALUES).enumerate() {
        let between = match position {
            0 => "",
            _ if position + 1 == sorted.len() => " and ",
            _ => ", ",
        };
        write!(f, "{between}{value} ({count}x)")?;
    }
    match sorted.len() {
        more if more > VALUES => write!(f, " and {} others", more - VALUES),
        _ => Ok(()),
    }
}

/// `3 nodes`.
pub fn counted(count: u64, one: &'static str, many: &'static str) -> String {
    Phrase::default().counted(count, one, many).to_string()
}

/// `a, b and 3 more`.
pub fn some_of<T: AsRef<str>>(names: &[T], at_most: usize, all: usize) -> String {
    let shown: Vec<&str> = names.iter().take(at_most).map(AsRef::as_ref).collect();
    let rest = all.saturating_sub(shown.len());
    match (shown.as_slice(), rest) {
        ([], _) => String::new(),
        ([one], 0) => (*one).to_owned(),
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        (shown, rest) => format!("{} and {rest} more", shown.join(", ")),
    }
}
