//! Node selectors and required node affinity of pods.
//!
//! Upstream: plugin NodeAffinity, `component-helpers/scheduling/corev1/nodeaffinity`, and `Requirement.Matches` of
//! `apimachinery/pkg/labels`. What an API server would refuse is an error here too.

use std::fmt;

use serde_json::Value;

use super::fields::{is_set, list_in, map_at, text_at};
use super::names::{Id, Name, Names};

/// Labels of a node, sorted by the number of the key.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels(Vec<(Id, Id)>);

impl Labels {
    /// Labels of any object.
    pub(super) fn of(object: &Value, names: &mut Names) -> Self {
        let ids = |(key, value): (&String, &Value)| {
            Some((names.intern(key), names.intern(value.as_str()?)))
        };
        let mut labels: Vec<_> = map_at(object, "/metadata/labels")
            .into_iter()
            .flatten()
            .filter_map(ids)
            .collect();
        labels.sort_unstable();
        Self(labels)
    }

    fn get(&self, key: &Name) -> Option<Id> {
        let at = self
            .0
            .binary_search_by_key(&key.id, |(known, _)| *known)
            .ok()?;
        self.0.get(at).map(|(_, value)| *value)
    }
}

/// What a pod requires of labels and name of its node.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeAffinity {
    /// `spec.nodeSelector`.
    selector: Vec<(Name, Name)>,
    /// Terms of the required affinity, of which one must match.
    terms: Option<Vec<Term>>,
}

/// Requirements that must all be met. A term without any matches nothing.
#[derive(Clone, Debug)]
struct Term {
    labels: Vec<(Name, Test)>,
    names: Vec<NameTest>,
}

#[derive(Clone, Debug)]
enum Test {
    In(Vec<Name>),
    NotIn(Vec<Name>),
    Exists,
    DoesNotExist,
    Gt(i64),
    Lt(i64),
}

#[derive(Clone, Debug)]
enum NameTest {
    Is(String),
    IsNot(String),
}

const REQUIRED: &str = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";

impl NodeAffinity {
    /// Reads the requirements of a pod.
    pub(super) fn of(pod: &Value) -> Result<Self, String> {
        let mut selector = Vec::new();
        for (key, value) in map_at(pod, "/spec/nodeSelector").into_iter().flatten() {
            let value = value.as_str().ok_or_else(|| {
                format!("spec.nodeSelector[{key}] is not a string; put it in quotes")
            })?;
            selector.push((Name::new(key), Name::new(value)));
        }
        if !is_set(pod, REQUIRED) {
            return Ok(Self {
                selector,
                terms: None,
            });
        }
        let path = REQUIRED.trim_start_matches('/').replace('/', ".");
        let terms = match pod
            .pointer(REQUIRED)
            .and_then(|required| required.get("nodeSelectorTerms"))
        {
            Some(Value::Array(terms)) if !terms.is_empty() => terms,
            _ => {
                return Err(format!(
                    "{path}.nodeSelectorTerms must have at least one term"
                ));
            }
        };
        let read = |(index, term)| {
            Term::read(term).map_err(|error| format!("{path}.nodeSelectorTerms[{index}].{error}"))
        };
        Ok(Self {
            selector,
            terms: Some(
                terms
                    .iter()
                    .enumerate()
                    .map(read)
                    .collect::<Result<_, _>>()?,
            ),
        })
    }

    /// Looks up the numbers of all strings.
    pub(super) fn resolve(&mut self, names: &Names) {
        for (key, value) in &mut self.selector {
            key.resolve(names);
            value.resolve(names);
        }
        for (key, test) in self
            .terms
            .iter_mut()
            .flatten()
            .flat_map(|term| &mut term.labels)
        {
            key.resolve(names);
            if let Test::In(values) | Test::NotIn(values) = test {
                values.iter_mut().for_each(|value| value.resolve(names));
            }
        }
    }

    /// Whether a node meets them.
    pub(super) fn matches(&self, labels: &Labels, name: &str, names: &Names) -> bool {
        self.selector
            .iter()
            .all(|(key, value)| labels.get(key) == Some(value.id))
            && self
                .terms
                .as_ref()
                .is_none_or(|terms| terms.iter().any(|term| term.matches(labels, name, names)))
    }
}

/// A requirement that a node does not meet.
pub(super) struct Unmet {
    pub key: String,
    pub wanted: String,
    pub found: Option<String>,
}

impl NodeAffinity {
    /// What a node does not meet: of the node selector everything, of the terms those of the one that comes nearest.
    pub(super) fn unmet(&self, labels: &Labels, name: &str, names: &Names) -> Vec<Unmet> {
        let found = |key: &Name| labels.get(key).map(|value| names.text(value).to_owned());
        let differs = self
            .selector
            .iter()
            .filter(|(key, value)| labels.get(key) != Some(value.id));
        let mut unmet: Vec<Unmet> = differs
            .map(|(key, value)| Unmet {
                key: key.text.clone(),
                wanted: value.text.clone(),
                found: found(key),
            })
            .collect();
        let terms = self.terms.iter().flatten();
        let per_term = terms.map(|term| (term, term.unmet(labels, name, names)));
        let nearest = per_term.min_by_key(|(term, unmet)| (term.is_empty(), unmet.len()));
        match nearest {
            Some((term, _)) if term.is_empty() => unmet.push(Unmet {
                key: "nodeSelectorTerms".to_owned(),
                wanted: "a term with requirements".to_owned(),
                found: None,
            }),
            Some((_, list)) => unmet.extend(list),
            None => {}
        }
        unmet
    }
}

impl Term {
    fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.names.is_empty()
    }

    /// A term without requirements has nothing unmet, and matches nothing all the same.
    fn unmet(&self, labels: &Labels, name: &str, names: &Names) -> Vec<Unmet> {
        let broken = self
            .labels
            .iter()
            .filter(|(key, test)| !test.holds(labels.get(key), names));
        let of_labels = broken.map(|(key, test)| Unmet {
            key: key.text.clone(),
            wanted: test.to_string(),
            found: labels.get(key).map(|value| names.text(value).to_owned()),
        });
        let broken = self.names.iter().filter(|test| !test.holds(name));
        let of_name = broken.map(|test| Unmet {
            key: "metadata.name".to_owned(),
            wanted: match test {
                NameTest::Is(wanted) => wanted.clone(),
                NameTest::IsNot(unwanted) => format!("not {unwanted}"),
            },
            found: Some(name.to_owned()),
        });
        of_labels.chain(of_name).collect()
    }

    fn read(term: &Value) -> Result<Self, String> {
        let labels = each(term, "matchExpressions", |expression| {
            let key = text_at(expression, "key");
            if key.is_empty() {
                return Err("key is missing".to_owned());
            }
            Ok((Name::new(key), Test::read(expression)?))
        })?;
        Ok(Self {
            labels,
            names: each(term, "matchFields", NameTest::read)?,
        })
    }

    fn matches(&self, labels: &Labels, name: &str, names: &Names) -> bool {
        !self.is_empty()
            && self
                .labels
                .iter()
                .all(|(key, test)| test.holds(labels.get(key), names))
            && self.names.iter().all(|test| test.holds(name))
    }
}

fn each<T>(
    term: &Value,
    key: &str,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let one = |(index, value)| read(value).map_err(|error| format!("{key}[{index}].{error}"));
    list_in(term, key).iter().enumerate().map(one).collect()
}

impl Test {
    fn read(expression: &Value) -> Result<Self, String> {
        let values = values_of(expression)?;
        match (text_at(expression, "operator"), values.as_slice()) {
            ("In" | "NotIn", []) => Err("values must not be empty for In and NotIn".to_owned()),
            ("In", values) => Ok(Self::In(
                values.iter().map(|value| Name::new(value)).collect(),
            )),
            ("NotIn", values) => Ok(Self::NotIn(
                values.iter().map(|value| Name::new(value)).collect(),
            )),
            ("Exists", []) => Ok(Self::Exists),
            ("DoesNotExist", []) => Ok(Self::DoesNotExist),
            ("Exists" | "DoesNotExist", _) => {
                Err("values must be empty for Exists and DoesNotExist".to_owned())
            }
            (operator @ ("Gt" | "Lt"), values) => {
                let [value] = values else {
                    return Err("values must be one integer for Gt and Lt".to_owned());
                };
                let number = value.parse().map_err(|_| {
                    format!("values: {value:?} is not an integer, as Gt and Lt need")
                })?;
                Ok(if operator == "Gt" {
                    Self::Gt(number)
                } else {
                    Self::Lt(number)
                })
            }
            (other, _) => Err(format!(
                "operator {other:?} is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt"
            )),
        }
    }

    fn holds(&self, label: Option<Id>, names: &Names) -> bool {
        let number = || label.and_then(|label| names.text(label).parse::<i64>().ok());
        let is_one_of = |values: &[Name], label| values.iter().any(|value| value.id == label);
        match self {
            Self::In(values) => label.is_some_and(|label| is_one_of(values, label)),
            Self::NotIn(values) => label.is_none_or(|label| !is_one_of(values, label)),
            Self::Exists => label.is_some(),
            Self::DoesNotExist => label.is_none(),
            Self::Gt(bound) => number().is_some_and(|number| number > *bound),
            Self::Lt(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &[Name]| {
            let texts: Vec<&str> = values.iter().map(|value| value.text.as_str()).collect();
            texts.join(", ")
        };
        match self {
            Self::In(values) if values.len() == 1 => f.write_str(&list(values)),
            Self::In(values) => write!(f, "one of {}", list(values)),
            Self::NotIn(values) => write!(f, "none of {}", list(values)),
            Self::Exists => f.write_str("set"),
            Self::DoesNotExist => f.write_str("not set"),
            Self::Gt(bound) => write!(f, "more than {bound}"),
            Self::Lt(bound) => write!(f, "less than {bound}"),
        }
    }
}

impl NameTest {
    fn read(field: &Value) -> Result<Self, String> {
        let key = text_at(field, "key");
        if key != "metadata.name" {
            return Err(format!(
                "key {key:?} is not supported; only metadata.name is"
            ));
        }
        let Ok([value]) = <[String; 1]>::try_from(values_of(field)?) else {
            return Err("values must be one name".to_owned());
        };
        match text_at(field, "operator") {
            "In" => Ok(Self::Is(value)),
            "NotIn" => Ok(Self::IsNot(value)),
            other => Err(format!("operator {other:?} is not one of In, NotIn")),
        }
    }

    fn holds(&self, name: &str) -> bool {
        match self {
            Self::Is(wanted) => wanted == name,
            Self::IsNot(unwanted) => unwanted != name,
        }
    }
}

fn values_of(requirement: &Value) -> Result<Vec<String>, String> {
    let text = |value: &Value| {
        value
            .as_str()
            .map(str::to_owned)
            .ok_or("values: not a string; put it in quotes".to_owned())
    };
    list_in(requirement, "values").iter().map(text).collect()
}
