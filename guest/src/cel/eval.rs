//! Evaluation of a program for one device, by cel-go's rules: errors are absorbed by `&&` and `||` and within quantifiers,
//! a missing key is an error, and everything is charged.

use std::sync::Arc;

use super::budget::Budget;
use super::cost;
use super::device::{DeviceData, DomainKind};
use super::functions::lists::insert_all;
use super::functions::operators;
use super::functions::regex::{self, Cache};
use super::node::{Append, Call, Fold, Index, Insert, Let, Node, Select};
use super::value::{self, Fail, Key, Map, Outcome, Value};

/// What cel-go charges for making a list and a map.
const LIST_COST: u64 = 10;
const MAP_COST: u64 = 30;

/// State of one evaluation.
pub(crate) struct Run<'a> {
    pub(crate) budget: Budget,
    pub(crate) regexes: &'a Cache,
    /// See [`Budget::quantity`].
    pub(crate) add_changes_receiver: bool,
    /// Name of the function being called, for those that share an implementation.
    pub(crate) function: &'static str,
    device: &'a Arc<DeviceData>,
    /// Variables; an accumulator can hold an error.
    slots: Vec<Outcome>,
}

/// Result of a lookup: nothing is not an error yet.
type Lookup = Result<Option<Value>, Fail>;

impl<'a> Run<'a> {
    pub(crate) fn new(device: &'a Arc<DeviceData>, regexes: &'a Cache, slots: usize) -> Self {
        Self {
            budget: Budget::new(),
            regexes,
            add_changes_receiver: false,
            function: "",
            device,
            slots: vec![Ok(Value::Null); slots],
        }
    }

    /// Evaluates a node.
    pub(crate) fn eval(&mut self, node: &Node) -> Outcome {
        match node {
            Node::Const(value) => Ok(value.clone()),
            Node::Device => {
                self.budget.charge(1)?;
                Ok(Value::Device(self.device.clone()))
            }
            Node::Slot(slot) => {
                self.budget.charge(1)?;
                self.slot(*slot)
            }
            Node::Select(select) => self.select(select),
            Node::Has(select) => self.has(select),
            Node::Index(index) => self.index(index),
            Node::Relative(inner) => {
                let value = self.eval(inner)?;
                self.budget.charge(1)?;
                Ok(value)
            }
            Node::And(sides) => self.logic(sides, false),
            Node::Or(sides) => self.logic(sides, true),
            Node::If(parts) => self.conditional(parts),
            Node::NotStrictlyFalse(inner) => {
                let value = absorb(self.eval(inner))?;
                self.budget.charge(1)?;
                Ok(Value::Bool(!matches!(value, Ok(Value::Bool(false)))))
            }
            Node::Call(call) => self.call(call),
            Node::InLiteral(membership) => {
                let (value, list) = &**membership;
                let value = self.eval(value)?;
                // cel-go looks it up in a map of Go's, of which its versions cannot be a key.
                if matches!(value, Value::Semver(_)) {
                    return Err(Fail::Panicked(
                        "runtime error: hash of unhashable type cel.Semver",
                    ));
                }
                operators::contains(self, &[value, list.clone()])
            }
            Node::OrOptional(sides) => self.or_optional(sides, false),
            Node::OrValue(sides) => self.or_optional(sides, true),
            Node::List(elements) => self.list(elements),
            Node::Map(entries) => self.map(entries),
            Node::Let(binding) => self.bind(binding),
            Node::Fold(fold) => self.fold(fold),
            Node::Append(append) => self.append(append),
            Node::Insert(insert) => self.insert(insert),
            Node::UnknownType(name) => Err(Fail::new(format!("unknown type '{name}'"))),
        }
    }

    fn slot(&self, slot: usize) -> Outcome {
        self.slots.get(slot).cloned().unwrap_or(Ok(Value::Null))
    }

    fn set(&mut self, slot: usize, value: Outcome) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = value;
        }
    }

    fn take(&mut self, slot: usize) -> Outcome {
        self.slots.get_mut(slot).map_or(Ok(Value::Null), |place| {
            std::mem::replace(place, Ok(Value::Null))
        })
    }

    /// `&&` (absorbing `false`) and `||` (absorbing `true`).
    fn logic(&mut self, sides: &[Node; 2], absorbing: bool) -> Outcome {
        let [left, right] = sides;
        let left = absorb(self.eval(left))?;
        if matches!(left, Ok(Value::Bool(b)) if b == absorbing) {
            return left;
        }
        let right = absorb(self.eval(right))?;
        match (left, right) {
            (_, Ok(Value::Bool(b))) if b == absorbing => Ok(Value::Bool(absorbing)),
            (Ok(Value::Bool(_)), Ok(Value::Bool(b))) => Ok(Value::Bool(b)),
            (Err(error), _) | (_, Err(error)) => Err(error),
            _ => Err(Fail::no_such_overload()),
        }
    }

    fn conditional(&mut self, parts: &[Node; 3]) -> Outcome {
        let [condition, yes, no] = parts;
        let branch = match self.eval(condition)? {
            Value::Bool(true) => yes,
            Value::Bool(false) => no,
            _ => return Err(Fail::no_such_overload()),
        };
        let value = self.eval(branch)?;
        if branch.is_attribute() {
            self.budget.refund(1);
        }
        Ok(value)
    }

    fn call(&mut self, call: &Call) -> Outcome {
        match call.args.as_slice() {
            [] => self.apply(call, &[]),
            [a] => match self.eval(a) {
                Ok(a) => self.apply(call, &[a]),
                Err(error) => self.failed_call(error),
            },
            // Both are evaluated even if the first fails, and the call is charged.
            [a, b] => match (absorb(self.eval(a))?, absorb(self.eval(b))?) {
                (Ok(a), Ok(b)) => self.apply(call, &[a, b]),
                (Err(error), _) | (_, Err(error)) => self.failed_call(error),
            },
            many => {
                let args = many
                    .iter()
                    .map(|arg| self.eval(arg))
                    .collect::<Result<Vec<_>, _>>()?;
                self.apply(call, &args)
            }
        }
    }

    fn failed_call(&mut self, error: Fail) -> Outcome {
        self.budget.charge(1)?;
        Err(error)
    }

    fn apply(&mut self, call: &Call, args: &[Value]) -> Outcome {
        self.function = call.name;
        let result = match &call.pattern {
            Some((purpose, pattern)) => regex::apply(self, *purpose, pattern, args),
            None => (call.function)(self, args),
        };
        match result {
            Ok(value) => {
                self.budget.charge(cost::of_call(call.cost, args, &value))?;
                Ok(value)
            }
            Err(Fail::NoOverload) => {
                let types: Vec<&str> = args.iter().map(Value::type_name).collect();
                let signature = types.join(", ");
                self.failed_call(Fail::new(format!(
                    "no such overload: {}({signature})",
                    call.name
                )))
            }
            Err(error) => self.failed_call(error),
        }
    }

    fn or_optional(&mut self, sides: &[Node; 2], unwrap: bool) -> Outcome {
        let [optional, other] = sides;
        match self.eval(optional)? {
            Value::Optional(Some(value)) if unwrap => Ok(Value::clone(&value)),
            Value::Optional(Some(value)) => Ok(Value::Optional(Some(value))),
            Value::Optional(None) => self.eval(other),
            _ => Err(Fail::no_such_overload()),
        }
    }

    fn list(&mut self, elements: &[(Node, bool)]) -> Outcome {
        let mut list = Vec::with_capacity(elements.len());
        for (element, optional) in elements {
            match self.eval(element)? {
                value if !optional => list.push(value),
                Value::Optional(Some(value)) => list.push(Value::clone(&value)),
                Value::Optional(None) => {}
                _ => return Err(Fail::no_such_overload()),
            }
        }
        self.budget.charge(LIST_COST)?;
        self.budget.memory(list.len() * size_of::<Value>())?;
        Ok(Value::list(list))
    }

    fn map(&mut self, entries: &[(Node, Node, bool)]) -> Outcome {
        let mut map = Map::new();
        for (key, value, optional) in entries {
            let key = self.eval(key)?;
            let value = match self.eval(value)? {
                value if !optional => value,
                Value::Optional(Some(value)) => Value::clone(&value),
                Value::Optional(None) => continue,
                _ => return Err(Fail::no_such_overload()),
            };
            let key = key
                .to_key()
                .ok_or_else(|| Fail::new(format!("unsupported key type: {}", key.type_name())))?;
            map.insert(key, value);
        }
        self.budget.charge(MAP_COST)?;
        self.budget.memory(map.len() * 2 * size_of::<Value>())?;
        Ok(Value::Map(Arc::new(map)))
    }

    fn bind(&mut self, binding: &Let) -> Outcome {
        let value = absorb(self.eval(&binding.value))?;
        self.set(binding.slot, value);
        self.eval(&binding.within)
    }

    fn fold(&mut self, fold: &Fold) -> Outcome {
        let range = self.eval(&fold.range)?;
        let init = absorb(self.eval(&fold.init))?;
        self.set(fold.accumulator, init);
        match &range {
            Value::List(list) => {
                for (i, value) in list.iter().enumerate() {
                    let index = fold.variable2.map(|_| Value::Int(i as i64));
                    if !self.step(fold, index.unwrap_or_else(|| value.clone()), || {
                        value.clone()
                    })? {
                        break;
                    }
                }
            }
            Value::Map(map) => self.fold_map(fold, map)?,
            Value::Domains(kind, device) => self.fold_map(fold, &device.outer_map(*kind))?,
            other => {
                return Err(Fail::new(format!(
                    "got '{}', expected iterable type",
                    other.go_type()
                )));
            }
        }
        self.eval(&fold.result)
    }

    fn fold_map(&mut self, fold: &Fold, map: &Map) -> Result<(), Fail> {
        for (key, value) in map {
            if !self.step(fold, key.to_value(), || value.clone())? {
                break;
            }
        }
        Ok(())
    }

    /// One round of a comprehension; false if it is over.
    fn step(
        &mut self,
        fold: &Fold,
        first: Value,
        second: impl FnOnce() -> Value,
    ) -> Result<bool, Fail> {
        self.set(fold.variable, Ok(first));
        if let Some(slot) = fold.variable2 {
            self.set(slot, Ok(second()));
        }
        self.budget.work(10)?;
        if let Ok(Value::Bool(false)) = absorb(self.eval(&fold.condition))? {
            return Ok(false);
        }
        let next = absorb(self.eval(&fold.step))?;
        self.set(fold.accumulator, next);
        Ok(true)
    }

    fn append(&mut self, append: &Append) -> Outcome {
        let list = self.take(append.slot);
        self.budget.charge(1)?;
        let element = self.eval(&append.element);
        let Value::List(mut list) = list? else {
            return Err(Fail::no_such_overload());
        };
        let element = element?;
        let literal = matches!(append.element, Node::Const(_));
        self.budget
            .charge(if literal { 1 } else { LIST_COST + 1 })?;
        self.budget.memory(2 * size_of::<Value>())?;
        Arc::make_mut(&mut list).push(element);
        Ok(Value::List(list))
    }

    fn insert(&mut self, insert: &Insert) -> Outcome {
        let target = self.take(insert.slot);
        self.budget.charge(1)?;
        let args = insert
            .args
            .iter()
            .map(|arg| self.eval(arg))
            .collect::<Result<Vec<_>, _>>();
        let Value::Map(mut target) = target? else {
            return Err(Fail::no_such_overload());
        };
        let entries = match args?.as_slice() {
            [Value::Map(entries)] => Map::clone(entries),
            [key, value] => {
                let key = key.to_key().ok_or_else(Fail::no_such_overload)?;
                Map::from([(key, value.clone())])
            }
            _ => return Err(Fail::no_such_overload()),
        };
        self.budget.charge(1)?;
        self.budget.memory(entries.len() * 4 * size_of::<Value>())?;
        insert_all(Arc::make_mut(&mut target), entries)?;
        Ok(Value::Map(target))
    }

    fn select(&mut self, select: &Select) -> Outcome {
        let operand = self.eval(&select.operand)?;
        self.qualify(
            operand,
            select.optional,
            |value| field(value, select),
            || select.key.to_string(),
        )
    }

    fn index(&mut self, index: &Index) -> Outcome {
        let operand = self.eval(&index.operand)?;
        let at = self.eval(&index.index)?;
        let text = || {
            at.to_key()
                .map_or_else(|| at.type_name().to_string(), |key| key.to_string())
        };
        self.qualify(operand, index.optional, |value| element(value, &at), text)
    }

    /// One step of a chain of selections. Once a step was optional, all after it are.
    fn qualify(
        &mut self,
        operand: Value,
        optional: bool,
        look_up: impl FnOnce(&Value) -> Lookup,
        name: impl FnOnce() -> String,
    ) -> Outcome {
        let (target, optional) = match &operand {
            Value::Optional(None) => return Ok(operand),
            Value::Optional(Some(value)) => (&**value, true),
            other => (other, optional),
        };
        let found = match look_up(target) {
            // Presence tests of what has no members find nothing.
            Err(Fail::NoOverload) => None,
            other => other?,
        };
        match found {
            Some(value) => {
                self.budget.charge(1)?;
                Ok(if optional { Value::some(value) } else { value })
            }
            None if optional => Ok(Value::Optional(None)),
            None => {
                self.budget.charge(1)?;
                Err(Fail::new(if matches!(target, Value::List(_)) {
                    format!("index out of bounds: {}", name())
                } else {
                    format!("no such key: {}", name())
                }))
            }
        }
    }

    fn has(&mut self, select: &Select) -> Outcome {
        let operand = self.eval(&select.operand)?;
        let found = match &operand {
            Value::Optional(None) => None,
            Value::Optional(Some(value)) => field(value, select)?,
            other => match field(other, select) {
                Err(Fail::NoOverload) => None,
                other => other?,
            },
        };
        Ok(Value::Bool(found.is_some()))
    }
}

/// Makes an error a value, so that it can be absorbed; what ends the evaluation stays what it is.
fn absorb(outcome: Outcome) -> Result<Outcome, Fail> {
    match outcome {
        Err(end @ (Fail::Cancelled | Fail::Panicked(_))) => Err(end),
        other => Ok(other),
    }
}

/// The field of a device or the key of a map.
fn field(value: &Value, select: &Select) -> Lookup {
    match value {
        Value::Map(map) => Ok(value::find(map, &select.key).cloned()),
        Value::Domains(kind, device) => Ok(Some(device.domain(*kind, &select.field))),
        Value::Device(device) => Ok(match &*select.field {
            "driver" => Some(Value::String(device.driver.clone())),
            "attributes" => Some(Value::Domains(DomainKind::Attributes, device.clone())),
            "capacity" => Some(Value::Domains(DomainKind::Capacity, device.clone())),
            "allowMultipleAllocations" => Some(Value::Bool(device.allow_multiple_allocations)),
            _ => None,
        }),
        Value::List(_) => Err(Fail::new("unsupported index type 'string' in list")),
        _ => Err(Fail::NoOverload),
    }
}

/// The element of a list or the value of a map.
fn element(value: &Value, index: &Value) -> Lookup {
    match (value, index) {
        (Value::List(list), index) => {
            let at = match index {
                Value::Int(i) => usize::try_from(*i).ok(),
                Value::Uint(u) => usize::try_from(*u).ok(),
                Value::Double(d) => match value::int_of(*d) {
                    Some(i) => usize::try_from(i).ok(),
                    None => return Err(Fail::new(format!("unsupported index value {d} in list"))),
                },
                other => {
                    return Err(Fail::new(format!(
                        "unsupported index type '{}' in list",
                        other.type_name()
                    )));
                }
            };
            Ok(at.and_then(|at| list.get(at)).cloned())
        }
        (Value::Map(map), index) => match index.to_key() {
            Some(key) => Ok(value::find(map, &key).cloned()),
            None => Ok(None),
        },
        (Value::Domains(kind, device), Value::String(name)) => Ok(Some(device.domain(*kind, name))),
        (Value::Domains(kind, device), _) => Ok(Some(device.domain(*kind, ""))),
        (Value::Device(_), Value::String(name)) => {
            let field_of = Select {
                operand: Node::Device,
                field: name.clone(),
                key: Key::String(name.clone()),
                optional: false,
            };
            field(value, &field_of)
        }
        _ => Err(Fail::NoOverload),
    }
}
