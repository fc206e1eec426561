//! Manifests with random damage: whatever comes out, nothing panics, and an error names the file.

use super::*;

const YAML: &str = "\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: n1, labels: &l {a: \"1\", 'b': x}}
- {apiVersion: v1, kind: Pod, metadata: {generateName: p-, labels: *l}, spec: {containers: [{name: c}]}}
---
# text
kind: Pod
metadata:
  name: q
spec:
  nodeSelector:
    a: |
      1
  priority: -5
...
---
{\"apiVersion\": \"apps/v1\", \"kind\": \"Deployment\", \"metadata\": {\"name\": \"d\"}, \"spec\": {\"replicas\": 3e2}}
";

const JSON: &str = r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},
"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":1,"memory":"1Gi"}}}]}},{"kind":"PodList","items":[{"metadata":{"name":"x"}}]}]}
{"kind":"Node","metadata":{"name":"n\u00e9\\"},"status":null}"#;

/// Pieces that are likely to lead somewhere.
const PIECES: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    "\n",
    "\n---\n",
    "\n...\n",
    "- ",
    "? ",
    "&x ",
    "*x",
    "!!int ",
    "<<: ",
    "|\n",
    "\"",
    "'",
    "#",
    "%YAML 1.2\n",
    "\t",
    "\u{feff}",
    "kind",
    "items: ",
];

fn damage(random: &mut fastrand::Rng, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..random.usize(1..6) {
        let at = random.usize(..=characters.len());
        match random.u8(..5) {
            0 => characters.truncate(at),
            1 if at < characters.len() => {
                characters.remove(at);
            }
            2 if at < characters.len() => characters[at] = random.char(..),
            3 => {
                let end = (at + random.usize(..40)).min(characters.len());
                let copy: Vec<char> = characters[at..end].to_vec();
                let to = random.usize(..=characters.len());
                characters.splice(to..to, copy);
            }
            _ => {
                let piece = PIECES[random.usize(..PIECES.len())];
                characters.splice(at..at, piece.chars());
            }
        }
    }
    characters.into_iter().collect()
}

#[test]
fn damaged_manifests_never_panic() {
    let mut random = fastrand::Rng::with_seed(20_240_924);
    let mut refused = 0;
    for round in 0..6_000 {
        let text = damage(&mut random, if round % 2 == 0 { YAML } else { JSON });
        match read_all(&text) {
            Ok(input) => assert_eq!(input.objects.len(), input.origins.len()),
            Err(error) => {
                refused += 1;
                assert!(error.to_string().starts_with("in.yaml"), "{error}");
                let last = text.split('\n').count();
                assert!(
                    error.line.unwrap_or(1) <= last,
                    "{error} is behind line {last}\n{text}"
                );
            }
        }
    }
    assert!(
        (1_000..6_000).contains(&refused),
        "{refused} of 6000 were refused"
    );
}
