//! Which feasible node is taken: the highest score, then the first name (upstream's `prioritizeNodes` and `selectHost`, which
//! breaks ties at random; this host must be deterministic).

use super::Node;

const HIGHEST_SCORE: i128 = 100;

/// The node to take. `scores` are the plugin's own numbers, in the order of `nodes`.
pub fn choose<'a>(nodes: &'a [Node], scores: Option<&[i64]>) -> Result<&'a Node, String> {
    let scores = match scores {
        Some(scores) if scores.len() != nodes.len() => {
            return Err(format!(
                "the plugin scored {} of {} nodes",
                scores.len(),
                nodes.len()
            ));
        }
        Some(scores) => normalise(scores),
        None => vec![0; nodes.len()],
    };
    let best = nodes
        .iter()
        .zip(scores)
        .min_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.name.cmp(&b.name)));
    best.map(|(node, _)| node)
        .ok_or_else(|| "there is no node to choose from".to_owned())
}

/// Brings scores to 0..100, linearly.
fn normalise(scores: &[i64]) -> Vec<i128> {
    let lowest = scores.iter().min().copied().map_or(0, i128::from);
    let highest = scores.iter().max().copied().map_or(0, i128::from);
    let span = (highest - lowest).max(1);
    scores
        .iter()
        .map(|&score| (i128::from(score) - lowest) * HIGHEST_SCORE / span)
        .collect()
}
