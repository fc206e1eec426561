//! Names that somebody may have meant.

/// Longer texts are no slips, and comparing them is quadratic.
const LONGEST: usize = 200;

/// Letters to insert, delete, replace or exchange with their neighbour, without regard to case; [`usize::MAX`] for texts too long
/// to be names.
pub fn distance(a: &str, b: &str) -> usize {
    if a.len() > LONGEST || b.len() > LONGEST {
        return usize::MAX;
    }
    strsim::osa_distance(&a.to_ascii_lowercase(), &b.to_ascii_lowercase())
}

/// The candidate that was most likely meant: at most a third of the name is wrong.
pub fn meant<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let measured = candidates.map(|candidate| (distance(name, candidate), candidate));
    let (distance, nearest) = measured.min()?;
    let longest = name.len().max(nearest.len());
    (distance != usize::MAX && distance.saturating_mul(3) <= longest).then_some(nearest)
}

/// The class that is meant by a name that no class has: those of one vendor differ in what stands before the first dot.
pub fn class_meant<'n>(name: &str, classes: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let label = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let own = label(name);
    let is_near = |class: &&str| {
        let label = label(class);
        label == own || meant(&own, std::iter::once(label.as_str())).is_some()
    };
    meant(name, classes.filter(is_near))
}

/// How far two names are from each other: as [`distance`], but what continues a name, or is continued by it, is near.
pub fn remoteness(a: &str, b: &str) -> usize {
    match a.contains(b) || b.contains(a) {
        true => 1,
        false => distance(a, b),
    }
}

/// Those of which the name comes nearest by [`remoteness`], at most `most` of them, the nearest first.
pub fn nearest<'a, T>(
    name: &str,
    known: impl IntoIterator<Item = T>,
    name_of: impl Fn(&T) -> &'a str,
    most: usize,
) -> Vec<T> {
    let rated = known
        .into_iter()
        .map(|known| (remoteness(name, name_of(&known)), known));
    let mut rated: Vec<(usize, T)> = rated.collect();
    rated.sort_by_key(|(remoteness, _)| *remoteness);
    rated.truncate(most);
    rated.into_iter().map(|(_, known)| known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, letters) in [
            ("", "abc", 3),
            ("abc", "bc", 1),
            ("Pod", "Node", 2),
            ("abc", "ABC", 0),
            ("model", "modle", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(
                (distance(a, b), distance(b, a)),
                (letters, letters),
                "{a} {b}"
            );
        }
        assert_eq!(distance(&"a".repeat(LONGEST + 1), "a"), usize::MAX);
    }

    #[test]
    fn at_most_a_third_is_wrong() {
        let known = || ["metadata", "name"].into_iter();
        assert_eq!(meant("metdata", known()), Some("metadata"));
        assert_eq!(meant("nmae", known()), Some("name"));
        assert_eq!(meant("no", known()), None);
        assert_eq!(meant("", ["a"].into_iter()), None);
        assert_eq!(meant("a", std::iter::empty()), None);
    }

    #[test]
    fn classes_of_one_vendor_are_others() {
        let classes = || ["nic.example.com", "gpu.example.com"].into_iter();
        assert_eq!(
            class_meant("gpu.exmaple.com", classes()),
            Some("gpu.example.com")
        );
        assert_eq!(
            class_meant("gup.example.com", classes()),
            Some("gpu.example.com")
        );
        assert_eq!(class_meant("tpu7.example.com", classes()), None);
    }

    #[test]
    fn the_nearest_come_first() {
        let known = ["worker", "trainer-7", "train", "tainer"];
        let found = nearest("trainer", known, |name| name, 3);
        assert_eq!(found, ["trainer-7", "train", "tainer"]);
    }
}
