//! Syntax of names and values: what the API server takes as a label, a driver, an attribute's name, a version.
//!
//! Upstream: `IsDNS1123Label`, `IsDNS1123Subdomain`, `IsQualifiedName` and `IsValidLabelValue` of apimachinery;
//! `ValidateCSIDriverName`, `validatePoolName` and `validateQualifiedName` of the validation of `resource.k8s.io`.

use crate::quantity::Quantity;
use crate::semver::Version;

/// Longest label, and with it longest name of a request or device.
const LONGEST_LABEL: usize = 63;
/// Longest DNS subdomain, and with it longest name of an object.
const LONGEST_SUBDOMAIN: usize = 253;
/// Longest driver name and longest domain.
const LONGEST_DRIVER: usize = 63;
/// Longest name of an attribute within its domain.
const LONGEST_ID: usize = 32;
/// Shown of a wrong text.
const SHOWN: usize = 80;

/// What a text must be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Syntax {
    /// DNS label (RFC 1123).
    Label,
    /// DNS subdomain (RFC 1123).
    Subdomain,
    /// Subdomain of another length, in any case.
    Driver,
    /// Subdomains with slashes between them.
    Pool,
    /// Attribute or capacity, with or without a domain.
    Attribute,
    /// Attribute with a domain.
    FullAttribute,
    /// Key of a label or taint.
    LabelKey,
    /// Value of a label or taint.
    LabelValue,
    /// Name of an extended resource of nodes.
    ExtendedResource,
    /// Semantic version.
    Version,
    /// Quantity.
    Quantity,
}

impl Syntax {
    /// What is wrong with a text, and what to do. An empty one is absent: whether it may be is another question.
    pub(super) fn wrong(self, text: &str) -> Option<(String, String)> {
        if text.is_empty() || self.holds(text) {
            return None;
        }
        let shown = shown(text);
        let (is_not, remedy) = match self {
            Self::Label => (
                "is not a DNS label",
                "use at most 63 lower case letters, digits and dashes",
            ),
            Self::Subdomain => (
                "is not a DNS subdomain",
                "use at most 253 lower case letters, digits, dashes and dots, with a letter or digit around each dot",
            ),
            Self::Driver => (
                "is no name of a driver",
                "use a DNS subdomain of at most 63 bytes, for example gpu.example.com",
            ),
            Self::Pool => (
                "is no name of a pool",
                "use DNS subdomains in lower case with a slash between them, 253 bytes in all",
            ),
            Self::Attribute => (
                "is no name for this",
                "use [DOMAIN/]ID: a domain of at most 63 bytes, and at most 32 letters, digits and _, no digit first",
            ),
            Self::FullAttribute => (
                "is no full name of an attribute",
                "use DOMAIN/ID: a domain of at most 63 bytes, and at most 32 letters, digits and _, no digit first",
            ),
            Self::LabelKey => (
                "is no label key",
                "write NAME or DOMAIN/NAME; a name has at most 63 letters, digits, -, _ and ., and begins and ends with a letter or digit",
            ),
            Self::LabelValue => (
                "is no label value",
                "use at most 63 letters, digits, -, _ and ., with a letter or digit at both ends",
            ),
            Self::ExtendedResource => (
                "is no name of an extended resource",
                "use DOMAIN/NAME with a domain of your own, not kubernetes.io",
            ),
            Self::Version => (
                "is not a semantic version: every selector that meets this device fails",
                "write MAJOR.MINOR.PATCH, for example 1.2.0, or publish it as a string",
            ),
            Self::Quantity => {
                let meant = crate::nearest::quantity_meant(text);
                let remedy = meant.map_or_else(
                    || {
                        "write a number with one of the suffixes k, M, G, T or Ki, Mi, Gi, Ti"
                            .to_owned()
                    },
                    |meant| format!("write {meant}"),
                );
                let message = format!(
                    "{shown} is not a quantity: every selector that meets this device fails"
                );
                return Some((message, remedy));
            }
        };
        Some((format!("{shown} {is_not}"), remedy.to_owned()))
    }

    fn holds(self, text: &str) -> bool {
        match self {
            Self::Label => is_label(text) && text.len() <= LONGEST_LABEL,
            Self::Subdomain => is_subdomain(text),
            Self::Driver => {
                text.len() <= LONGEST_DRIVER && is_subdomain(&text.to_ascii_lowercase())
            }
            Self::Pool => text.len() <= LONGEST_SUBDOMAIN && text.split('/').all(is_subdomain),
            Self::Attribute => match text.split_once('/') {
                Some(_) => Self::FullAttribute.holds(text),
                None => is_identifier(text),
            },
            Self::FullAttribute => text
                .split_once('/')
                .is_some_and(|(domain, id)| Self::Driver.holds(domain) && is_identifier(id)),
            Self::LabelKey => match text.split_once('/') {
                Some((domain, name)) => is_subdomain(domain) && is_label_text(name),
                None => is_label_text(text),
            },
            Self::LabelValue => is_label_text(text),
            Self::ExtendedResource => {
                text.contains('/')
                    && !text.contains("kubernetes.io/")
                    && !text.starts_with("requests.")
                    && Self::LabelKey.holds(&format!("requests.{text}"))
            }
            Self::Version => Version::parse(text).is_ok(),
            Self::Quantity => Quantity::parse(text).is_ok(),
        }
    }
}

/// The text in quotes, its beginning if it is long.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Of any length: parts of a subdomain are bounded by the whole alone.
fn is_label(name: &str) -> bool {
    let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    !name.is_empty() && name.bytes().all(inner) && !name.starts_with('-') && !name.ends_with('-')
}

fn is_subdomain(name: &str) -> bool {
    name.len() <= LONGEST_SUBDOMAIN && name.split('.').all(is_label)
}

fn is_identifier(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= LONGEST_ID
        && !id.starts_with(|c: char| c.is_ascii_digit())
        && id.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
}

fn is_label_text(name: &str) -> bool {
    let edge = |c: Option<u8>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    name.len() <= LONGEST_LABEL
        && edge(name.bytes().next())
        && edge(name.bytes().next_back())
        && name
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || [b'-', b'_', b'.'].contains(&c))
}
