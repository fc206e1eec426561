//! What an expression looks up in a device, for advice about it: names, and the literals that they are compared with.

use std::collections::BTreeMap;

use super::Program;
use super::node::{Index, Node, Select};
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
    /// Every use is within `has` or optional: that nobody publishes it is expected.
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
}

#[derive(Default)]
struct Found(BTreeMap<Reference, Usage>);

impl Found {
    /// Depth is that of an expression that compiled.
    fn node(&mut self, node: &Node, guarded: bool) {
        if let Some(reference) = reference(node) {
            return self.add(reference, guarded, None);
        }
        match node {
            Node::Const(_) | Node::Device | Node::Slot(_) | Node::UnknownType(_) => {}
            Node::Select(select) => self.node(&select.operand, guarded || select.optional),
            Node::Has(select) => match selected(select) {
                Some(reference) => self.add(reference, true, None),
                None => self.node(&select.operand, true),
            },
            Node::Index(index) => {
                self.node(&index.operand, guarded || index.optional);
                self.node(&index.index, guarded);
            }
            Node::Relative(inner) | Node::NotStrictlyFalse(inner) => self.node(inner, guarded),
            Node::And(sides) | Node::Or(sides) | Node::OrOptional(sides) | Node::OrValue(sides) => {
                sides.iter().for_each(|side| self.node(side, guarded));
            }
            Node::If(parts) => parts.iter().for_each(|part| self.node(part, guarded)),
            Node::Call(call) => {
                if call.name == "_==_" {
                    self.equality(&call.args, guarded);
                }
                call.args.iter().for_each(|arg| self.node(arg, guarded));
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
            Node::List(elements) => elements
                .iter()
                .for_each(|(node, _)| self.node(node, guarded)),
            Node::Map(entries) => entries.iter().for_each(|(key, value, _)| {
                self.node(key, guarded);
                self.node(value, guarded);
            }),
            Node::Let(binding) => {
                self.node(&binding.value, guarded);
                self.node(&binding.within, guarded);
            }
            Node::Fold(fold) => {
                let parts = [
                    &fold.range,
                    &fold.init,
                    &fold.condition,
                    &fold.step,
                    &fold.result,
                ];
                parts.into_iter().for_each(|part| self.node(part, guarded));
            }
            Node::Append(append) => self.node(&append.element, guarded),
            Node::Insert(insert) => insert.args.iter().for_each(|arg| self.node(arg, guarded)),
        }
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
        let first = !self.0.contains_key(&reference);
        let usage = self.0.entry(reference).or_default();
        usage.guarded = guarded && (first || usage.guarded);
        if let Some(wanted) = wanted
            && !usage.wanted.contains(&wanted)
        {
            usage.wanted.push(wanted);
        }
    }
}

/// `device.attributes["domain"].id`, `device.attributes["domain"]["id"]`, or without `id`.
fn reference(node: &Node) -> Option<Reference> {
    match node {
        Node::Select(select) if !select.optional => selected(select),
        Node::Index(index) if !index.optional => {
            if let Some((capacity, domain)) = domain(index) {
                let id = None;
                return Some(Reference {
                    capacity,
                    domain,
                    id,
                });
            }
            let Node::Index(inner) = &index.operand else {
                return None;
            };
            let (capacity, domain) = domain(inner)?;
            let id = Some(text(&index.index)?);
            Some(Reference {
                capacity,
                domain,
                id,
            })
        }
        _ => None,
    }
}

fn selected(select: &Select) -> Option<Reference> {
    let Node::Index(index) = &select.operand else {
        return None;
    };
    let (capacity, domain) = domain(index)?;
    let id = Some(select.field.to_string());
    Some(Reference {
        capacity,
        domain,
        id,
    })
}

fn domain(index: &Index) -> Option<(bool, String)> {
    let Node::Select(select) = &index.operand else {
        return None;
    };
    let capacity = match (&select.operand, &*select.field) {
        (Node::Device, "attributes") => false,
        (Node::Device, "capacity") => true,
        _ => return None,
    };
    Some((capacity, text(&index.index)?))
}

fn text(node: &Node) -> Option<String> {
    match node {
        Node::Const(Value::String(text)) => Some(text.to_string()),
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
