//! `expected.yaml` of a scenario. A key that nobody knows is an error: it might be a check that would silently not take place.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// What must come out.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expected {
    /// Name of the folder.
    pub scenario: String,
    /// Flags of `dractl simulate`.
    pub run: String,
    /// In the order of the output.
    pub pods: Vec<Pod>,
    /// Claims as they are in the end.
    #[serde(default, rename = "final")]
    pub at_end: Vec<AtEnd>,
    /// Texts that the warnings must contain, each in one of them.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// In plain words, by the name of the pods without their number.
    #[serde(default)]
    pub summary: BTreeMap<String, String>,
    /// In plain words: checked by a test that knows the scenario, or by nobody.
    #[serde(default)]
    pub checks: Vec<String>,
    #[serde(rename = "api")]
    _api: IgnoredAny,
    #[serde(default, rename = "features")]
    _features: Option<IgnoredAny>,
    #[serde(rename = "semantics")]
    _semantics: IgnoredAny,
    #[serde(default, rename = "inputProblems")]
    _input_problems: Option<IgnoredAny>,
}

/// What becomes of a pod.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pod {
    /// `namespace/name`.
    pub pod: String,
    /// As in the output.
    pub verdict: String,
    /// Extension point that decides.
    pub at: Option<String>,
    /// In words; texts of upstream's within it are checked.
    pub reason: Option<String>,
    /// Text that the pod's message must contain.
    pub message: Option<String>,
    /// The feasible nodes, any of which may be chosen.
    pub nodes: Option<Vec<String>>,
    /// How many there are if every pod before was placed by first fit.
    pub feasible_nodes: Option<usize>,
    /// The one that first fit takes.
    pub first_fit_node: Option<String>,
    /// Its claims.
    #[serde(default)]
    pub claims: Vec<Claim>,
    /// Attempts after the first: `1 s Kind/Action namespace/name after PreBind`.
    pub retries: Option<Vec<String>>,
    #[serde(default, rename = "later")]
    _later: Option<IgnoredAny>,
    #[serde(default, rename = "go131")]
    _go131: Option<IgnoredAny>,
    #[serde(default, rename = "note")]
    _note: Option<IgnoredAny>,
    #[serde(default, rename = "filter")]
    _filter: Option<IgnoredAny>,
    #[serde(default, rename = "postFilter")]
    _post_filter: Option<IgnoredAny>,
    #[serde(default, rename = "writes")]
    _writes: Option<IgnoredAny>,
}

/// A claim of a pod.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Claim {
    /// The pod's name for it.
    pub name: String,
    /// The object, if it is not generated.
    pub claim: Option<String>,
    /// In result order.
    pub devices: Option<Vec<Device>>,
    /// On every device of the result.
    pub admin_access: Option<bool>,
    /// `config` of the allocation.
    pub config: Option<Value>,
    /// On the devices of the result, in order.
    pub consumed_capacity: Option<Vec<Value>>,
}

/// A device, in one of two notations.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Device {
    /// `request=driver/pool/device`.
    Short(String),
    /// Field by field.
    Long(LongDevice),
}

/// A device field by field.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongDevice {
    request: String,
    driver: String,
    pool: String,
    device: String,
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short(text) => f.write_str(text),
            Self::Long(long) => {
                let LongDevice {
                    request,
                    driver,
                    pool,
                    device,
                } = long;
                write!(f, "{request}={driver}/{pool}/{device}")
            }
        }
    }
}

/// A claim in the end.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AtEnd {
    /// `namespace/name`.
    pub claim: String,
    /// Names, in order.
    pub reserved_for: Vec<String>,
}

#[test]
fn both_notations_say_the_same() {
    let read = |yaml: &str| serde_saphyr::from_str::<Vec<Device>>(yaml).unwrap();
    let short = read("[r=d.example.com/p/x]");
    let long = read("[{request: r, driver: d.example.com, pool: p, device: x}]");
    assert_eq!(short[0].to_string(), long[0].to_string());
}

#[test]
fn a_key_that_nobody_checks_is_refused() {
    let read = |extra: &str| {
        let yaml = format!("{{scenario: s, api: v1, semantics: x, run: '', pods: []{extra}}}");
        serde_saphyr::from_str::<Expected>(&yaml)
    };
    assert!(read("").is_ok());
    assert!(read(", nodez: 1").is_err());
}
