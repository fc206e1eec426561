//! What a call costs, by cel-go's rules and, since 1.32, those of Kubernetes' libraries (spec section 10.5).

use super::value::Value;

/// How the cost of a function is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cost {
    /// The same whatever the arguments.
    Flat(u64),
    /// A tenth of the first argument.
    Traversal,
    /// A fifth of the first argument: read and write.
    TwoTraversals,
    /// A fifth of the result.
    Result,
    /// A tenth of the smaller argument.
    Smaller,
    /// As `Smaller`, and 1 for values of Kubernetes' types.
    Equality,
    /// `+`: a tenth of both for strings and bytes.
    Sum,
    /// Pattern matching.
    Pattern,
    /// `contains`.
    Substring,
    /// `in`: the size of a list.
    Membership,
    /// The elements of the first argument, nested ones too.
    Elements,
    /// `validate`.
    Format,
    /// `string` and `bytes` between each other.
    TextConversion,
    /// Address functions: `containsIP` and `containsCIDR`.
    Network { cidr: bool },
    /// The lists extension: one more than the size of the result, which is a new list.
    NewList,
    /// All pairs of two lists.
    Pairs { factor: u64 },
    /// `sort` and `distinct`: all pairs, compared twice, and a new list.
    Square,
}

/// The rule for a function. `strict`: library functions have costs of their own, which they do not in 1.31.
pub(crate) fn rule(function: &str, strict: bool) -> Cost {
    match function {
        "startsWith" | "endsWith" => Cost::Traversal,
        "_<_" | "_<=_" | "_>_" | "_>=_" => Cost::Smaller,
        "_==_" if strict => Cost::Equality,
        "_==_" | "_!=_" => Cost::Smaller,
        "_+_" => Cost::Sum,
        "matches" => Cost::Pattern,
        "contains" => Cost::Substring,
        "@in" => Cost::Membership,
        "string" | "bytes" => Cost::TextConversion,
        "strings.quote" | "format" => Cost::Traversal,
        "sets.contains" | "sets.intersects" => Cost::Pairs { factor: 1 },
        "sets.equivalent" => Cost::Pairs { factor: 2 },
        function if strict => library_rule(function),
        _ => Cost::Flat(1),
    }
}

fn library_rule(function: &str) -> Cost {
    match function {
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => Cost::Elements,
        "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR"
        | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver" => Cost::Traversal,
        "replace" | "split" | "ip.isCanonical" => Cost::TwoTraversals,
        "join" => Cost::Result,
        "find" | "findAll" => Cost::Pattern,
        "containsIP" => Cost::Network { cidr: false },
        "containsCIDR" => Cost::Network { cidr: true },
        "validate" => Cost::Format,
        "lists.range" | "slice" | "flatten" | "reverse" => Cost::NewList,
        "sort" | "distinct" | "@sortByAssociatedKeys" => Cost::Square,
        _ => Cost::Flat(1),
    }
}

/// The cost of a call.
pub(crate) fn of_call(rule: Cost, args: &[Value], result: &Value) -> u64 {
    let size = |i: usize| args.get(i).map_or(1, Value::size);
    match rule {
        Cost::Flat(cost) => cost,
        Cost::Traversal if matches!(args.first(), Some(Value::Cidr(_))) => 1,
        Cost::Traversal => tenth(size(0)),
        Cost::TwoTraversals => tenth(size(0) * 2),
        Cost::Result => tenth(result.size() * 2),
        Cost::Equality if is_kubernetes(args.first()) => 1,
        Cost::Smaller | Cost::Equality => tenth(size(0).min(size(1))),
        Cost::Sum if matches!(args.first(), Some(Value::String(_) | Value::Bytes(_))) => {
            tenth(size(0) + size(1))
        }
        Cost::Sum => 1,
        Cost::Pattern => tenth(size(0) + 1).saturating_mul(size(1).div_ceil(4)),
        Cost::Substring => tenth(size(0)) * tenth(size(1)),
        Cost::Membership if matches!(args.get(1), Some(Value::List(_))) => size(1),
        Cost::Membership => 1,
        Cost::Elements => args.first().map_or(0, elements),
        Cost::Format => match args.first() {
            Some(Value::Format(format)) => tenth(size(1) + 1) * format.regex_size.div_ceil(4),
            _ => 1,
        },
        Cost::TextConversion
            if matches!(args.first(), Some(Value::String(_) | Value::Bytes(_))) =>
        {
            text_conversion(args, result)
        }
        Cost::TextConversion => 1,
        Cost::Network { cidr } => {
            let parse = if matches!(args.get(1), Some(Value::String(_))) {
                tenth(size(1))
            } else {
                0
            };
            let mask = if cidr { tenth(size(0)) + 1 } else { 0 };
            tenth(size(0) * 2) + mask + parse
        }
        Cost::NewList => result.size() + 11,
        Cost::Pairs { factor } => {
            (size(0).saturating_mul(size(1)).saturating_mul(factor)).saturating_add(1)
        }
        Cost::Square => all_pairs(args.last()),
    }
}

/// Strings take a tenth longer to compare.
fn all_pairs(list: Option<&Value>) -> u64 {
    let Some(Value::List(list)) = list else {
        return 11;
    };
    let pairs = (list.len() as u64).saturating_mul(list.len() as u64);
    let texts = matches!(list.first(), Some(Value::String(_) | Value::Bytes(_)));
    let extra = if texts { pairs / 10 } else { 0 };
    pairs.saturating_mul(2).saturating_add(extra + 11)
}

/// Only between strings and bytes it takes longer for longer texts.
fn text_conversion(args: &[Value], result: &Value) -> u64 {
    match (args.first(), result) {
        (Some(Value::String(_)), Value::Bytes(_)) | (Some(Value::Bytes(_)), Value::String(_)) => {
            tenth(args.first().map_or(1, Value::size))
        }
        _ => 1,
    }
}

fn tenth(n: u64) -> u64 {
    n.div_ceil(10)
}

fn is_kubernetes(value: Option<&Value>) -> bool {
    matches!(
        value,
        Some(
            Value::Quantity(_)
                | Value::Semver(_)
                | Value::Ip(_)
                | Value::Cidr(_)
                | Value::Url(_)
                | Value::Format(_)
        )
    )
}

/// Elements of nested containers. Counts at most a cost limit's worth, since parts can be shared.
fn elements(value: &Value) -> u64 {
    let mut pending = vec![value];
    let (mut total, mut steps) = (0u64, 0u64);
    while let Some(next) = pending.pop() {
        steps += 1;
        if steps > super::budget::COST_LIMIT {
            return steps;
        }
        match next {
            Value::String(s) => total += s.len() as u64 / 10,
            Value::Bytes(b) => total += b.len() as u64 / 10,
            Value::List(list) => pending.extend(list.iter()),
            Value::Map(map) => {
                total += map.len() as u64;
                pending.extend(map.values());
            }
            _ => total += 1,
        }
    }
    total
}
