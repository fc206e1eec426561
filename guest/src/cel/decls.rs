//! Declarations: every function of the dialect with its overloads, by the Kubernetes version that has it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::types::Type;

mod tables;

use tables::*;

/// One signature of a function.
#[derive(Clone, Debug)]
pub(crate) struct Overload {
    /// Called on its first parameter.
    pub(crate) member: bool,
    pub(crate) params: Vec<Type>,
    pub(crate) result: Type,
    /// Number of type parameters.
    pub(crate) type_params: u32,
}

/// All functions by name; namespaced ones by their full name.
pub(crate) type Declarations = BTreeMap<&'static str, Vec<Overload>>;

/// A function and its signatures, as `(params) result` or `receiver.(params) result`. Upper-case letters are type
/// parameters.
type Row = (&'static str, &'static [&'static str]);

/// The declarations of a Kubernetes minor version.
pub(crate) fn declarations(minor: u32, list_type_attributes: bool) -> Declarations {
    let mut all = Declarations::new();
    let mut add = |rows: &[Row]| {
        for (name, signatures) in rows {
            all.entry(name)
                .or_default()
                .extend(signatures.iter().map(|s| parse_overload(s)));
        }
    };
    for rows in [
        OPERATORS,
        STANDARD,
        TIME,
        OPTIONAL,
        STRINGS,
        SETS_AND_REGEX,
        LISTS,
        NET,
        URL_AND_FORMAT,
        QUANTITY,
        SEMVER,
    ] {
        add(rows);
    }
    if minor >= 32 {
        add(TWO_VARIABLES);
    }
    if minor >= 33 {
        add(SEMVER_NORMALIZED);
    }
    if minor >= 34 {
        add(LISTS_V3);
    }
    if list_type_attributes {
        add(INCLUDES);
    }
    all
}

/// Reads a signature of the tables.
fn parse_overload(signature: &str) -> Overload {
    let open = receiver_end(signature);
    let (receiver, rest) = signature.split_at(open);
    let receiver = receiver.strip_suffix('.').unwrap_or(receiver);
    let close = matching_parenthesis(rest);
    let (params, result) = (&rest[1..close], rest[close + 1..].trim());
    let member = !receiver.is_empty();
    let all: Vec<Type> = [receiver]
        .into_iter()
        .filter(|r| !r.is_empty())
        .chain(split_arguments(params))
        .map(parse_type)
        .collect();
    let result = parse_type(result);
    let type_params = 2 * u32::from(std::iter::once(&result).chain(&all).any(Type::has_params));
    Overload {
        member,
        params: all,
        result,
        type_params,
    }
}

/// Where the parameter list starts: the parenthesis after the receiver's dot, or the first character.
fn receiver_end(signature: &str) -> usize {
    if signature.starts_with('(') {
        0
    } else {
        signature.find(".(").map_or(0, |dot| dot + 1)
    }
}

fn matching_parenthesis(text: &str) -> usize {
    let mut depth = 0;
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return i,
            b')' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

fn split_arguments(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    if start < text.len() {
        parts.push(text[start..].trim());
    }
    parts
}

fn parse_type(text: &str) -> Type {
    if let Some((name, rest)) = text.split_once('(') {
        let inner = split_arguments(rest.strip_suffix(')').unwrap_or(rest));
        let mut inner = inner.into_iter().map(parse_type);
        let first = inner.next().unwrap_or(Type::Dyn);
        return match name {
            "list" => Type::list(first),
            "optional" => Type::optional(first),
            "type" => Type::Meta(Arc::new(first)),
            _ => Type::map(first, inner.next().unwrap_or(Type::Dyn)),
        };
    }
    match text {
        "A" => Type::Param(0),
        "B" => Type::Param(1),
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        "kubernetes.Quantity" => Type::Object("kubernetes.Quantity"),
        "kubernetes.Semver" => Type::Object("kubernetes.Semver"),
        "kubernetes.URL" => Type::Object("kubernetes.URL"),
        "kubernetes.NamedFormat" => Type::Object("kubernetes.NamedFormat"),
        "net.IP" => Type::Object("net.IP"),
        "net.CIDR" => Type::Object("net.CIDR"),
        _ => Type::Dyn,
    }
}
