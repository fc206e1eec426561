//! The type checker, which also builds the program: cel-go's checker, its validators of literals and its constant
//! folding.

use cel_interpreter::common::ast::{
    EntryExpr, Expr, IdedEntryExpr, IdedExpr, ListExpr, LiteralValue, SelectExpr, SourceInfo,
};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::decls::Declarations;
use super::functions::regex;
use super::issues::Issues;
use super::node::{Node, Select};
use super::types::{Substitution, Type, most_general};
use super::value::{Key, Map, Value};

mod calls;
mod comprehensions;
mod literals;

/// Type of the variable.
const DEVICE: &str = "kubernetes.DRADevice";

/// What the checker needs of an environment.
pub(crate) struct Rules<'e> {
    pub(crate) declarations: &'e Declarations,
    pub(crate) minor: u32,
    /// Attributes can be lists, and `dyn` is accepted as result.
    pub(crate) list_type_attributes: bool,
    pub(crate) regexes: &'e regex::Cache,
}

/// An expression that passed.
pub(crate) struct Checked {
    pub(crate) node: Node,
    pub(crate) slots: usize,
}

/// Checks an expression.
///
/// # Errors
/// The text after `CEL compile error: `.
pub(crate) fn check(
    rules: &Rules<'_>,
    source: &str,
    expr: &IdedExpr,
    info: &SourceInfo,
) -> Result<Checked, String> {
    let mut checker = Checker::new(rules, info);
    let typed = checker.expr(expr);
    if checker.issues.is_empty() {
        checker.validate_literals();
    }
    if checker.types.is_exhausted() || checker.too_complex {
        return Err(
            "compilation failed: expression is too complex, write it with fewer nested literals or smaller patterns"
                .to_string(),
        );
    }
    if !checker.issues.is_empty() {
        return Err(format!(
            "compilation failed: {}",
            checker.issues.display(source)
        ));
    }
    let result = checker.types.resolve_final(&typed.t);
    let accepted = match result {
        Type::Bool | Type::Any => true,
        Type::Dyn => rules.list_type_attributes,
        _ => false,
    };
    if !accepted {
        return Err(format!(
            "must evaluate to bool or the unknown type, not {}",
            result.result_name()
        ));
    }
    match checker.instantiation {
        Some(error) => Err(format!("program instantiation failed: {error}")),
        None => Ok(Checked {
            node: typed.node,
            slots: checker.most_slots,
        }),
    }
}

/// A node with its type, which may still hold type variables.
struct Typed {
    t: Type,
    node: Node,
}

/// A variable in scope.
struct Variable {
    name: String,
    t: Type,
    slot: usize,
}

struct Checker<'c> {
    rules: &'c Rules<'c>,
    info: &'c SourceInfo,
    issues: Issues,
    types: Substitution,
    variables: Vec<Variable>,
    most_slots: usize,
    too_complex: bool,
    /// Why the program could not be made although the expression is well-typed.
    instantiation: Option<String>,
    /// Literals whose parts must agree in type, checked last, when all types are known.
    literals: Vec<literals::Pending>,
    templates: Vec<literals::Template>,
    /// Literal patterns, each compiled once, and their weight together.
    patterns: BTreeMap<Arc<str>, Result<Arc<regex::Pattern>, String>>,
    pattern_weight: u32,
    /// Types of the elements of lists within calls of `format`, by id.
    format_lists: BTreeMap<u64, Vec<(u64, Type)>>,
    /// Open calls of `format`, within which lists may be mixed.
    in_format: usize,
}

impl<'c> Checker<'c> {
    fn new(rules: &'c Rules<'c>, info: &'c SourceInfo) -> Self {
        Self {
            rules,
            info,
            issues: Issues::default(),
            types: Substitution::default(),
            variables: Vec::new(),
            most_slots: 0,
            too_complex: false,
            instantiation: None,
            literals: Vec::new(),
            templates: Vec::new(),
            patterns: BTreeMap::new(),
            pattern_weight: 0,
            format_lists: BTreeMap::new(),
            in_format: 0,
        }
    }

    fn report(&mut self, id: u64, message: String) {
        self.issues.report(self.info, id, message);
    }

    fn failed(&mut self, id: u64, message: String) -> Typed {
        self.report(id, message);
        Typed {
            t: Type::Error,
            node: Node::Const(Value::Null),
        }
    }

    fn undeclared(&mut self, id: u64, name: &str) -> Typed {
        let name = name.strip_prefix('.').unwrap_or(name);
        self.failed(
            id,
            format!("undeclared reference to '{name}' (in container '')"),
        )
    }

    fn expr(&mut self, e: &IdedExpr) -> Typed {
        match &e.expr {
            Expr::Literal(literal) => literal_value(literal),
            Expr::Ident(name) => self.ident(e.id, name),
            Expr::Select(select) => self.select(e, select),
            Expr::Call(call) => self.call(e.id, call),
            Expr::List(list) => self.list(e.id, list),
            Expr::Map(map) => self.map(&map.entries),
            Expr::Struct(literal) => {
                self.struct_literal(e.id, &literal.type_name, &literal.entries)
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Unspecified => self.failed(e.id, "unspecified expression".to_string()),
        }
    }

    fn ident(&mut self, id: u64, name: &str) -> Typed {
        if let Some(variable) = self.variables.iter().rev().find(|v| v.name == name) {
            return Typed {
                t: variable.t.clone(),
                node: Node::Slot(variable.slot),
            };
        }
        let absolute = name.strip_prefix('.').unwrap_or(name);
        if absolute == "device" {
            return Typed {
                t: Type::Object(DEVICE),
                node: Node::Device,
            };
        }
        match type_named(absolute) {
            Some((t, name)) => Typed {
                t: Type::Meta(Arc::new(t)),
                node: Node::Const(Value::Type(name)),
            },
            None => self.undeclared(id, name),
        }
    }

    fn select(&mut self, e: &IdedExpr, select: &SelectExpr) -> Typed {
        // A chain of names can be the name of a type.
        if let Some(name) = self.qualified_name(e)
            && let Some((t, name)) = type_named(&name)
            && !select.test
        {
            return Typed {
                t: Type::Meta(Arc::new(t)),
                node: Node::Const(Value::Type(name)),
            };
        }
        let operand = self.expr(&select.operand);
        let t = self.field_type(e.id, &operand.t, &select.field, false);
        let selection = Box::new(new_select(operand.node, &select.field, false));
        if select.test {
            Typed {
                t: Type::Bool,
                node: Node::Has(selection),
            }
        } else {
            Typed {
                t,
                node: Node::Select(selection),
            }
        }
    }

    /// The dotted name that an expression spells, unless it starts with a variable.
    fn qualified_name(&self, e: &IdedExpr) -> Option<String> {
        let mut parts = Vec::new();
        let mut next = e;
        loop {
            match &next.expr {
                Expr::Select(select) if !select.test => {
                    parts.push(select.field.as_str());
                    next = &select.operand;
                }
                Expr::Ident(name) if !self.variables.iter().any(|v| v.name == *name) => {
                    parts.push(name.strip_prefix('.').unwrap_or(name));
                    break;
                }
                _ => return None,
            }
        }
        parts.reverse();
        Some(parts.join("."))
    }

    /// Type of a field. Selecting from an optional, or optionally, gives an optional.
    fn field_type(&mut self, id: u64, operand: &Type, field: &str, optional: bool) -> Type {
        let operand = self.types.resolve(operand);
        let (target, optional) = match &operand {
            Type::Optional(inner) => (Type::clone(inner), true),
            other => (other.clone(), optional),
        };
        let t = match &target {
            Type::Map(kv) => kv.1.clone(),
            Type::Object(DEVICE) => self.device_field(field).unwrap_or_else(|| {
                self.report(id, format!("undefined field '{field}'"));
                Type::Error
            }),
            Type::Param(_) => {
                self.types.assignable(&Type::Dyn, &target);
                Type::Dyn
            }
            other => {
                if !other.is_dyn_or_error() {
                    self.report(
                        id,
                        format!("type '{other}' does not support field selection"),
                    );
                }
                Type::Dyn
            }
        };
        if optional { Type::optional(t) } else { t }
    }

    fn device_field(&self, field: &str) -> Option<Type> {
        let domains = |value| Type::map(Type::String, Type::map(Type::String, value));
        match field {
            "driver" => Some(Type::String),
            "attributes" if self.rules.list_type_attributes => Some(domains(Type::Dyn)),
            "attributes" => Some(domains(Type::Any)),
            "capacity" => Some(domains(Type::Object("kubernetes.Quantity"))),
            "allowMultipleAllocations" if self.rules.minor >= 34 => Some(Type::Bool),
            _ => None,
        }
    }

    /// The common type of elements: `dyn` if there is none.
    fn join(&mut self, previous: Option<Type>, current: &Type) -> Type {
        match previous {
            None => current.clone(),
            Some(previous) if self.types.assignable(&previous, current) => {
                most_general(&previous, current)
            }
            Some(_) => Type::Dyn,
        }
    }

    fn optional_part(&mut self, id: u64, t: &Type) -> Type {
        match self.types.resolve(t) {
            Type::Optional(inner) => Type::clone(&inner),
            other if other.is_dyn_or_error() => Type::Dyn,
            other => {
                self.report(
                    id,
                    format!("expected type 'optional_type({other})' but found '{other}'"),
                );
                Type::Error
            }
        }
    }

    fn list(&mut self, id: u64, list: &ListExpr) -> Typed {
        let mut joined = None;
        let mut nodes = Vec::with_capacity(list.elements.len());
        let mut parts = Vec::with_capacity(list.elements.len());
        for (i, element) in list.elements.iter().enumerate() {
            let typed = self.expr(element);
            let optional = list.optional_indices.contains(&i);
            let t = if optional {
                self.optional_part(element.id, &typed.t)
            } else {
                typed.t
            };
            joined = Some(self.join(joined, &t));
            parts.push((element.id, t));
            nodes.push((typed.node, optional));
        }
        let element = joined.unwrap_or_else(|| Type::Param(self.types.fresh(1)));
        let t = self.bounded(Type::list(element));
        if self.in_format > 0 {
            self.format_lists.insert(id, parts);
        } else {
            self.must_agree(parts);
        }
        Typed {
            t,
            node: fold_list(nodes),
        }
    }

    fn map(&mut self, entries: &[IdedEntryExpr]) -> Typed {
        let (mut key_type, mut value_type) = (None, None);
        let (mut keys, mut values, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
        for entry in entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else {
                continue;
            };
            let key = self.expr(&entry.key);
            key_type = Some(self.join(key_type, &key.t));
            let value = self.expr(&entry.value);
            let t = if entry.optional {
                self.optional_part(entry.value.id, &value.t)
            } else {
                value.t
            };
            value_type = Some(self.join(value_type, &t));
            keys.push((entry.key.id, key.t));
            values.push((entry.value.id, t));
            nodes.push((key.node, value.node, entry.optional));
        }
        let key_type = key_type.unwrap_or_else(|| Type::Param(self.types.fresh(1)));
        let value_type = value_type.unwrap_or_else(|| Type::Param(self.types.fresh(1)));
        let t = self.bounded(Type::map(key_type, value_type));
        self.must_agree(keys);
        self.must_agree(values);
        Typed {
            t,
            node: fold_map(nodes),
        }
    }

    /// Gives up on types that only an attack would build.
    fn bounded(&mut self, t: Type) -> Type {
        let resolved = self.types.resolve(&t);
        if resolved.is_excessive() {
            self.too_complex = true;
            return Type::Dyn;
        }
        t
    }

    /// Struct literals are typed since cel-go knows the device's type by name, but cannot be evaluated.
    fn struct_literal(&mut self, id: u64, name: &str, entries: &[IdedEntryExpr]) -> Typed {
        if name != DEVICE || self.rules.minor < 32 {
            return self.undeclared(id, name);
        }
        for entry in entries {
            let EntryExpr::StructField(field) = &entry.expr else {
                continue;
            };
            let value = self.expr(&field.value);
            let expected = self.field_type(entry.id, &Type::Object(DEVICE), &field.field, false);
            if !self.types.assignable(&expected, &value.t) {
                let found = self.types.resolve_final(&value.t);
                let name = &field.field;
                self.report(
                    entry.id,
                    format!("expected type of field '{name}' is '{expected}' but provided type is '{found}'"),
                );
            }
        }
        Typed {
            t: Type::Object(DEVICE),
            node: Node::Relative(Box::new(Node::UnknownType(DEVICE))),
        }
    }
}

fn new_select(operand: Node, field: &str, optional: bool) -> Select {
    let field: Arc<str> = Arc::from(field);
    Select {
        operand: operand.into_chain(),
        key: Key::String(field.clone()),
        field,
        optional,
    }
}

fn literal_value(literal: &LiteralValue) -> Typed {
    let (t, value) = match literal {
        LiteralValue::Boolean(b) => (Type::Bool, Value::Bool(*b.inner())),
        LiteralValue::Bytes(b) => (Type::Bytes, Value::Bytes(Arc::from(b.inner()))),
        LiteralValue::Double(d) => (Type::Double, Value::Double(*d.inner())),
        LiteralValue::Int(i) => (Type::Int, Value::Int(*i.inner())),
        LiteralValue::Null => (Type::Null, Value::Null),
        LiteralValue::String(s) => (Type::String, Value::string(s.inner())),
        LiteralValue::UInt(u) => (Type::Uint, Value::Uint(*u.inner())),
    };
    Typed {
        t,
        node: Node::Const(value),
    }
}

/// Types that can be named, with their run-time name.
fn type_named(name: &str) -> Option<(Type, &'static str)> {
    Some(match name {
        "bool" => (Type::Bool, "bool"),
        "bytes" => (Type::Bytes, "bytes"),
        "double" => (Type::Double, "double"),
        "int" => (Type::Int, "int"),
        "uint" => (Type::Uint, "uint"),
        "string" => (Type::String, "string"),
        "null_type" => (Type::Null, "null_type"),
        "list" => (Type::list(Type::Dyn), "list"),
        "map" => (Type::map(Type::Dyn, Type::Dyn), "map"),
        "type" => (Type::Meta(Arc::new(Type::Dyn)), "type"),
        "optional_type" => (Type::optional(Type::Dyn), "optional_type"),
        "google.protobuf.Timestamp" => (Type::Timestamp, "google.protobuf.Timestamp"),
        "google.protobuf.Duration" => (Type::Duration, "google.protobuf.Duration"),
        "net.IP" => (Type::Object("net.IP"), "net.IP"),
        "net.CIDR" => (Type::Object("net.CIDR"), "net.CIDR"),
        _ => return None,
    })
}

/// A list of constants is a constant.
fn fold_list(nodes: Vec<(Node, bool)>) -> Node {
    let constant: Option<Vec<Value>> = nodes
        .iter()
        .map(|(node, optional)| match node {
            Node::Const(value) if !optional => Some(value.clone()),
            _ => None,
        })
        .collect();
    constant.map_or(Node::List(nodes), |values| Node::Const(Value::list(values)))
}

/// A map of constants is a constant.
fn fold_map(nodes: Vec<(Node, Node, bool)>) -> Node {
    let constant: Option<Map> = nodes
        .iter()
        .map(|entry| match entry {
            (Node::Const(key), Node::Const(value), false) => Some((key.to_key()?, value.clone())),
            _ => None,
        })
        .collect();
    constant.map_or(Node::Map(nodes), |map| {
        Node::Const(Value::Map(Arc::new(map)))
    })
}
