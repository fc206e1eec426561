//! CEL as Kubernetes speaks it for device selectors (spec section 10): compile an expression, match it against a device.
//!
//! The parser, its tree and its macro interface are those of the crate `cel`. On top of them this module has what the
//! dialect needs and the crate lacks: a type checker, Kubernetes' values and libraries, cel-go's rules for errors, and
//! limits. Reading order: `guard`, `parse` and `macros` (text to tree), `decls`, `types` and `check` (tree to program),
//! `node` and `eval` (program and device to verdict), `value`, `device`, `functions`, `cost`, `budget`. `parts` takes an
//! expression apart for those who ask why.
//!
//! Time zones follow today's rules only, see `time::zones`.

use std::fmt;
use std::sync::Arc;

use crate::api;
use crate::profile::{Feature, Profile};

mod budget;
mod check;
mod cost;
mod decls;
mod device;
mod eval;
mod functions;
mod guard;
mod issues;
mod macros;
mod node;
mod parse;
mod parts;
mod references;
#[cfg(test)]
mod tests;
mod time;
mod types;
mod value;

pub use device::{AttributeValue, DeviceInput, DeviceValue, malformed};
pub use parts::{Access, Field, Part, Seen};
pub use references::{Reference, Usage};

use functions::regex;
use value::{Fail, Value};

/// What expressions may use: made once per profile, shared by all programs.
pub struct Environment {
    parser: cel_interpreter::Env,
    declarations: decls::Declarations,
    minor: u32,
    list_type_attributes: bool,
    regexes: Arc<regex::Cache>,
}

/// A compiled expression.
#[derive(Debug)]
pub struct Program {
    node: node::Node,
    slots: usize,
    regexes: Arc<regex::Cache>,
    /// Before 1.37 upstream's `add` and `sub` change a big receiver in place; the recorded later behaviour is the repaired
    /// one.
    add_changes_receiver: bool,
}

/// Why an expression does not compile; the text that follows `CEL compile error: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError(String);

/// Why an evaluation failed; the text that follows `CEL runtime error: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalError(Arc<str>);

/// An answer with what it cost.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Match, no match, or error.
    pub verdict: Result<bool, EvalError>,
    /// cel-go's cost.
    pub cost: u64,
}

impl Environment {
    /// The environment of a Kubernetes version, as for stored expressions: everything that the version knows.
    pub fn new(profile: &Profile) -> Self {
        let lists = profile.enabled(Feature::DraListTypeAttributes);
        Self::build(profile.minor(), lists)
    }

    /// The same with the feature gate DRAListTypeAttributes: attributes can be lists.
    pub fn with_list_type_attributes(profile: &Profile) -> Self {
        Self::build(profile.minor(), true)
    }

    fn build(minor: u32, list_type_attributes: bool) -> Self {
        Self {
            parser: parse::environment(minor),
            declarations: decls::declarations(minor, list_type_attributes),
            minor,
            list_type_attributes,
            regexes: Arc::default(),
        }
    }

    /// Compiles an expression.
    ///
    /// # Errors
    /// If it is not valid, too long or too deep.
    pub fn compile(&self, expression: &str) -> Result<Program, CompileError> {
        let (tree, info) = parse::parse(&self.parser, expression)
            .map_err(|issues| CompileError(format!("compilation failed: {issues}")))?;
        let rules = check::Rules {
            declarations: &self.declarations,
            minor: self.minor,
            list_type_attributes: self.list_type_attributes,
            regexes: &self.regexes,
        };
        let checked = check::check(&rules, expression, &tree, &info).map_err(CompileError)?;
        Ok(Program {
            node: checked.node,
            slots: checked.slots,
            regexes: self.regexes.clone(),
            add_changes_receiver: self.minor < 32,
        })
    }

    /// Converts a device for evaluation. An error in it is kept and reported by every evaluation.
    pub fn device(&self, driver: &str, device: &api::Device) -> DeviceValue {
        DeviceValue::new(&DeviceInput::from_device(driver, device))
    }

    /// [`Environment::device`] from parts, which can also be what no [`api::Device`] has yet.
    pub fn device_from(&self, input: &DeviceInput<'_>) -> DeviceValue {
        DeviceValue::new(input)
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("minor", &self.minor)
            .finish_non_exhaustive()
    }
}

impl Program {
    /// Whether a device matches.
    ///
    /// # Errors
    /// If the evaluation fails, exceeds a limit or gives something else than a bool.
    pub fn matches(&self, device: &DeviceValue) -> Result<bool, EvalError> {
        self.evaluate(device).verdict
    }

    /// [`Program::matches`] with the cost.
    pub fn evaluate(&self, device: &DeviceValue) -> Evaluation {
        let data = match &device.data {
            Ok(data) => data,
            Err(error) => {
                return Evaluation {
                    verdict: Err(EvalError(error.clone())),
                    cost: 0,
                };
            }
        };
        let mut run = eval::Run::new(data, &self.regexes, self.slots);
        run.add_changes_receiver = self.add_changes_receiver;
        let outcome = run.eval(&self.node);
        Evaluation {
            verdict: verdict(outcome),
            cost: run.budget.cost(),
        }
    }

    /// The literal of a conjunct `device.driver == "literal"`: for every well-formed device of another driver the answer is
    /// no match, not an error. (A malformed device, for which [`DeviceValue::driver`] is `None`, is an error even so.)
    pub fn required_driver(&self) -> Option<&str> {
        self.node.required_driver()
    }
}

fn verdict(outcome: Result<Value, Fail>) -> Result<bool, EvalError> {
    match outcome {
        Ok(Value::Bool(matches)) => Ok(matches),
        Ok(other) => Err(EvalError(Arc::from(not_bool(&other)))),
        Err(Fail::Error(text)) => Err(EvalError(text)),
        Err(Fail::NoOverload) => Err(EvalError(Arc::from("no such overload"))),
        Err(Fail::Cancelled) => Err(EvalError(Arc::from(
            "operation cancelled: actual cost limit exceeded",
        ))),
        Err(Fail::Panicked(text)) => Err(EvalError(Arc::from(format!("internal error: {text}")))),
    }
}

/// Each type of upstream has its own words for it.
fn not_bool(value: &Value) -> String {
    let name = value.type_name();
    let reason = match value {
        Value::Int(_) | Value::Uint(_) | Value::Double(_) => {
            format!("unsupported type conversion from '{name}' to bool")
        }
        Value::String(_) => "unsupported native conversion from string to 'bool'".to_string(),
        _ => format!(
            "type conversion error from '{}' to 'bool'",
            name.rsplit('.').next().unwrap_or(name)
        ),
    };
    format!("CEL result of type {name} could not be converted to bool: {reason}")
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CompileError {}
impl std::error::Error for EvalError {}
