//! What of the device a program looks at.

use std::fmt;
use std::sync::Arc;

use crate::api::{Attribute, Device};
use crate::cel::node::Node;
use crate::cel::value::Value;
use crate::go_quote::quoted;

/// Nodes of a program that are looked at at most.
const MOST_NODES: usize = 4_096;
/// Accesses that are told at most.
const MOST_ACCESSES: usize = 16;

/// Something of a device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// Of what kind.
    pub field: Field,
    /// None: that of the device's own driver (`device.attributes[device.driver]`).
    pub domain: Option<Arc<str>>,
    /// Empty for the driver.
    pub name: Arc<str>,
}

/// A field of `device`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// `driver`
    Driver,
    /// `attributes`
    Attribute,
    /// `capacity`
    Capacity,
}

/// What is found in a device.
pub enum Seen<'a> {
    /// The driver's name.
    Driver(&'a str),
    /// An attribute.
    Attribute(&'a Attribute),
    /// A quantity as written.
    Capacity(&'a str),
}

impl Access {
    /// What is there.
    pub fn find<'a>(&self, driver: &'a str, device: &'a Device) -> Option<Seen<'a>> {
        match self.field {
            Field::Driver => Some(Seen::Driver(driver)),
            Field::Attribute => self.of(driver, &device.attributes).map(Seen::Attribute),
            Field::Capacity => self
                .of(driver, &device.capacity)
                .map(|text| Seen::Capacity(text)),
        }
    }

    /// The driver is the domain of names without one; `driver/name` wins over a bare `name`.
    fn of<'a, T>(&self, driver: &str, named: &'a [(Arc<str>, T)]) -> Option<&'a T> {
        let domain = self.domain.as_deref().unwrap_or(driver);
        let qualified = |name: &str| name.split_once('/') == Some((domain, &*self.name));
        let bare = |name: &str| *domain == *driver && *name == *self.name;
        let mut all = named.iter();
        let found = all.find(|(name, _)| qualified(name));
        let mut all = named.iter();
        let found = found.or_else(|| all.find(|(name, _)| bare(name)));
        found.map(|(_, value)| value)
    }

    /// The same for devices of one driver.
    #[must_use]
    pub fn within(&self, driver: &Arc<str>) -> Self {
        Self {
            domain: Some(self.domain.as_ref().unwrap_or(driver).clone()),
            ..self.clone()
        }
    }

    /// The same access, if it is there, as an expression that is true then and never fails.
    pub fn guard(&self) -> Option<String> {
        let map = self.map()?;
        Some(match is_identifier(&self.name) {
            true => format!("has({map}.{})", self.name),
            false => format!("{} in {map}", quoted(&self.name)),
        })
    }

    fn map(&self) -> Option<String> {
        let field = match self.field {
            Field::Driver => return None,
            Field::Attribute => "attributes",
            Field::Capacity => "capacity",
        };
        Some(match &self.domain {
            Some(domain) => format!("device.{field}[{}]", quoted(domain)),
            None => format!("device.{field}[device.driver]"),
        })
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.map() {
            None => f.write_str("device.driver"),
            Some(map) if is_identifier(&self.name) => write!(f, "{map}.{}", self.name),
            Some(map) => write!(f, "{map}[{}]", quoted(&self.name)),
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !["in", "null", "true", "false"].contains(&name)
}

/// The accesses of a program in order, each once, and the literals that some are compared with.
pub(super) fn of(node: &Node) -> (Vec<Access>, Vec<(Access, String)>) {
    let mut walk = Walk {
        bound: Vec::new(),
        left: MOST_NODES,
        accesses: Vec::new(),
        wanted: Vec::new(),
    };
    walk.visit(node, true);
    (walk.accesses, walk.wanted)
}

/// As far as a chain of selections on `device` is known.
enum Path {
    Device,
    Domains(Field),
    Domain(Field, Option<Arc<str>>),
    Whole(Access),
}

struct Walk<'n> {
    /// Variables of `cel.bind`.
    bound: Vec<(usize, &'n Node)>,
    left: usize,
    accesses: Vec<Access>,
    wanted: Vec<(Access, String)>,
}

impl<'n> Walk<'n> {
    /// `is_wanted`: the whole is true if this is.
    fn visit(&mut self, node: &'n Node, is_wanted: bool) {
        let Some(left) = self.left.checked_sub(1) else {
            return;
        };
        self.left = left;
        if let Some(Path::Whole(access)) = self.path(node) {
            return self.note(access);
        }
        match node {
            Node::Select(select) | Node::Has(select) => {
                let of_domain = self.path(&select.operand);
                match of_domain.and_then(|path| step(path, &select.field)) {
                    Some(Path::Whole(access)) => self.note(access),
                    _ => self.visit(&select.operand, false),
                }
            }
            Node::And(sides) | Node::Or(sides) => {
                sides.iter().for_each(|side| self.visit(side, is_wanted));
            }
            Node::Call(call) => {
                if is_wanted {
                    self.compare(call.name, &call.args);
                }
                if let ("@in", [Node::Const(Value::String(name)), map]) = (call.name, &*call.args)
                    && let Some(path @ Path::Domain(..)) = self.path(map)
                    && let Some(Path::Whole(access)) = step(path, name)
                {
                    return self.note(access);
                }
                self.visit_children(node);
            }
            Node::InLiteral(membership) => {
                let (value, list) = &**membership;
                if is_wanted {
                    self.want(value, list);
                }
                self.visit(value, false);
            }
            Node::Let(binding) => {
                if self.path(&binding.value).is_none() {
                    self.visit(&binding.value, false);
                }
                self.bound.push((binding.slot, &binding.value));
                self.visit(&binding.within, is_wanted);
                self.bound.pop();
            }
            _ => self.visit_children(node),
        }
    }

    fn visit_children(&mut self, node: &'n Node) {
        node.each_child(&mut |child| self.visit(child, false));
    }

    fn path(&self, node: &Node) -> Option<Path> {
        self.path_within(node, self.bound.len())
    }

    /// `known`: how many of the variables are in scope.
    fn path_within(&self, node: &Node, known: usize) -> Option<Path> {
        match node {
            Node::Device => Some(Path::Device),
            Node::Relative(inner) => self.path_within(inner, known),
            Node::Slot(slot) => {
                let known = self.bound[..known]
                    .iter()
                    .rposition(|(bound, _)| bound == slot)?;
                self.path_within(self.bound[known].1, known)
            }
            Node::Select(select) => step(self.path_within(&select.operand, known)?, &select.field),
            Node::Index(index) => {
                let of = self.path_within(&index.operand, known)?;
                match (&index.index, of) {
                    (Node::Const(Value::String(name)), of) => step(of, name),
                    (by, Path::Domains(field)) => match self.path_within(by, known)? {
                        Path::Whole(access) if access.field == Field::Driver => {
                            Some(Path::Domain(field, None))
                        }
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn note(&mut self, access: Access) {
        if self.accesses.len() < MOST_ACCESSES && !self.accesses.contains(&access) {
            self.accesses.push(access);
        }
    }

    fn compare(&mut self, operator: &str, args: &'n [Node]) {
        match (operator, args) {
            ("_==_", [node, Node::Const(value)] | [Node::Const(value), node]) => {
                self.want_one(node, value);
            }
            ("@in", [node, Node::Const(list)]) => self.want(node, list),
            _ => {}
        }
    }

    fn want(&mut self, node: &Node, list: &Value) {
        if let Value::List(values) = list {
            for value in values.iter().take(MOST_ACCESSES) {
                self.want_one(node, value);
            }
        }
    }

    fn want_one(&mut self, node: &Node, value: &Value) {
        let text = match value {
            Value::String(text) => quoted(text),
            Value::Int(number) => number.to_string(),
            Value::Uint(number) => number.to_string(),
            Value::Bool(value) => value.to_string(),
            _ => return,
        };
        if let Some(Path::Whole(access)) = self.path(node)
            && self.wanted.len() < MOST_ACCESSES
        {
            self.wanted.push((access, text));
        }
    }
}

/// A selection more.
fn step(path: Path, name: &Arc<str>) -> Option<Path> {
    match path {
        Path::Device => match &**name {
            "driver" => Some(Path::Whole(Access {
                field: Field::Driver,
                domain: None,
                name: Arc::from(""),
            })),
            "attributes" => Some(Path::Domains(Field::Attribute)),
            "capacity" => Some(Path::Domains(Field::Capacity)),
            _ => None,
        },
        Path::Domains(field) => Some(Path::Domain(field, Some(name.clone()))),
        Path::Domain(field, domain) => Some(Path::Whole(Access {
            field,
            domain,
            name: name.clone(),
        })),
        // What a value has within is told as the value.
        Path::Whole(_) => None,
    }
}
