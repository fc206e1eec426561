//! Static types, unification and cel-go's two ways to print a type.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

/// A type as the checker sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// After a reported error: fits everything.
    Error,
    Dyn,
    /// What an attribute lookup gives: like `Dyn`, but accepted as result.
    Any,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    List(Arc<Type>),
    Map(Arc<(Type, Type)>),
    /// The type of a type.
    Meta(Arc<Type>),
    Optional(Arc<Type>),
    /// A type of Kubernetes, by name.
    Object(&'static str),
    /// A type variable: a parameter of a declaration, or its instance in an expression.
    Param(u32),
}

/// Types with more parts than this are given up: they can only be made on purpose.
const MOST_PARTS: u32 = 1_000;
/// Steps of type inference for one expression; one in use needs a few hundred.
const MOST_STEPS: u32 = 1_000_000;

impl Type {
    pub(crate) fn list(element: Type) -> Self {
        Type::List(Arc::new(element))
    }

    pub(crate) fn map(key: Type, value: Type) -> Self {
        Type::Map(Arc::new((key, value)))
    }

    pub(crate) fn optional(value: Type) -> Self {
        Type::Optional(Arc::new(value))
    }

    pub(crate) fn is_dyn(&self) -> bool {
        matches!(self, Type::Dyn | Type::Any)
    }

    pub(crate) fn is_dyn_or_error(&self) -> bool {
        self.is_dyn() || matches!(self, Type::Error)
    }

    pub(crate) fn has_params(&self) -> bool {
        matches!(self, Type::Param(_)) || self.parts().into_iter().any(Type::has_params)
    }

    fn parts(&self) -> Vec<&Type> {
        match self {
            Type::List(t) | Type::Meta(t) | Type::Optional(t) => vec![t],
            Type::Map(kv) => vec![&kv.0, &kv.1],
            _ => Vec::new(),
        }
    }

    /// Whether it is too big to work with: type operations take time linear in the written-out size.
    pub(crate) fn is_excessive(&self) -> bool {
        let mut pending = vec![self];
        let mut seen = 0;
        while let Some(next) = pending.pop() {
            seen += 1;
            if seen > MOST_PARTS {
                return true;
            }
            pending.extend(next.parts());
        }
        false
    }

    /// With every parameter `n` replaced by `n + offset`: an instance of a declaration.
    pub(crate) fn instantiate(&self, offset: u32) -> Type {
        self.rebuild(&mut |param| Some(Type::Param(param + offset)))
    }

    /// With parameters replaced as told.
    fn rebuild(&self, replace: &mut dyn FnMut(u32) -> Option<Type>) -> Type {
        match self {
            Type::Param(n) => replace(*n).unwrap_or_else(|| self.clone()),
            Type::List(t) => Type::list(t.rebuild(replace)),
            Type::Meta(t) => Type::Meta(Arc::new(t.rebuild(replace))),
            Type::Optional(t) => Type::optional(t.rebuild(replace)),
            Type::Map(kv) => Type::map(kv.0.rebuild(replace), kv.1.rebuild(replace)),
            other => other.clone(),
        }
    }

    /// How the result type is printed, cel-go's `Type.String`.
    pub(crate) fn result_name(&self) -> String {
        match self {
            Type::Any => "google.protobuf.Any".to_string(),
            Type::Null => "null_type".to_string(),
            Type::Duration => "google.protobuf.Duration".to_string(),
            Type::Timestamp => "google.protobuf.Timestamp".to_string(),
            Type::List(t) => format!("list({})", t.result_name()),
            Type::Map(kv) => format!("map({}, {})", kv.0.result_name(), kv.1.result_name()),
            Type::Optional(t) => format!("optional_type({})", t.result_name()),
            Type::Meta(t) => format!("type({})", t.result_name()),
            other => other.to_string(),
        }
    }
}

/// How types are printed in messages of the checker, cel-go's FormatCELType.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Error => f.write_str("!error!"),
            Type::Dyn => f.write_str("dyn"),
            Type::Any => f.write_str("any"),
            Type::Null => f.write_str("null"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Uint => f.write_str("uint"),
            Type::Double => f.write_str("double"),
            Type::String => f.write_str("string"),
            Type::Bytes => f.write_str("bytes"),
            Type::Duration => f.write_str("duration"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::List(t) => write!(f, "list({t})"),
            Type::Map(kv) => write!(f, "map({}, {})", kv.0, kv.1),
            Type::Meta(t) => write!(f, "type({t})"),
            Type::Optional(t) => write!(f, "optional_type({t})"),
            Type::Object(name) => f.write_str(name),
            Type::Param(n) => write!(f, "_var{n}"),
        }
    }
}

/// What is known about type variables.
#[derive(Default)]
pub(crate) struct Substitution {
    bound: Vec<Option<Type>>,
    /// Former bindings, newest last, to undo a failed unification.
    trail: Vec<(u32, Option<Type>)>,
    steps: Cell<u32>,
}

impl Substitution {
    /// Whether inference was given up: from then on everything fits, so that it ends soon.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.steps.get() >= MOST_STEPS
    }

    fn step(&self) -> bool {
        self.steps.set(self.steps.get().saturating_add(1));
        !self.is_exhausted()
    }

    /// Makes `count` new variables and returns the first.
    pub(crate) fn fresh(&mut self, count: u32) -> u32 {
        let first = self.bound.len() as u32;
        self.bound.resize(self.bound.len() + count as usize, None);
        first
    }

    /// Whether every value of a `from` type is one of the `to` types pairwise; binds variables if so.
    pub(crate) fn assignable_all(&mut self, from: &[Type], to: &[Type]) -> bool {
        let mark = self.trail.len();
        let fits = from.len() == to.len() && from.iter().zip(to).all(|(a, b)| self.unify(a, b));
        if !fits {
            self.undo(mark);
        }
        fits
    }

    /// [`Substitution::assignable_all`] for one type.
    pub(crate) fn assignable(&mut self, from: &Type, to: &Type) -> bool {
        self.assignable_all(std::slice::from_ref(from), std::slice::from_ref(to))
    }

    fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some((param, former)) = self.trail.pop() {
                self.set(param, former);
            }
        }
    }

    fn set(&mut self, param: u32, to: Option<Type>) {
        if let Some(slot) = self.bound.get_mut(param as usize) {
            *slot = to;
        }
    }

    fn get(&self, param: u32) -> Option<Type> {
        self.bound.get(param as usize).cloned().flatten()
    }

    fn bind(&mut self, param: u32, to: Type) {
        self.trail.push((param, self.get(param)));
        self.set(param, Some(to));
    }

    fn unify(&mut self, a: &Type, b: &Type) -> bool {
        if !self.step() {
            return true;
        }
        if let Type::Param(param) = b {
            match self.bind_or_widen(*param, a) {
                Binding::Valid => return true,
                Binding::Conflict => return false,
                Binding::Occurs => {}
            }
        }
        if let Type::Param(param) = a {
            return matches!(self.bind_or_widen(*param, b), Binding::Valid);
        }
        if a.is_dyn_or_error() || b.is_dyn_or_error() {
            return true;
        }
        match (a, b) {
            (Type::Null, other) | (other, Type::Null) => is_nullable(other),
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => {
                self.unify(a, b)
            }
            (Type::Map(a), Type::Map(b)) => self.unify(&a.0, &b.0) && self.unify(&a.1, &b.1),
            // The parameter of a type value plays no role.
            (Type::Meta(_), Type::Meta(_)) => true,
            (a, b) => a == b,
        }
    }

    /// Makes `to` a value of the variable, widening what it is already bound to.
    fn bind_or_widen(&mut self, param: u32, to: &Type) -> Binding {
        match self.get(param) {
            Some(bound) if bound == *to => Binding::Valid,
            Some(bound) => {
                if !self.unify(to, &bound) {
                    return Binding::Conflict;
                }
                self.bind(param, most_general(to, &bound));
                Binding::Valid
            }
            None if self.occurs(param, to) => Binding::Occurs,
            None => {
                self.bind(param, to.clone());
                Binding::Valid
            }
        }
    }

    fn occurs(&self, param: u32, within: &Type) -> bool {
        match within {
            _ if !self.step() => false,
            Type::Param(n) if *n == param => true,
            Type::Param(n) => self.get(*n).is_some_and(|bound| self.occurs(param, &bound)),
            other => other
                .parts()
                .into_iter()
                .any(|part| self.occurs(param, part)),
        }
    }

    /// The type with bound variables replaced.
    pub(crate) fn resolve(&self, t: &Type) -> Type {
        t.rebuild(&mut |param| match self.get(param) {
            _ if !self.step() => Some(Type::Dyn),
            bound => bound.map(|bound| self.resolve(&bound)),
        })
    }

    /// The type with bound variables replaced and the others taken for `dyn`.
    pub(crate) fn resolve_final(&self, t: &Type) -> Type {
        t.rebuild(&mut |param| match self.get(param) {
            Some(bound) if self.step() => Some(self.resolve_final(&bound)),
            _ => Some(Type::Dyn),
        })
    }
}

/// What came of binding a variable.
enum Binding {
    Valid,
    /// It is bound to something else.
    Conflict,
    /// It would contain itself.
    Occurs,
}

fn is_nullable(t: &Type) -> bool {
    matches!(
        t,
        Type::Null | Type::Duration | Type::Timestamp | Type::Object(_) | Type::Optional(_)
    )
}

/// The more general of two types that are known to unify.
pub(crate) fn most_general(a: &Type, b: &Type) -> Type {
    if is_equal_or_less_specific(a, b) {
        a.clone()
    } else {
        b.clone()
    }
}

fn is_equal_or_less_specific(a: &Type, b: &Type) -> bool {
    if a.is_dyn() || matches!(a, Type::Param(_)) {
        return true;
    }
    if b.is_dyn() || matches!(b, Type::Param(_)) {
        return false;
    }
    match (a, b) {
        (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => {
            is_equal_or_less_specific(a, b)
        }
        (Type::Map(a), Type::Map(b)) => {
            is_equal_or_less_specific(&a.0, &b.0) && is_equal_or_less_specific(&a.1, &b.1)
        }
        (Type::Meta(_), Type::Meta(_)) => true,
        (a, b) => a == b,
    }
}
