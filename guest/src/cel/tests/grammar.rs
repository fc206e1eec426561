//! Random expressions for the properties.

/// A small generator; the seeds are fixed, so a failure repeats.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) % n as u64) as usize
    }

    pub(super) fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }
}

/// Templates by type: `$` and a letter is an expression of that type. The first ones of a type have no holes.
pub(super) type Grammar = &'static [(char, &'static [&'static str])];

/// What the crate's evaluator has too: B bool, I int, U uint, D double, S string, L list of int, T list of string, M map
/// from string to int.
pub(super) const CORE: Grammar = &[
    (
        'B',
        &[
            "true",
            "false",
            "!$B",
            "($B && $B)",
            "($B || $B)",
            "($B ? $B : $B)",
            "($I == $I)",
            "($I < $I)",
            "($S == $S)",
            "($S <= $S)",
            "($I in $L)",
            "($S in $M)",
            "$L.all(x, x > $I)",
            "$T.exists(x, x == $S)",
            "$L.exists_one(x, x == $I)",
            "($L == $L)",
            "($M == $M)",
            "$S.startsWith($S)",
            "$S.contains($S)",
            "$S.endsWith($S)",
            "($D >= $D)",
            "($U != $U)",
            "has($M.a)",
            "([$B][0])",
        ],
    ),
    (
        'I',
        &[
            "1",
            "0",
            "-3",
            "7",
            "($I + $I)",
            "($I - $I)",
            "($I * $I)",
            "($I / $I)",
            "($I % $I)",
            "size($S)",
            "$L.size()",
            "size($M)",
            "$L[$I]",
            "$M['a']",
            "$M.b",
            "int($D)",
            "int($U)",
            "(-$I)",
            "($B ? $I : $I)",
        ],
    ),
    (
        'U',
        &["2u", "0u", "($U + $U)", "uint($I)", "($B ? $U : $U)"],
    ),
    (
        'D',
        &[
            "1.5",
            "0.0",
            "($D + $D)",
            "($D / $D)",
            "double($I)",
            "(-$D)",
        ],
    ),
    (
        'S',
        &[
            "'abc'",
            "''",
            "'é☃'",
            "'a'",
            "($S + $S)",
            "string($I)",
            "string($B)",
            "$T[$I]",
            "($B ? $S : $S)",
        ],
    ),
    (
        'L',
        &[
            "[1, 2]",
            "[3]",
            "[$I, $I]",
            "($L + $L)",
            "$L.filter(x, x > $I)",
            "$L.map(x, x + $I)",
            "$T.map(x, size(x))",
        ],
    ),
    (
        'T',
        &[
            "['a', 'b']",
            "[$S]",
            "$T.map(x, x + $S)",
            "$T.filter(x, x != $S)",
            "{'a': $I}.map(k, k)",
        ],
    ),
    (
        'M',
        &[
            "{'a': 1}",
            "{'a': 1, 'b': 2}",
            "{'a': $I, 'c': $I}",
            "($B ? $M : $M)",
        ],
    ),
];

/// The rest: Q quantity, V version, O optional int, R duration, Z timestamp, P address, N network, Y bytes.
pub(super) const KUBERNETES: Grammar = &[
    (
        'B',
        &[
            "$Q.isGreaterThan($Q)",
            "$V.isLessThan($V)",
            "isQuantity($S)",
            "isSemver($S, $B)",
            "$Q.isInteger()",
            "($Q == $Q)",
            "($V == $V)",
            "$O.hasValue()",
            "$L.isSorted()",
            "sets.contains($L, $L)",
            "$S.matches($S)",
            "matches($S, 'a+')",
            "$N.containsIP($P)",
            "isIP($S)",
            "isURL($S)",
            "$P.isLoopback()",
            "($R < $R)",
            "($Z >= $Z)",
            "$L.all(i, x, i < x)",
            "$M.exists(k, v, v == $I)",
            "format.dns1123Label().validate($S).hasValue()",
            "cel.bind(y, $I, y == $I)",
            "device.allowMultipleAllocations",
            "(type($I) == int)",
            "($Y == $Y)",
            "([?$O] == $L)",
            "bool($S)",
        ],
    ),
    (
        'I',
        &[
            "$Q.asInteger()",
            "$Q.compareTo($Q)",
            "sign($Q)",
            "$V.major()",
            "$O.orValue($I)",
            "$O.value()",
            "$L.sum()",
            "$L.max()",
            "$S.indexOf($S)",
            "$S.lastIndexOf($S)",
            "$T.indexOf($S)",
            "$Z.getHours('+02:00')",
            "$R.getMinutes()",
            "$N.prefixLength()",
            "$P.family()",
            "int($Z)",
            "size($Y)",
            "$M[?'a'].orValue($I)",
            "$M.?b.orValue(3)",
        ],
    ),
    ('D', &["$Q.asApproximateFloat()", "double($S)"]),
    (
        'S',
        &[
            "device.driver",
            "$S.lowerAscii()",
            "$S.substring($I)",
            "$S.charAt($I)",
            "$S.replace($S, $S)",
            "$T.join($S)",
            "$S.find($S)",
            "strings.quote($S)",
            "'%s-%d'.format([$S, $I])",
            "string($R)",
            "string($Z)",
            "string($P)",
            "url('https://h:1/p').getHost()",
            "$S.trim()",
            "string($D)",
        ],
    ),
    (
        'L',
        &[
            "lists.range($I)",
            "$L.sort()",
            "$L.distinct()",
            "$L.reverse()",
            "$L.slice(0, $I)",
            "[$L, $L].flatten()",
            "[?$O]",
        ],
    ),
    (
        'T',
        &[
            "$S.split($S)",
            "$S.findAll($S)",
            "$T.sortBy(x, x.size())",
            "$L.transformList(i, x, string(x + i))",
        ],
    ),
    (
        'M',
        &[
            "{?'a': $O}",
            "$M.transformMap(k, v, v + $I)",
            "$L.transformMapEntry(i, v, {string(v): i})",
        ],
    ),
    (
        'Q',
        &[
            "quantity('1Gi')",
            "quantity('1500m')",
            "device.capacity['d.example.com'].memory",
            "$Q.add($Q)",
            "$Q.sub($I)",
        ],
    ),
    (
        'V',
        &["semver('1.2.3')", "semver('v1', true)", "semver($S)"],
    ),
    (
        'O',
        &[
            "optional.of(1)",
            "{'a': 1}.?z",
            "optional.ofNonZeroValue($I)",
            "$O.or($O)",
            "$O.optMap(x, x + 1)",
            "$M.?a",
        ],
    ),
    (
        'R',
        &[
            "duration('1h')",
            "duration('-1.5s')",
            "($R + $R)",
            "($Z - $Z)",
            "duration($S)",
        ],
    ),
    (
        'Z',
        &[
            "timestamp('2024-01-01T00:00:00Z')",
            "($Z + $R)",
            "($Z - $R)",
            "timestamp($I)",
        ],
    ),
    ('P', &["ip('10.0.0.1')", "ip('::1')", "$N.ip()"]),
    ('N', &["cidr('10.0.0.0/8')", "$N.masked()"]),
    ('Y', &["b'ab'", "bytes($S)", "($Y + $Y)"]),
];

/// A random expression of a type.
pub(super) fn expression(
    random: &mut Random,
    grammars: &[Grammar],
    t: char,
    depth: usize,
) -> String {
    let all: Vec<&str> = grammars
        .iter()
        .flat_map(|grammar| grammar.iter().filter(|(letter, _)| *letter == t))
        .flat_map(|(_, templates)| templates.iter().copied())
        .filter(|template| depth > 0 || !template.contains('$'))
        .collect();
    let template = random.pick(&all);
    let mut text = String::new();
    let mut letters = template.chars();
    while let Some(c) = letters.next() {
        match letters.clone().next() {
            Some(hole) if c == '$' => {
                letters.next();
                text.push_str(&expression(random, grammars, hole, depth.saturating_sub(1)));
            }
            _ => text.push(c),
        }
    }
    text
}
