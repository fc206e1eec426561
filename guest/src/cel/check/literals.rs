//! Checks that cel-go makes on literals after the types are known: elements of one type, and templates of `format`.

use super::{Checker, Typed};
use crate::cel::functions::templates::{self, Piece};
use crate::cel::node::Node;
use crate::cel::types::Type;
use crate::cel::value::Value;

/// Parts that must have one type: the elements of a list, the keys or the values of a map.
pub(super) struct Pending {
    parts: Vec<(u64, Type)>,
}

/// A literal template with the list of its arguments.
pub(super) struct Template {
    id: u64,
    text: std::sync::Arc<str>,
    args: Vec<(u64, Type)>,
}

impl Checker<'_> {
    /// Remembers parts of a literal, unless they may be mixed.
    pub(super) fn must_agree(&mut self, parts: Vec<(u64, Type)>) {
        if parts.len() > 1 && self.in_format == 0 {
            self.literals.push(Pending { parts });
        }
    }

    /// Remembers a call of `format` whose template and list are literals.
    pub(super) fn remember_template(&mut self, id: u64, target: &Typed, args: Vec<(u64, Type)>) {
        if let Node::Const(Value::String(text)) = &target.node {
            self.templates.push(Template {
                id,
                text: text.clone(),
                args,
            });
        }
    }

    pub(super) fn validate_literals(&mut self) {
        for pending in std::mem::take(&mut self.literals) {
            self.validate_parts(&pending.parts);
        }
        for template in std::mem::take(&mut self.templates) {
            self.validate_template(&template);
        }
    }

    fn validate_parts(&mut self, parts: &[(u64, Type)]) {
        let Some((_, first)) = parts.first() else {
            return;
        };
        let first = self.types.resolve_final(first);
        for (id, t) in parts.iter().skip(1) {
            let t = self.types.resolve_final(t);
            if t != first {
                self.report(*id, format!("expected type '{first}' but found '{t}'"));
                return;
            }
        }
    }

    fn validate_template(&mut self, template: &Template) {
        let pieces = match templates::pieces(&template.text) {
            Ok(pieces) => pieces,
            Err(error) => return self.report(template.id, error),
        };
        let mut used = 0;
        for piece in pieces {
            let Piece::Clause(verb, _) = piece else {
                continue;
            };
            let Some((id, t)) = template.args.get(used) else {
                return self.report(template.id, format!("index {used} out of range"));
            };
            used += 1;
            let name = self.types.resolve_final(t).to_string();
            if !templates::clause_takes(verb, &name) {
                return self.report(*id, templates::clause_refusal(verb, &name));
            }
        }
        if template.args.len() > used {
            let given = template.args.len();
            let message = format!(
                "too many arguments supplied to string.format (expected {used}, got {given})"
            );
            self.report(template.id, message);
        }
    }
}
