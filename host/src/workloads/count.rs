//! How many pods a workload object wants now.

use serde_json::Value;

use crate::object::Object;

/// What a workload wants.
pub(super) enum Wanted {
    /// No pods, and nothing to say about it.
    Nothing,
    /// No pods, for a reason worth saying.
    Held(&'static str),
    /// One on each node that it may use.
    PerNode,
    /// Numbered pods.
    Pods {
        /// Number of the first one.
        first: u64,
        /// How many.
        count: u64,
        /// What else to say.
        remark: Option<String>,
    },
}

/// Reads the wanted number of pods. The error names the field.
pub(super) fn wanted(workload: &Object) -> Result<Wanted, String> {
    let spec = |key: &str| number(workload, &format!("/spec/{key}"));
    match workload.id().kind.short() {
        // Makes pods at its own times.
        "CronJob" => Ok(Wanted::Nothing),
        "DaemonSet" => Ok(Wanted::PerNode),
        "Job" => wanted_by_job(workload),
        "StatefulSet" => Ok(pods(
            spec("ordinals/start")?.unwrap_or(0),
            spec("replicas")?.unwrap_or(1),
        )),
        _ => Ok(pods(0, spec("replicas")?.unwrap_or(1))),
    }
}

fn pods(first: u64, count: u64) -> Wanted {
    if count == 0 {
        Wanted::Nothing
    } else {
        Wanted::Pods {
            first,
            count,
            remark: None,
        }
    }
}

/// A Job runs as many pods at once as it may, and no more than are still to succeed.
fn wanted_by_job(job: &Object) -> Result<Wanted, String> {
    if has_ended(job) {
        return Ok(Wanted::Nothing);
    }
    if job
        .value()
        .pointer("/spec/suspend")
        .and_then(Value::as_bool)
        .unwrap_or_default()
    {
        return Ok(Wanted::Held("suspended, so it has no pods"));
    }
    let parallelism = number(job, "/spec/parallelism")?.unwrap_or(1);
    let Some(completions) = number(job, "/spec/completions")? else {
        return Ok(pods(0, parallelism));
    };
    let succeeded = number(job, "/status/succeeded")?.unwrap_or_default();
    let count = parallelism.min(completions.saturating_sub(succeeded));
    if count == 0 {
        return Ok(Wanted::Nothing);
    }
    let remark = (count < completions)
        .then(|| format!("of {completions} completions, at most {parallelism} at once"));
    Ok(Wanted::Pods {
        first: 0,
        count,
        remark,
    })
}

pub(super) fn has_ended(job: &Object) -> bool {
    let conditions = job
        .value()
        .pointer("/status/conditions")
        .and_then(Value::as_array);
    conditions.into_iter().flatten().any(|condition| {
        let text = |key: &str| {
            condition
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        matches!(text("type"), "Complete" | "Failed") && text("status") == "True"
    })
}

/// A number that may be absent.
fn number(object: &Object, pointer: &str) -> Result<Option<u64>, String> {
    match object.value().pointer(pointer) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or_else(|| {
            let field = pointer.trim_start_matches('/').replace('/', ".");
            format!("{field} is not a whole number of 0 or more")
        }),
    }
}
