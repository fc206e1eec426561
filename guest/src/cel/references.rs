//! What an expression looks up in a device, for advice about it: names, and the literals that they are compared with.

use std::collections::{BTreeMap, BTreeSet};

use super::Program;
use super::node::{Node, Select};
use super::value::Value;

/// An attribute or capacity that an expression names, or a domain as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// Of `capacity` instead of `attributes`.
    pub capacity: bool,
    /// Domain.
    pub domain: String,
    /// Name within it; `None`: the domain itself is used, for example with `in`.
    pub id: Option<String>,
}

/// How an expression uses a reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Some use is within `has` or optional: that nobody publishes it is expected.
    pub guarded: bool,
    /// Texts that it is compared with by `==` or `in`, as CEL writes them.
    pub wanted: Vec<String>,
}

impl Program {
    /// Everything that the expression looks up in the device under names that it spells out.
    pub fn references(&self) -> BTreeMap<Reference, Usage> {
        let mut found = Found::default();
        found.node(&self.node, false);
        found.0
    }

    /// Texts that the driver of the device is compared with by `==` or `in`.
    pub fn drivers(&self) -> BTreeSet<&str> {
        let mut drivers = BTreeSet::new();
        collect_drivers(&self.node, &mut drivers);
        drivers
    }
}

/// Depth is that of an expression that compiled.
fn collect_drivers<'n>(node: &'n Node, drivers: &mut BTreeSet<&'n str>) {
    match node {
        Node::Call(call) if call.name == "_==_" => {
            if let [one, other] = call.args.as_slice() {
                for (named, constant) in [(one, other), (other, one)] {
                    if let (true, Node::Const(Value::String(text))) = (is_driver(named), constant) {
                        drivers.insert(text);
                    }
                }
            }
        }
        Node::InLiteral(membership) => {
            let (value, list) = &**membership;
            if let (true, Value::List(list)) = (is_driver(value), list) {
                drivers.extend(list.iter().filter_map(|value| match value {
                    Value::String(text) => Some(&**text),
                    _ => None,
                }));
            }
        }
        _ => {}
    }
    node.each_child(&mut |child| collect_drivers(child, drivers));
}

/// `device.driver`.
fn is_driver(node: &Node) -> bool {
    matches!(node, Node::Select(select)
        if matches!(select.operand, Node::Device) && &*select.field == "driver")
}

#[derive(Default)]
struct Found(BTreeMap<Reference, Usage>);

impl Found {
    /// Depth is that of an expression that compiled.
    fn node(&mut self, node: &Node, guarded: bool) {
        if let Node::Select(select) = node
            && let Some((reference, optional)) = selected(select)
        {
            return self.add(reference, guarded || optional, None);
        }
        match node {
            Node::Select(select) => self.node(&select.operand, guarded || select.optional),
            Node::Has(select) => match selected(select) {
                Some((reference, _)) => self.add(reference, true, None),
                None => self.node(&select.operand, true),
            },
            Node::Index(index) => {
                self.node(&index.operand, guarded || index.optional);
                self.node(&index.index, guarded);
            }
            Node::Call(call) => {
                if call.name == "_==_" {
                    self.equality(&call.args, guarded);
                }
                self.children(node, guarded);
            }
            Node::InLiteral(membership) => {
                let (value, list) = &**membership;
                if let (Some(reference), Value::List(list)) = (reference(value), list) {
                    for value in list.iter() {
                        self.add(reference.clone(), guarded, literal(value));
                    }
                }
                self.node(value, guarded);
            }
            _ => self.children(node, guarded),
        }
    }

    fn children(&mut self, node: &Node, guarded: bool) {
        node.each_child(&mut |child| self.node(child, guarded));
    }

    fn equality(&mut self, args: &[Node], guarded: bool) {
        if let [one, other] = args {
            for (named, constant) in [(one, other), (other, one)] {
                if let (Some(reference), Node::Const(value)) = (reference(named), constant) {
                    self.add(reference, guarded, literal(value));
                }
            }
        }
    }

    fn add(&mut self, reference: Reference, guarded: bool, wanted: Option<String>) {
        let usage = self.0.entry(reference).or_default();
        usage.guarded |= guarded;
        if let Some(wanted) = wanted
            && !usage.wanted.contains(&wanted)
        {
            usage.wanted.push(wanted);
        }
    }
}

/// `device.attributes["domain"].id`, or without `id`.
fn reference(node: &Node) -> Option<Reference> {
    match node {
        Node::Select(select) => selected(select).map(|(reference, _)| reference),
        _ => None,
    }
}

/// The same, and whether it is optional. An index that is a literal text is a selection too.
fn selected(select: &Select) -> Option<(Reference, bool)> {
    let field = select.field.to_string();
    if let Some(capacity) = map(&select.operand) {
        let (domain, id) = (field, None);
        return Some((
            Reference {
                capacity,
                domain,
                id,
            },
            select.optional,
        ));
    }
    let Node::Select(inner) = &select.operand else {
        return None;
    };
    let capacity = map(&inner.operand)?;
    let (domain, id) = (inner.field.to_string(), Some(field));
    Some((
        Reference {
            capacity,
            domain,
            id,
        },
        select.optional || inner.optional,
    ))
}

/// Whether it is `device.capacity`, or `device.attributes`.
fn map(node: &Node) -> Option<bool> {
    match node {
        Node::Select(select) if matches!(select.operand, Node::Device) => match &*select.field {
            "attributes" => Some(false),
            "capacity" => Some(true),
            _ => None,
        },
        _ => None,
    }
}

/// Values that are worth comparing with what is published.
fn literal(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(format!("{text:?}")),
        Value::Int(int) => Some(int.to_string()),
        Value::Bool(bool) => Some(bool.to_string()),
        _ => None,
    }
}
