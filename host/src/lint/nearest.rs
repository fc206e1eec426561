//! Names that somebody may have meant: fields, kinds, groups, values, and quantities with other suffixes.

/// Longer texts are no slips, and comparing them is quadratic.
const LONGEST: usize = 64;

/// Names under which people know a field.
const OTHER_NAMES: [(&str, &str); 3] = [
    ("claims", "resourceClaims"),
    ("toleration", "tolerations"),
    ("scheduler", "schedulerName"),
];

/// Edit distance without regard to case, with two neighbours exchanged as one edit.
pub(super) fn distance(a: &str, b: &str) -> usize {
    if a.len() > LONGEST || b.len() > LONGEST {
        return usize::MAX;
    }
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before = vec![0; b.len() + 1];
    let mut last = before.clone();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
        row[0] = i;
        for j in 1..=b.len() {
            let differ = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j - 1] + differ).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
    }
    row[b.len()]
}

/// The candidate that was most likely meant: at most a third of the name is wrong.
pub(crate) fn meant<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let measured = candidates.map(|candidate| (distance(name, candidate), candidate));
    let (distance, nearest) = measured.min()?;
    let longest = name.len().max(nearest.len());
    (distance != usize::MAX && distance * 3 <= longest).then_some(nearest)
}

/// The field that was meant: a letter or two are wrong, or the one is the beginning of the other.
pub(super) fn field_meant<'a>(
    name: &str,
    fields: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    const SHORTEST: usize = 3;
    let most = if name.len() < 6 { 1 } else { 2 };
    let nearest = fields
        .clone()
        .min_by_key(|field| distance(name, field))
        .filter(|field| distance(name, field) <= most);
    let begins = |long: &str, short: &str| {
        short.len() >= SHORTEST
            && long
                .get(..short.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(short))
    };
    let alike = fields
        .clone()
        .filter(|field| begins(field, name) || begins(name, field));
    let mut fields = fields;
    nearest
        .or_else(|| alike.min_by_key(|field| field.len()))
        .or_else(|| fields.find(|field| OTHER_NAMES.contains(&(name, field))))
}

/// How a text that is no quantity was probably meant: `1GB` as `1G or 1Gi`.
pub(super) fn quantity_meant(text: &str) -> Option<String> {
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
        "" | "cpu" | "cpus" | "core" | "cores" => return Some(number.to_owned()),
        _ => return None,
    };
    Some(match letters.ends_with('i') {
        true => format!("{number}{binary}"),
        false => format!("{number}{decimal} or {number}{binary}"),
    })
}
