//! Pod, Node and PodSchedulingContext.

use super::Reading;
use super::common::metadata;
use super::fault::Fault;
use super::raw;
use super::text::{Pairs, Str, text, texts};
use crate::api::{Node, Pod, PodResourceClaim, PodSchedulingContext};

pub(super) fn pod(wire: raw::Pod<'_>, reading: &Reading<'_>) -> Result<Pod, Fault> {
    let status = wire
        .status
        .and_then(|status| status.resource_claim_statuses)
        .unwrap_or_default();
    let claims = reading
        .should(wire.spec)
        .and_then(|spec| spec.resource_claims)
        .unwrap_or_default();
    Ok(Pod {
        meta: metadata(wire.metadata),
        resource_claims: claims
            .into_iter()
            .enumerate()
            .map(|(i, claim)| {
                pod_claim(claim, reading)
                    .map_err(|fault| fault.under_index("resourceClaims", i).under("spec"))
            })
            .collect::<Result<_, _>>()?,
        resource_claim_statuses: status
            .into_iter()
            .map(|entry| {
                (
                    text(reading.should(entry.name)),
                    owned(entry.resource_claim_name),
                )
            })
            .collect(),
    })
}

fn pod_claim(
    wire: raw::PodResourceClaim<'_>,
    reading: &Reading<'_>,
) -> Result<PodResourceClaim, Fault> {
    if wire.resource_claim_name.is_none() && wire.resource_claim_template_name.is_none() {
        reading.miss();
        refuse_source(wire.source.as_ref())?;
    }
    Ok(PodResourceClaim {
        name: text(reading.should(wire.name)),
        resource_claim_name: owned(wire.resource_claim_name),
        resource_claim_template_name: owned(wire.resource_claim_template_name),
    })
}

/// Until Kubernetes 1.30 the names stood one level deeper. To read such an entry as one without a source would hide what is wrong.
fn refuse_source(source: Option<&raw::PodClaimSource<'_>>) -> Result<(), Fault> {
    let Some(source) = source else { return Ok(()) };
    let field = match (
        &source.resource_claim_name,
        &source.resource_claim_template_name,
    ) {
        (Some(_), _) => "resourceClaimName",
        (_, Some(_)) => "resourceClaimTemplateName",
        _ => return Ok(()),
    };
    let message =
        format!("not a field since Kubernetes 1.31; move {field} from there up beside name");
    Err(Fault::new("source", message))
}

fn owned(value: Option<Str<'_>>) -> Option<String> {
    value.map(|value| value.0.into_owned())
}

pub(super) fn node(wire: raw::Node<'_>, _: &Reading<'_>) -> Result<Node, Fault> {
    let mut metadata = wire.metadata.unwrap_or_default();
    let Pairs(labels) = metadata.labels.take().unwrap_or(Pairs(Vec::new()));
    Ok(Node {
        name: text(metadata.name),
        labels: labels
            .into_iter()
            .map(|(key, value)| (key.0.into_owned(), value.0.into_owned()))
            .collect(),
        number: None,
    })
}

pub(super) fn context(
    wire: raw::Context<'_>,
    reading: &Reading<'_>,
) -> Result<PodSchedulingContext, Fault> {
    let (selected_node, potential_nodes) = wire.spec.map_or((None, None), |spec| {
        (spec.selected_node, spec.potential_nodes)
    });
    let claims = wire
        .status
        .and_then(|status| status.resource_claims)
        .unwrap_or_default();
    Ok(PodSchedulingContext {
        meta: metadata(wire.metadata),
        selected_node: text(selected_node),
        potential_nodes: texts(potential_nodes),
        claims: claims
            .into_iter()
            .map(|claim| {
                (
                    text(reading.should(claim.name)),
                    texts(claim.unsuitable_nodes),
                )
            })
            .collect(),
    })
}
