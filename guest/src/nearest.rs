//! Names that somebody may have meant.

/// Edit distance without regard to case, with two neighbours exchanged as one edit; the inputs are names, a few dozen bytes.
pub fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last = before.clone();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
        row[0] = i;
        for j in 1..=b.len() {
            let differ = a[i - 1] != b[j - 1];
            row[j] = (last[j - 1] + usize::from(differ))
                .min(last[j] + 1)
                .min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, distance) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "ABC", 0),
            ("model", "modle", 1),
            ("model", "mode", 1),
            ("kitten", "sitting", 3),
            ("gpu.example.com", "gpu.exmaple.con", 2),
        ] {
            assert_eq!(
                (edit_distance(a, b), edit_distance(b, a)),
                (distance, distance),
                "{a} {b}"
            );
        }
    }

    #[test]
    fn only_what_is_near_is_meant() {
        let known = || ["model", "numa", "memory"].into_iter();
        assert_eq!(meant("modle", known()), Some("model"));
        assert_eq!(meant("mem", known()), None);
        assert_eq!(meant("model", known()), Some("model"));
    }
}
