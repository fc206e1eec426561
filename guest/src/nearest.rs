//! Names that somebody may have meant.

/// Levenshtein distance without regard to case; the inputs are names, a few dozen bytes.
pub fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The candidate that was most likely meant: at most a third of the name is wrong.
pub fn meant<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Longer texts are no slips, and comparing them is quadratic.
    const LONGEST: usize = 256;
    if name.len() > LONGEST {
        return None;
    }
    let short = candidates.filter(|candidate| candidate.len() <= LONGEST);
    let nearest = short.map(|candidate| (edit_distance(name, candidate), candidate));
    let (distance, candidate) = nearest.min()?;
    let longest = name.len().max(candidate.len());
    (distance * 3 <= longest).then_some(candidate)
}
