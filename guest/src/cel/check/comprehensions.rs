//! Comprehensions: what the macros expand to.

use cel_interpreter::common::ast::{CallExpr, ComprehensionExpr, Expr, IdedExpr, operators};

use super::{Checker, Typed, Variable};
use crate::cel::macros::MAP_INSERT;
use crate::cel::node::{Append, Fold, Insert, Let, Node};
use crate::cel::types::Type;

impl Checker<'_> {
    pub(super) fn comprehension(&mut self, c: &ComprehensionExpr) -> Typed {
        let range = self.expr(&c.iter_range);
        let init = self.expr(&c.accu_init);
        if is_binding(c) {
            let slot = self.enter(&c.accu_var, init.t);
            let result = self.expr(&c.result);
            self.leave(1);
            let binding = Let {
                slot,
                value: init.node,
                within: result.node,
            };
            return Typed {
                t: self.types.resolve(&result.t),
                node: Node::Let(Box::new(binding)),
            };
        }
        let (first, second) = self.loop_types(c.iter_range.id, &range.t, c.iter_var2.is_some());
        let accumulator = self.enter(&c.accu_var, init.t.clone());
        let variable = self.enter(&c.iter_var, first);
        let variable2 = c.iter_var2.as_ref().map(|name| self.enter(name, second));
        let condition = self.expr(&c.loop_cond);
        self.assert_type(&c.loop_cond, &condition.t, &Type::Bool);
        let step = self.step(c, accumulator);
        self.assert_type(&c.loop_step, &step.t, &init.t);
        self.leave(if variable2.is_some() { 2 } else { 1 });
        let result = self.expr(&c.result);
        self.leave(1);
        let fold = Fold {
            range: range.node,
            variable,
            variable2,
            accumulator,
            init: init.node,
            condition: condition.node,
            step: step.node,
            result: result.node,
        };
        Typed {
            t: self.types.resolve(&result.t),
            node: Node::Fold(Box::new(fold)),
        }
    }

    fn enter(&mut self, name: &str, t: Type) -> usize {
        let slot = self.variables.len();
        self.variables.push(Variable {
            name: name.to_string(),
            t,
            slot,
        });
        self.most_slots = self.most_slots.max(slot + 1);
        slot
    }

    fn leave(&mut self, count: usize) {
        self.variables
            .truncate(self.variables.len().saturating_sub(count));
    }

    /// Types of the loop variables.
    fn loop_types(&mut self, id: u64, range: &Type, two: bool) -> (Type, Type) {
        match self.types.resolve(range) {
            Type::List(element) if two => (Type::Int, Type::clone(&element)),
            Type::List(element) => (Type::clone(&element), Type::Error),
            Type::Map(kv) => (kv.0.clone(), kv.1.clone()),
            range @ (Type::Dyn | Type::Any | Type::Error | Type::Param(_)) => {
                self.types.assignable(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.report(id, message);
                (Type::Error, Type::Error)
            }
        }
    }

    fn assert_type(&mut self, e: &IdedExpr, t: &Type, expected: &Type) {
        if !self.types.assignable(expected, t) {
            let (expected, found) = (
                self.types.resolve_final(expected),
                self.types.resolve_final(t),
            );
            self.report(
                e.id,
                format!("expected type '{expected}' but found '{found}'"),
            );
        }
    }

    /// The step; growing the accumulator is done in place.
    fn step(&mut self, c: &ComprehensionExpr, accumulator: usize) -> Typed {
        let step = self.expr(&c.loop_step);
        Typed {
            t: step.t,
            node: in_place(step.node, &c.loop_step, &c.accu_var, accumulator),
        }
    }
}

/// `cel.bind` and its like: a comprehension over nothing.
fn is_binding(c: &ComprehensionExpr) -> bool {
    matches!(&c.iter_range.expr, Expr::List(list) if list.elements.is_empty())
        && c.iter_var.starts_with('#')
}

fn is_accumulator(e: &IdedExpr, name: &str) -> bool {
    matches!(&e.expr, Expr::Ident(ident) if ident == name)
}

/// Rewrites `accu + [x]` and `cel.@mapInsert(accu, ...)`, also under a filter. Nothing but the step can see the
/// accumulator, because its name cannot be written.
fn in_place(node: Node, e: &IdedExpr, accumulator: &str, slot: usize) -> Node {
    let Expr::Call(call) = &e.expr else {
        return node;
    };
    let grows = |call: &CallExpr| {
        call.args
            .first()
            .is_some_and(|arg| is_accumulator(arg, accumulator))
    };
    match node {
        Node::If(parts) if call.func_name == operators::CONDITIONAL => {
            let [condition, yes, no] = *parts;
            let yes = match call.args.get(1) {
                Some(e) => in_place(yes, e, accumulator, slot),
                None => yes,
            };
            Node::If(Box::new([condition, yes, no]))
        }
        Node::Call(mut made) if call.func_name == operators::ADD && grows(call) => {
            match made.args.as_mut_slice() {
                [_, Node::List(elements)]
                    if elements.len() == 1 && elements.iter().all(|(_, optional)| !optional) =>
                {
                    match elements.pop() {
                        Some((element, _)) => Node::Append(Box::new(Append { slot, element })),
                        None => Node::Call(made),
                    }
                }
                [_, Node::Const(crate::cel::value::Value::List(list))] if list.len() == 1 => {
                    match list.first() {
                        Some(element) => Node::Append(Box::new(Append {
                            slot,
                            element: Node::Const(element.clone()),
                        })),
                        None => Node::Call(made),
                    }
                }
                _ => Node::Call(made),
            }
        }
        Node::Call(mut made) if call.func_name == MAP_INSERT && grows(call) => {
            made.args.remove(0);
            Node::Insert(Box::new(Insert {
                slot,
                args: made.args,
            }))
        }
        other => other,
    }
}
