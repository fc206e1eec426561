//! Names that somebody may have meant.

/// Edit distance without regard to case, with two neighbours exchanged as one edit; the inputs are names, a few dozen bytes.
pub fn edit_distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(&a.to_ascii_lowercase(), &b.to_ascii_lowercase())
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

/// The same for names that begin with what they stand for, such as `gpu.example.com`: one that begins with another word is
/// another name, however long the rest that they share.
pub fn meant_qualified<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let first = |name: &'_ str| name.split('.').next().unwrap_or_default().len();
    let alike = |candidate: &&str| {
        let begin = &candidate[..first(candidate)];
        meant(&name[..first(name)], std::iter::once(begin)).is_some()
    };
    meant(name, candidates.filter(alike))
}

/// How a text that is no quantity was probably meant: `40GB` as `"40G" or "40Gi"`.
pub fn quantity_meant(text: &str) -> Option<String> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    if number.is_empty() || number.len() > 20 {
        return None;
    }
    let suffix = suffix.trim().to_ascii_lowercase();
    let letters = suffix
        .trim_end_matches("bytes")
        .trim_end_matches("byte")
        .trim_end_matches('b');
    let (decimal, binary) = match letters.trim_end_matches('i') {
        "k" => ("k", "Ki"),
        "m" => ("M", "Mi"),
        "g" => ("G", "Gi"),
        "t" => ("T", "Ti"),
        "p" => ("P", "Pi"),
        "" | "cpu" | "cpus" | "core" | "cores" => return Some(format!("\"{number}\"")),
        _ => return None,
    };
    Some(match letters.ends_with('i') {
        true => format!("\"{number}{binary}\""),
        false => format!("\"{number}{decimal}\" or \"{number}{binary}\""),
    })
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
    fn quantities_with_other_suffixes() {
        for (text, meant) in [
            ("40GB", Some("\"40G\" or \"40Gi\"")),
            ("40GiB", Some("\"40Gi\"")),
            ("1.5 gb", Some("\"1.5G\" or \"1.5Gi\"")),
            ("1K", Some("\"1k\" or \"1Ki\"")),
            ("1cpu", Some("\"1\"")),
            ("12 bytes", Some("\"12\"")),
            ("forty", None),
            ("1x", None),
        ] {
            assert_eq!(quantity_meant(text).as_deref(), meant, "{text}");
        }
    }

    #[test]
    fn another_first_word_is_another_name() {
        let near = |name, known: &'static str| meant_qualified(name, std::iter::once(known));
        for (name, known) in [
            ("gpu.intel.com", "gaudi.intel.com"),
            ("nic.example.com", "gpu.example.com"),
            ("dranet.dra.net", "dra.net"),
        ] {
            assert_eq!(near(name, known), None, "{name}");
        }
        assert_eq!(
            near("gpu.exmaple.com", "gpu.example.com"),
            Some("gpu.example.com")
        );
        assert_eq!(near("gpux", "gpu"), Some("gpu"));
    }

    #[test]
    fn only_what_is_near_is_meant() {
        let known = || ["model", "numa", "memory"].into_iter();
        assert_eq!(meant("modle", known()), Some("model"));
        assert_eq!(meant("mem", known()), None);
        assert_eq!(meant("model", known()), Some("model"));
    }
}
