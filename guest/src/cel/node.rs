//! A checked expression in executable form: names resolved, literals made, constant parts folded.

use std::sync::Arc;

use super::cost::Cost;
use super::functions::Function;
use super::functions::regex::{Pattern, Use};
use super::value::{Key, Value};

/// A node of a program.
#[derive(Debug)]
pub(crate) enum Node {
    Const(Value),
    /// The variable `device`.
    Device,
    /// A variable of a comprehension or of `cel.bind`.
    Slot(usize),
    Select(Box<Select>),
    /// `has(a.b)`.
    Has(Box<Select>),
    Index(Box<Index>),
    /// Start of a chain of selections that is not a variable: cel-go charges it like one.
    Relative(Box<Node>),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    If(Box<[Node; 3]>),
    /// `true` unless the operand is false: what keeps a quantifier going over errors.
    NotStrictlyFalse(Box<Node>),
    Call(Box<Call>),
    /// `x in` a literal list: free of charge.
    InLiteral(Box<(Node, Value)>),
    /// `a.or(b)`.
    OrOptional(Box<[Node; 2]>),
    /// `a.orValue(b)`.
    OrValue(Box<[Node; 2]>),
    /// Elements, and whether each is optional.
    List(Vec<(Node, bool)>),
    /// Keys, values, and whether each is optional.
    Map(Vec<(Node, Node, bool)>),
    Let(Box<Let>),
    Fold(Box<Fold>),
    /// `accumulator + [element]`, in place.
    Append(Box<Append>),
    /// `cel.@mapInsert(accumulator, ...)`, in place.
    Insert(Box<Insert>),
    /// A struct literal: its types are known to the checker only.
    UnknownType(&'static str),
}

/// `operand.field` or `operand.?field`.
#[derive(Debug)]
pub(crate) struct Select {
    pub(crate) operand: Node,
    pub(crate) field: Arc<str>,
    pub(crate) key: Key,
    pub(crate) optional: bool,
}

/// `operand[index]` or `operand[?index]`.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) operand: Node,
    pub(crate) index: Node,
    pub(crate) optional: bool,
}

/// A function call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) function: Function,
    pub(crate) cost: Cost,
    pub(crate) args: Vec<Node>,
    /// A literal pattern, compiled.
    pub(crate) pattern: Option<(Use, Arc<Pattern>)>,
}

/// A variable for an expression.
#[derive(Debug)]
pub(crate) struct Let {
    pub(crate) slot: usize,
    pub(crate) value: Node,
    pub(crate) within: Node,
}

/// A comprehension.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) range: Node,
    pub(crate) variable: usize,
    pub(crate) variable2: Option<usize>,
    pub(crate) accumulator: usize,
    pub(crate) init: Node,
    pub(crate) condition: Node,
    pub(crate) step: Node,
    pub(crate) result: Node,
}

/// See [`Node::Append`].
#[derive(Debug)]
pub(crate) struct Append {
    pub(crate) slot: usize,
    pub(crate) element: Node,
}

/// See [`Node::Insert`].
#[derive(Debug)]
pub(crate) struct Insert {
    pub(crate) slot: usize,
    /// A map, or key and value.
    pub(crate) args: Vec<Node>,
}

impl Node {
    /// Calls for each node directly below, in the order in which they are written.
    pub(crate) fn each_child<'n>(&'n self, call: &mut dyn FnMut(&'n Node)) {
        match self {
            Node::Const(_) | Node::Device | Node::Slot(_) | Node::UnknownType(_) => {}
            Node::Select(select) | Node::Has(select) => call(&select.operand),
            Node::Index(index) => [&index.operand, &index.index].into_iter().for_each(call),
            Node::Relative(inner) | Node::NotStrictlyFalse(inner) => call(inner),
            Node::And(sides) | Node::Or(sides) | Node::OrOptional(sides) | Node::OrValue(sides) => {
                sides.iter().for_each(call);
            }
            Node::If(parts) => parts.iter().for_each(call),
            Node::Call(function) => function.args.iter().for_each(call),
            Node::InLiteral(membership) => call(&membership.0),
            Node::List(elements) => elements.iter().for_each(|(element, _)| call(element)),
            Node::Map(entries) => {
                let nodes = entries.iter().flat_map(|(key, value, _)| [key, value]);
                nodes.for_each(call);
            }
            Node::Let(binding) => [&binding.value, &binding.within].into_iter().for_each(call),
            Node::Fold(fold) => {
                let parts = [
                    &fold.range,
                    &fold.init,
                    &fold.condition,
                    &fold.step,
                    &fold.result,
                ];
                parts.into_iter().for_each(call);
            }
            Node::Append(append) => call(&append.element),
            Node::Insert(insert) => insert.args.iter().for_each(call),
        }
    }

    /// Whether cel-go evaluates it as a chain of selections on a variable or value.
    pub(crate) fn is_attribute(&self) -> bool {
        matches!(
            self,
            Node::Device | Node::Slot(_) | Node::Select(_) | Node::Index(_)
        )
    }

    /// The node as start of a chain of selections.
    pub(crate) fn into_chain(self) -> Node {
        if self.is_attribute() || matches!(self, Node::If(_)) {
            self
        } else {
            Node::Relative(Box::new(self))
        }
    }

    /// The literal of a conjunct `device.driver == "literal"`, if the expression is false for all other drivers. Terms
    /// before that conjunct must not be able to exhaust the budget, as that would be an error.
    pub(crate) fn required_driver(&self) -> Option<&str> {
        match self {
            Node::And(sides) => {
                let [left, right] = &**sides;
                left.required_driver().or_else(|| {
                    if left.is_cheap() {
                        right.required_driver()
                    } else {
                        None
                    }
                })
            }
            Node::Call(call) if call.name == "_==_" => match call.args.as_slice() {
                [driver, Node::Const(Value::String(name))]
                | [Node::Const(Value::String(name)), driver]
                    if driver.is_driver() =>
                {
                    Some(name)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn is_driver(&self) -> bool {
        matches!(self, Node::Select(select)
            if matches!(select.operand, Node::Device) && &*select.field == "driver" && !select.optional)
    }

    /// Whether evaluation surely stays far below every limit: no loops, nothing that makes values grow, and
    /// nothing that ends it otherwise, as a version in a literal list does.
    fn is_cheap(&self) -> bool {
        match self {
            Node::Const(_) | Node::Device | Node::Slot(_) => true,
            Node::Select(select) | Node::Has(select) => select.operand.is_cheap(),
            Node::Index(index) => index.operand.is_cheap() && index.index.is_cheap(),
            Node::Relative(inner) | Node::NotStrictlyFalse(inner) => inner.is_cheap(),
            Node::And(sides) | Node::Or(sides) | Node::OrValue(sides) | Node::OrOptional(sides) => {
                sides.iter().all(Node::is_cheap)
            }
            Node::If(parts) => parts.iter().all(Node::is_cheap),
            Node::Call(call) => {
                is_cheap_function(call.name) && call.args.iter().all(Node::is_cheap)
            }
            _ => false,
        }
    }
}

fn is_cheap_function(name: &str) -> bool {
    matches!(
        name,
        "!_" | "_==_"
            | "_!=_"
            | "_<_"
            | "_<=_"
            | "_>_"
            | "_>=_"
            | "-_"
            | "startsWith"
            | "endsWith"
            | "lowerAscii"
            | "upperAscii"
            | "quantity"
            | "semver"
            | "compareTo"
            | "isGreaterThan"
            | "isLessThan"
            | "major"
            | "minor"
            | "patch"
            | "asInteger"
            | "isInteger"
            | "hasValue"
            | "value"
            | "dyn"
            | "type"
    )
}
