//! Random expressions for the properties, and for the fuzz target `grammar`.

/// Makes the choices; a fuzzer does as well as a generator of random numbers.
pub trait Choose {
    /// A number below `n`, which is not zero.
    fn below(&mut self, n: usize) -> usize;
}

/// Templates by type: `$` and a letter is an expression of that type. The first ones of a type have no holes.
pub type Grammar = &'static [(char, &'static [&'static str])];

/// What the crate's evaluator has too: B bool, I int, U uint, D double, S string, L list of int, T list of string, M map
/// from string to int.
pub const CORE: Grammar = &[
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
pub const KUBERNETES: Grammar = &[
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

/// What is typed when it is evaluated only: attributes, list attributes, `dyn`. A value of the wrong type is an error that
/// no checker foresees.
pub const DYNAMIC: Grammar = &[
    (
        'B',
        &[
            "($X == $X)",
            "($X == $I)",
            "($X != $S)",
            "($X < $I)",
            "($X >= $X)",
            "($X && $B)",
            "($B || $X)",
            "($X ? $B : $B)",
            "!$X",
            "($X in $L)",
            "($S in $X)",
            "has($X.a)",
            "$X.startsWith($S)",
            "$S.matches($X)",
            "$X.isGreaterThan($V)",
            "$Q.isLessThan($X)",
            "$X.all(x, x == $X)",
            "$X.exists(k, v, k == v)",
            "device.attributes['d.example.com'][?'name'].hasValue()",
            "device.attributes.exists(d, d == $S)",
            "device.capacity['d.example.com'].all(k, k != $S)",
            "($S in device.attributes['d.example.com'])",
            "isSemver($X)",
        ],
    ),
    (
        'X',
        &[
            "device.attributes['d.example.com'].count",
            "device.attributes['d.example.com'].name",
            "device.attributes['d.example.com'].flag",
            "device.attributes['d.example.com'].version",
            "device.attributes['d.example.com'].missing",
            "device.attributes['d.example.com']",
            "dyn(null)",
            "dyn($I)",
            "dyn($S)",
            "dyn($L)",
            "dyn($M)",
            "dyn($O)",
            "dyn($Q)",
            "dyn($D)",
            "dyn($U)",
            "dyn($Z)",
            "dyn(type($X))",
            "dyn([$X, $X])",
            "dyn({$S: $X})",
            "($X + $X)",
            "($X[$I])",
            "$X.?a.orValue($X)",
            "$X.max()",
            "$X.map(x, x)",
            "device.attributes[$S].name",
            "device.attributes['other.example.com'].name",
        ],
    ),
    (
        'I',
        &["int($X)", "size($X)", "$X.compareTo($Q)", "$X.indexOf($S)"],
    ),
    (
        'S',
        &[
            "string($X)",
            "'%s %d'.format([$X, $X])",
            "$X.lowerAscii()",
            "$X.replace($S, $X)",
        ],
    ),
    ('L', &["$L.map(x, $X, x)", "$L.sortBy(x, $X)"]),
    (
        'Q',
        &[
            "quantity(string($X))",
            "device.capacity['d.example.com'].huge",
        ],
    ),
];

/// A random expression of a type.
pub fn expression(
    choices: &mut impl Choose,
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
    let template = all[choices.below(all.len())];
    let mut text = String::new();
    let mut letters = template.chars();
    while let Some(c) = letters.next() {
        match letters.clone().next() {
            Some(hole) if c == '$' => {
                letters.next();
                text.push_str(&expression(
                    choices,
                    grammars,
                    hole,
                    depth.saturating_sub(1),
                ));
            }
            _ => text.push(c),
        }
    }
    text
}
