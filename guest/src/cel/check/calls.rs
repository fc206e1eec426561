//! Calls: overload resolution, control flow, folding, and validation of literal arguments.

use std::sync::Arc;

use cel_interpreter::common::ast::{CallExpr, Expr, IdedExpr, operators};

use super::{Checker, Typed, new_select};
use crate::cel::cost;
use crate::cel::eval::Run;
use crate::cel::functions::{self, convert, regex};
use crate::cel::node::{Call, Index, Node};
use crate::cel::types::Type;
use crate::cel::value::{Fail, Value};
use crate::cel::{device, time};

/// A call taken apart: what is called and with what.
struct Site<'e> {
    id: u64,
    /// The declared name, with its namespace.
    name: &'static str,
    target: Option<&'e IdedExpr>,
    args: &'e [IdedExpr],
}

impl Checker<'_> {
    pub(super) fn call(&mut self, id: u64, call: &CallExpr) -> Typed {
        if call.func_name == operators::OPT_SELECT {
            return self.optional_select(id, call);
        }
        let counted = usize::from(call.func_name == "format");
        self.in_format += counted;
        let typed = self.plain_call(id, call);
        self.in_format -= counted;
        typed
    }

    fn plain_call(&mut self, id: u64, call: &CallExpr) -> Typed {
        let function = call.func_name.strip_prefix('.').unwrap_or(&call.func_name);
        let target = call.target.as_deref();
        // A target can be the namespace of a global function.
        let qualified = target
            .and_then(|t| self.qualified_name(t))
            .map(|namespace| format!("{namespace}.{function}"));
        let declarations = self.rules.declarations;
        let (entry, target) =
            match qualified.and_then(|name| declarations.get_key_value(name.as_str())) {
                Some(entry) => (Some(entry), None),
                None => (declarations.get_key_value(function), target),
            };
        let args: Vec<Typed> = call.args.iter().map(|arg| self.expr(arg)).collect();
        let receiver = target.map(|t| self.expr(t));
        let Some((name, overloads)) = entry else {
            return self.undeclared(id, function);
        };
        let member = receiver.is_some();
        let all: Vec<Typed> = receiver.into_iter().chain(args).collect();
        let types: Vec<Type> = all.iter().map(|typed| typed.t.clone()).collect();
        let site = Site {
            id,
            name,
            target,
            args: &call.args,
        };
        let Some(result) = self.resolve_overload(&site, overloads, &types, member) else {
            return Typed {
                t: Type::Error,
                node: Node::Const(Value::Null),
            };
        };
        self.validate_arguments(&site, &all);
        let node = self.node(
            &site,
            all.into_iter().map(|typed| typed.node).collect(),
            &types,
        );
        Typed { t: result, node }
    }

    /// The result type by the overloads that fit; an error is reported if none does.
    fn resolve_overload(
        &mut self,
        site: &Site<'_>,
        overloads: &[crate::cel::decls::Overload],
        types: &[Type],
        member: bool,
    ) -> Option<Type> {
        if matches!(site.name, "_&&_" | "_||_") {
            return self.logic_operands(site, types);
        }
        let mut result: Option<Type> = None;
        for overload in overloads
            .iter()
            .filter(|o| o.member == member && o.params.len() == types.len())
        {
            let base = if overload.type_params > 0 {
                self.types.fresh(overload.type_params)
            } else {
                0
            };
            let params: Vec<Type> = overload
                .params
                .iter()
                .map(|p| p.instantiate(base))
                .collect();
            if !self.types.assignable_all(types, &params) {
                continue;
            }
            let own = self.types.resolve(&overload.result.instantiate(base));
            result = Some(match result {
                None => own,
                Some(former) if former.is_dyn() || former == own => former,
                Some(_) => Type::Dyn,
            });
        }
        if result.is_none() {
            let names: Vec<String> = types
                .iter()
                .map(|t| self.types.resolve_final(t).to_string())
                .collect();
            let signature = match names.split_first() {
                Some((receiver, rest)) if member => format!("{receiver}.({})", rest.join(", ")),
                _ => format!("({})", names.join(", ")),
            };
            let name = site.name;
            self.report(
                site.id,
                format!("found no matching overload for '{name}' applied to '{signature}'"),
            );
        }
        result
    }

    /// `&&` and `||` say which operand is wrong.
    fn logic_operands(&mut self, site: &Site<'_>, types: &[Type]) -> Option<Type> {
        let mut good = true;
        for (arg, t) in site.args.iter().zip(types) {
            if !self.types.assignable(t, &Type::Bool) {
                let t = self.types.resolve_final(t);
                self.report(arg.id, format!("expected type 'bool' but found '{t}'"));
                good = false;
            }
        }
        good.then_some(Type::Bool)
    }

    fn optional_select(&mut self, id: u64, call: &CallExpr) -> Typed {
        let [operand, field] = call.args.as_slice() else {
            return self.failed(id, "unsupported optional field selection".to_string());
        };
        let operand = self.expr(operand);
        let Expr::Literal(cel_interpreter::common::ast::LiteralValue::String(field)) = &field.expr
        else {
            return self.failed(id, "unsupported optional field selection".to_string());
        };
        let t = self.field_type(id, &operand.t, field.inner(), true);
        let t = self.types.resolve(&t);
        Typed {
            t,
            node: Node::Select(Box::new(new_select(operand.node, field.inner(), true))),
        }
    }

    /// Literal arguments that are wrong whatever the device: durations, timestamps, patterns, templates.
    fn validate_arguments(&mut self, site: &Site<'_>, all: &[Typed]) {
        // As upstream, `matches` is looked at in its first argument, even where that is the text.
        if let Some(arg) = site.args.first()
            && let Some(literal) = all.get(usize::from(site.target.is_some()))
            && matches!(arg.expr, Expr::Literal(_))
            && let Node::Const(Value::String(text)) = &literal.node
        {
            let valid = match site.name {
                "duration" => time::parse_duration(text).is_some(),
                "timestamp" => time::Timestamp::parse(text).is_some(),
                "matches" => self.pattern(text).is_ok(),
                _ => true,
            };
            if !valid {
                self.report(arg.id, format!("invalid {} argument", site.name));
            }
        }
        if site.name == "format"
            && let (Some(target), Some(list)) = (all.first(), site.args.first())
            && let Some(parts) = self.format_lists.remove(&list.id)
        {
            self.remember_template(site.id, target, parts);
        }
    }

    /// The executable form of a well-typed call.
    fn node(&mut self, site: &Site<'_>, mut args: Vec<Node>, types: &[Type]) -> Node {
        args = match (site.name, <[Node; 2]>::try_from(args)) {
            ("_&&_", Ok(sides)) => return Node::And(Box::new(sides)),
            ("_||_", Ok(sides)) => return Node::Or(Box::new(sides)),
            ("or", Ok(sides)) => return Node::OrOptional(Box::new(sides)),
            ("orValue", Ok(sides)) => return Node::OrValue(Box::new(sides)),
            ("_[_]", Ok([operand, index])) => return new_index(operand, index, false),
            ("_[?_]", Ok([operand, index])) => return new_index(operand, index, true),
            ("@in", Ok([value, Node::Const(list)])) if is_literal_set(site, &list) => {
                return match &list {
                    // Nothing is in it, whatever the value is, and that is not even looked at.
                    Value::List(elements) if elements.is_empty() => Node::Const(Value::Bool(false)),
                    _ => Node::InLiteral(Box::new((value, list))),
                };
            }
            (_, Ok(sides)) => Vec::from(sides),
            (_, Err(args)) => args,
        };
        args = match (site.name, <[Node; 3]>::try_from(args)) {
            ("_?_:_", Ok(parts)) => return Node::If(Box::new(parts)),
            (_, Ok(parts)) => Vec::from(parts),
            (_, Err(args)) => args,
        };
        if site.name == "@not_strictly_false"
            && let Some(inner) = args.pop()
        {
            return Node::NotStrictlyFalse(Box::new(inner));
        }
        self.function_call(site, args, types)
    }

    fn function_call(&mut self, site: &Site<'_>, args: Vec<Node>, types: &[Type]) -> Node {
        let function = match (
            site.name,
            types.first().map(|t| self.types.resolve_final(t)),
        ) {
            ("sum", Some(Type::List(element))) if *element == Type::Duration => {
                Some(functions::lists::sum_durations as functions::Function)
            }
            (name, _) => functions::find(name),
        };
        let Some(function) = function else {
            self.report(
                site.id,
                format!("undeclared reference to '{}' (in container '')", site.name),
            );
            return Node::Const(Value::Null);
        };
        let mut call = Call {
            name: site.name,
            function,
            cost: match (site.name, site.target) {
                // Only the member form has a rule.
                ("matches", None) => cost::Cost::Flat(1),
                (name, _) => cost::rule(name, self.rules.minor >= 32),
            },
            args,
            pattern: None,
        };
        if let (Some(purpose), Some(Node::Const(Value::String(pattern)))) =
            (regex::Use::of(site.name), call.args.get(1))
        {
            match self.pattern(&pattern.clone()) {
                Ok(compiled) => call.pattern = Some((purpose, compiled)),
                Err(error) => self.cannot_instantiate(error),
            }
        }
        if convert::is_folded(site.name)
            && let [Node::Const(value)] = call.args.as_slice()
        {
            return self.fold_call(&call, value.clone());
        }
        Node::Call(Box::new(call))
    }

    /// A literal pattern, compiled. All of an expression together are bounded.
    fn pattern(&mut self, text: &Arc<str>) -> Result<Arc<regex::Pattern>, String> {
        if let Some(known) = self.patterns.get(text) {
            return known.clone();
        }
        let compiled = regex::compile(text).map(Arc::new);
        if let Ok(pattern) = &compiled {
            // Even a small one has its price.
            self.pattern_weight = self.pattern_weight.saturating_add(pattern.weight + 50);
            self.too_complex |= self.pattern_weight > regex::MOST_WEIGHT;
        }
        if self.too_complex {
            return Err("patterns too large".to_string());
        }
        self.patterns.insert(text.clone(), compiled.clone());
        compiled
    }

    fn fold_call(&mut self, call: &Call, value: Value) -> Node {
        let nothing = Arc::new(device::DeviceData::default());
        let mut run = Run::new(&nothing, self.rules.regexes, 0);
        match (call.function)(&mut run, &[value]) {
            Ok(value) => Node::Const(value),
            Err(error) => {
                let text = match error {
                    Fail::Error(text) => text.to_string(),
                    _ => format!("no such overload: {}", call.name),
                };
                self.cannot_instantiate(text);
                Node::Const(Value::Null)
            }
        }
    }

    fn cannot_instantiate(&mut self, error: String) {
        self.instantiation.get_or_insert(error);
    }
}

fn new_index(operand: Node, index: Node, optional: bool) -> Node {
    let operand = operand.into_chain();
    match index {
        Node::Const(Value::String(field)) => {
            let select = crate::cel::node::Select {
                operand,
                key: crate::cel::value::Key::String(field.clone()),
                field,
                optional,
            };
            Node::Select(Box::new(select))
        }
        index => Node::Index(Box::new(Index {
            operand,
            index,
            optional,
        })),
    }
}

/// Literal lists that cel-go turns into a set: of strings, numbers and bools. One behind `dyn` is none.
fn is_literal_set(site: &Site<'_>, list: &Value) -> bool {
    let Value::List(list) = list else {
        return false;
    };
    let is_written_down = matches!(
        site.args.last(),
        Some(IdedExpr {
            expr: Expr::List(_),
            ..
        })
    );
    is_written_down
        && list.iter().all(|v| {
            matches!(
                v,
                Value::String(_)
                    | Value::Int(_)
                    | Value::Uint(_)
                    | Value::Double(_)
                    | Value::Bool(_)
                    | Value::Bytes(_)
            )
        })
}
