//! `resourceclaim-helpers-*`: what a claim says about a pod and a pod about its claims. Natively: these are modules of the
//! guest below any extension point.

use dynamic_resources::api::{
    AllocationConfiguration, ConfigSource, DeviceConfiguration, DeviceTaint, DeviceToleration, Pod,
    ResourceClaim, TaintEffect, edit, wire,
};
use dynamic_resources::claims::{
    base_request, claim_name, config_for_result, is_for_pod, is_reserved_for,
};
use dynamic_resources::profile::Profile;
use serde_json::{Value, json};

use super::allocator::case::{Case, without_empty};
use super::{Outcome, Verdict};

const POD_GROUPS: &str =
    "feature not implemented: DRAWorkloadResourceClaims (claims of pod groups)";
const EXTENDED: &str =
    "feature not implemented: DRAExtendedResource (statuses of extended resources)";
const STATUSES: &str =
    "not part of the plugin: statuses of generated claims are written by the claim controller";

/// Runs one line.
pub fn run(file: &str, _number: usize, json: &Value) -> Outcome {
    Outcome {
        verdict: judge(file, json).unwrap_or_else(Verdict::Failed),
        component: false,
        native: true,
    }
}

fn judge(file: &str, json: &Value) -> Result<Verdict, String> {
    let test = json["test"].as_str().ok_or("test is missing")?;
    let case = &json["case"];
    if !case.is_object() {
        return Err(format!("{test}: case is missing"));
    }
    let line = json!({"tag": json["tag"], "classes": [], "slices": [], "claimsToAllocate": []});
    let line = Case::new(file, &line)?;
    let helper = Helper {
        case,
        line: &line,
        profile: match line.minor {
            31 => Profile::v1_31(),
            _ => Profile::current(),
        },
    };
    let (table, row) = test.split_once('/').unwrap_or((test, ""));
    let (ours, recorded) = match table {
        "TestNameFromPodGroup" => return Ok(Verdict::Differs(POD_GROUPS)),
        "TestResourceClaimIsFor" if row.starts_with("PodGroup/") => {
            return Ok(Verdict::Differs(POD_GROUPS));
        }
        "TestPodExtendedStatusEqual" => return Ok(Verdict::Differs(EXTENDED)),
        "TestPodStatusEqual" => return Ok(Verdict::Differs(STATUSES)),
        "TestBaseRequestRef" => helper.base_request()?,
        "TestBindTo" => helper.bind_to()?,
        "TestConfigForResult" => helper.config_for_result()?,
        "TestIsReservedForPod" | "TestIsReservedFor" => helper.is_reserved_for()?,
        "TestName" => helper.name()?,
        "TestTolerationToleratesTaint" => helper.tolerates()?,
        "TestResourceClaimIsFor" | "TestResourceClaimIsForPod" => helper.is_for_pod()?,
        other => return Err(format!("{other} is a table that this runner does not know")),
    };
    if ours == recorded {
        return Ok(Verdict::Passed);
    }
    // With the feature on a claim may belong to, or be reserved for, the pod's group instead; here it is refused.
    let refuses = ours == false || (table.starts_with("TestResourceClaimIsFor") && ours != "");
    let of_group = table == "TestBindTo" && recorded["resource"] != "pods";
    if (case["acceptPodGroup"] == true && refuses) || (!case["podGroup"].is_null() && of_group) {
        return Ok(Verdict::Differs(POD_GROUPS));
    }
    Err(format!("{test}: {ours}, recorded {recorded}"))
}

/// A row of a table.
struct Helper<'a> {
    case: &'a Value,
    line: &'a Case<'a>,
    profile: Profile,
}

/// Our answer and the recorded one.
type Answers = Result<(Value, Value), String>;

impl Helper<'_> {
    fn text(&self, pointer: &str) -> Result<&str, String> {
        let text = self.case.pointer(pointer).and_then(Value::as_str);
        text.ok_or_else(|| format!("{pointer} is missing"))
    }

    /// A recorded value that has to be there, null included.
    fn recorded(&self, field: &str) -> Result<Value, String> {
        let value = self.case.get(field).cloned();
        value.ok_or_else(|| format!("{field} is missing"))
    }

    fn pod(&self, pod: &Value) -> Result<Pod, String> {
        let mut pod = pod.clone();
        pod["apiVersion"] = "v1".into();
        wire::pod(pod.to_string().as_bytes()).map_err(|problem| problem.to_string())
    }

    fn claim(&self) -> Result<ResourceClaim, String> {
        let claim = self.line.object("ResourceClaim", &self.case["claim"]);
        wire::resource_claim(claim.to_string().as_bytes(), &self.profile)
            .map_err(|problem| problem.to_string())
    }

    fn base_request(&self) -> Answers {
        let base = base_request(self.text("/requestRef")?);
        Ok((base.into(), self.recorded("expectedBaseRequestRef")?))
    }

    /// What is appended to `status.reservedFor`.
    fn bind_to(&self) -> Answers {
        let mut claim = json!({});
        edit::reserve_for(&mut claim, &self.pod(&self.case["pod"])?.meta);
        let recorded = match self.recorded("expectedError")? {
            Value::Null => self.recorded("expected")?,
            error => error,
        };
        Ok((claim["status"]["reservedFor"][0].clone(), recorded))
    }

    fn config_for_result(&self) -> Answers {
        let all: Vec<AllocationConfiguration> = list(&self.case["deviceConfigurations"])
            .map(configuration)
            .collect::<Result<_, _>>()?;
        let found: Value = config_for_result(&all, self.text("/result/request")?)
            .into_iter()
            .map(|entry| without_empty(&configuration_json(entry)))
            .collect();
        let recorded = list(&self.case["expectedConfigs"]).map(without_empty);
        Ok((found, recorded.collect()))
    }

    fn is_reserved_for(&self) -> Answers {
        let reserved = is_reserved_for(&self.claim()?, &self.pod(&self.case["pod"])?.meta.uid);
        Ok((reserved.into(), self.recorded("expectedResult")?))
    }

    fn name(&self) -> Answers {
        let mut pod = self.case["pod"].clone();
        pod["spec"]["resourceClaims"] = json!([self.case["podClaim"]]);
        let pod = self.pod(&pod)?;
        let entry = pod.resource_claims.first().ok_or("podClaim is missing")?;
        let ours = match claim_name(&pod, entry) {
            Ok(found) => json!([found.name, found.check_owner, null]),
            Err(error) => json!([null, false, error]),
        };
        let recorded = ["expectedName", "expectedCheck", "expectedError"]
            .into_iter()
            .map(|field| self.recorded(field));
        Ok((ours, recorded.collect::<Result<_, _>>()?))
    }

    fn tolerates(&self) -> Answers {
        let given = |of: &str, field: &str| {
            let text = self.case[of][field].as_str();
            text.unwrap_or_default().to_owned()
        };
        let toleration = DeviceToleration {
            key: given("toleration", "key"),
            operator: given("toleration", "operator"),
            value: given("toleration", "value"),
            effect: given("toleration", "effect"),
            toleration_seconds: None,
        };
        let effect = given("taint", "effect");
        let taint = DeviceTaint {
            key: given("taint", "key").into(),
            value: given("taint", "value").into(),
            effect: TaintEffect::named(&effect).ok_or_else(|| format!("effect {effect:?}"))?,
        };
        let tolerated = toleration.tolerates(&taint);
        Ok((tolerated.into(), self.recorded("expectTolerated")?))
    }

    fn is_for_pod(&self) -> Answers {
        let (pod, claim) = (self.pod(&self.case["pod"])?, self.claim()?);
        let answer = is_for_pod(&pod.meta, &claim.meta, &self.profile);
        let recorded = self.recorded("expectedError")?;
        let recorded = recorded.as_str().unwrap_or_default();
        Ok((answer.err().unwrap_or_default().into(), recorded.into()))
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn configuration(entry: &Value) -> Result<AllocationConfiguration, String> {
    let source = match entry["source"].as_str() {
        Some("FromClass") => ConfigSource::Class,
        Some("FromClaim") => ConfigSource::Claim,
        other => return Err(format!("source is {other:?}")),
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(AllocationConfiguration {
        source,
        config: DeviceConfiguration {
            requests: list(&entry["requests"]).map(text).collect(),
            opaque: entry.get("opaque").cloned(),
        },
    })
}

fn configuration_json(entry: &AllocationConfiguration) -> Value {
    let source = match entry.source {
        ConfigSource::Class => "FromClass",
        ConfigSource::Claim => "FromClaim",
    };
    json!({"source": source, "requests": entry.config.requests, "opaque": entry.config.opaque})
}

#[test]
fn a_helper_row_can_fail() {
    let row = |test: &str, case: Value| {
        let line =
            json!({"tag": "dynamic-resource-allocation v0.36.2", "test": test, "case": case});
        run("resourceclaim-helpers-v0.36.jsonl", 0, &line).verdict
    };
    let base = |expected: &str| json!({"requestRef": "a/b", "expectedBaseRequestRef": expected});
    assert_eq!(row("TestBaseRequestRef/x", base("a")), Verdict::Passed);
    for failed in [
        row("TestBaseRequestRef/x", base("b")),
        row("TestBaseRequestRef/x", json!({"requestRef": "a/b"})),
        row("TestNobodyKnows/x", json!({})),
    ] {
        assert!(matches!(failed, Verdict::Failed(_)), "{failed:?}");
    }
}
