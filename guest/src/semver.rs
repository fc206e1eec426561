//! Semantic versions: the strict parser, the tolerant one and the order of Kubernetes' semver library (spec 10.3).

use std::cmp::Ordering;
use std::fmt;

#[cfg(test)]
mod tests;

/// A semantic version. Build metadata is kept for printing and ignored by comparison and equality.
#[derive(Clone, Debug)]
pub struct Version {
    /// First number.
    pub major: u64,
    /// Second number.
    pub minor: u64,
    /// Third number.
    pub patch: u64,
    pre: Vec<Identifier>,
    build: Vec<String>,
}

/// A part of a pre-release: numbers sort before words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Word(String),
}

impl Version {
    /// Reads a version of exactly three numbers, without `v` prefix and leading zeros.
    ///
    /// # Errors
    /// If it is not one; the text is that of upstream's library.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("Version string empty".to_string());
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err("No Major.Minor.Patch elements found".to_string());
        };
        let major = number(major, "major", "Major")?;
        let minor = number(minor, "minor", "Minor")?;
        let (rest, build) = rest
            .split_once('+')
            .map_or((rest, None), |(rest, build)| (rest, Some(build)));
        let (patch, pre) = rest
            .split_once('-')
            .map_or((rest, None), |(patch, pre)| (patch, Some(pre)));
        Ok(Self {
            major,
            minor,
            patch: number(patch, "patch", "Patch")?,
            pre: pre
                .into_iter()
                .flat_map(|p| p.split('.'))
                .map(Identifier::parse)
                .collect::<Result<_, _>>()?,
            build: build
                .into_iter()
                .flat_map(|b| b.split('.'))
                .map(build_identifier)
                .collect::<Result<_, _>>()?,
        })
    }

    /// Reads a version that may have a `v` prefix, leading zeros and fewer than three numbers (`semver(x, true)`).
    ///
    /// # Errors
    /// As [`Version::parse`], and if a short version has a pre-release or build part.
    pub fn parse_normalized(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<String> = text.splitn(3, '.').map(without_leading_zeros).collect();
        if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
            return Err("short version cannot contain PreRelease/Build meta data".to_string());
        }
        parts.resize(3, "0".to_string());
        Self::parse(&parts.join("."))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch)
            .cmp(&(other.major, other.minor, other.patch))
            // A release comes after all its pre-releases.
            .then_with(|| self.pre.is_empty().cmp(&other.pre.is_empty()))
            .then_with(|| self.pre.cmp(&other.pre))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        for (i, part) in self.pre.iter().enumerate() {
            f.write_str(if i == 0 { "-" } else { "." })?;
            match part {
                Identifier::Number(n) => write!(f, "{n}")?,
                Identifier::Word(w) => f.write_str(w)?,
            }
        }
        for (i, part) in self.build.iter().enumerate() {
            write!(f, "{}{part}", if i == 0 { "+" } else { "." })?;
        }
        Ok(())
    }
}

impl Identifier {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("Prerelease is empty".to_string());
        }
        if text.bytes().all(|b| b.is_ascii_digit()) {
            if text.len() > 1 && text.starts_with('0') {
                return Err(format!(
                    "Numeric PreRelease version must not contain leading zeroes {text:?}"
                ));
            }
            return parse_uint(text).map(Identifier::Number);
        }
        if is_alphanumeric(text) {
            return Ok(Identifier::Word(text.to_string()));
        }
        Err(format!("Invalid character(s) found in prerelease {text:?}"))
    }
}

fn build_identifier(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("Build meta data is empty".to_string());
    }
    if !is_alphanumeric(text) {
        return Err(format!(
            "Invalid character(s) found in build meta data {text:?}"
        ));
    }
    Ok(text.to_string())
}

fn is_alphanumeric(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn number(text: &str, name: &str, capitalized: &str) -> Result<u64, String> {
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!(
            "Invalid character(s) found in {name} number {text:?}"
        ));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(format!(
            "{capitalized} number must not contain leading zeroes {text:?}"
        ));
    }
    parse_uint(text)
}

fn parse_uint(digits: &str) -> Result<u64, String> {
    digits.parse().map_err(|_| {
        let problem = if digits.is_empty() {
            "invalid syntax"
        } else {
            "value out of range"
        };
        format!("strconv.ParseUint: parsing {digits:?}: {problem}")
    })
}

fn without_leading_zeros(part: &str) -> String {
    if part.len() <= 1 {
        return part.to_string();
    }
    let stripped = part.trim_start_matches('0');
    if stripped.starts_with(|c: char| c.is_ascii_digit()) {
        stripped.to_string()
    } else {
        format!("0{stripped}")
    }
}
