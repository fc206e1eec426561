//! The tables of [`declarations`](super::declarations): by library, with signatures in the notation of
//! [`Row`].

use super::Row;

pub(super) const OPERATORS: &[Row] = &[
    ("_?_:_", &["(bool, A, A) A"]),
    ("_&&_", &["(bool, bool) bool"]),
    ("_||_", &["(bool, bool) bool"]),
    ("!_", &["(bool) bool"]),
    ("@not_strictly_false", &["(bool) bool"]),
    ("_==_", &["(A, A) bool"]),
    ("_!=_", &["(A, A) bool"]),
    (
        "_+_",
        &[
            "(bytes, bytes) bytes",
            "(double, double) double",
            "(duration, duration) duration",
            "(duration, timestamp) timestamp",
            "(timestamp, duration) timestamp",
            "(int, int) int",
            "(list(A), list(A)) list(A)",
            "(string, string) string",
            "(uint, uint) uint",
        ],
    ),
    (
        "_-_",
        &[
            "(double, double) double",
            "(duration, duration) duration",
            "(int, int) int",
            "(timestamp, duration) timestamp",
            "(timestamp, timestamp) duration",
            "(uint, uint) uint",
        ],
    ),
    (
        "_*_",
        &[
            "(double, double) double",
            "(int, int) int",
            "(uint, uint) uint",
        ],
    ),
    (
        "_/_",
        &[
            "(double, double) double",
            "(int, int) int",
            "(uint, uint) uint",
        ],
    ),
    ("_%_", &["(int, int) int", "(uint, uint) uint"]),
    ("-_", &["(double) double", "(int) int"]),
    ("_<_", ORDERED),
    ("_<=_", ORDERED),
    ("_>_", ORDERED),
    ("_>=_", ORDERED),
    (
        "_[_]",
        &[
            "(list(A), int) A",
            "(map(A, B), A) B",
            "(optional(list(A)), int) optional(A)",
            OPT_MAP_INDEX,
        ],
    ),
    (
        "_[?_]",
        &[
            "(list(A), int) optional(A)",
            "(optional(list(A)), int) optional(A)",
            "(map(A, B), A) optional(B)",
            OPT_MAP_INDEX,
        ],
    ),
    ("@in", &["(A, list(A)) bool", "(A, map(A, B)) bool"]),
];

const OPT_MAP_INDEX: &str = "(optional(map(A, B)), A) optional(B)";

const ORDERED: &[&str] = &[
    "(bool, bool) bool",
    "(int, int) bool",
    "(int, double) bool",
    "(int, uint) bool",
    "(uint, uint) bool",
    "(uint, double) bool",
    "(uint, int) bool",
    "(double, double) bool",
    "(double, int) bool",
    "(double, uint) bool",
    "(string, string) bool",
    "(bytes, bytes) bool",
    "(timestamp, timestamp) bool",
    "(duration, duration) bool",
];

pub(super) const STANDARD: &[Row] = &[
    (
        "size",
        &[
            "(bytes) int",
            "bytes.() int",
            "(list(A)) int",
            "list(A).() int",
            "(map(A, B)) int",
            "map(A, B).() int",
            "(string) int",
            "string.() int",
        ],
    ),
    ("type", &["(A) type(A)"]),
    ("bool", &["(bool) bool", "(string) bool"]),
    ("bytes", &["(bytes) bytes", "(string) bytes"]),
    (
        "double",
        &[
            "(double) double",
            "(int) double",
            "(string) double",
            "(uint) double",
        ],
    ),
    ("dyn", &["(A) dyn"]),
    (
        "duration",
        &["(duration) duration", "(int) duration", "(string) duration"],
    ),
    (
        "int",
        &[
            "(int) int",
            "(double) int",
            "(duration) int",
            "(string) int",
            "(timestamp) int",
            "(uint) int",
        ],
    ),
    (
        "string",
        &[
            "(string) string",
            "(bool) string",
            "(bytes) string",
            "(double) string",
            "(duration) string",
            "(int) string",
            "(timestamp) string",
            "(uint) string",
            "(net.IP) string",
            "(net.CIDR) string",
        ],
    ),
    (
        "timestamp",
        &[
            "(timestamp) timestamp",
            "(int) timestamp",
            "(string) timestamp",
        ],
    ),
    (
        "uint",
        &[
            "(uint) uint",
            "(double) uint",
            "(int) uint",
            "(string) uint",
        ],
    ),
    ("contains", &["string.(string) bool"]),
    ("endsWith", &["string.(string) bool"]),
    ("startsWith", &["string.(string) bool"]),
    (
        "matches",
        &["(string, string) bool", "string.(string) bool"],
    ),
];

pub(super) const TIME: &[Row] = &[
    ("getFullYear", CALENDAR),
    ("getMonth", CALENDAR),
    ("getDayOfYear", CALENDAR),
    ("getDate", CALENDAR),
    ("getDayOfMonth", CALENDAR),
    ("getDayOfWeek", CALENDAR),
    ("getHours", CLOCK),
    ("getMinutes", CLOCK),
    ("getSeconds", CLOCK),
    ("getMilliseconds", CLOCK),
];

const CALENDAR: &[&str] = &["timestamp.() int", "timestamp.(string) int"];
const CLOCK: &[&str] = &[
    "timestamp.() int",
    "timestamp.(string) int",
    "duration.() int",
];

pub(super) const OPTIONAL: &[Row] = &[
    ("optional.of", &["(A) optional(A)"]),
    ("optional.ofNonZeroValue", &["(A) optional(A)"]),
    ("optional.none", &["() optional(A)"]),
    ("value", &["optional(A).() A"]),
    ("hasValue", &["optional(A).() bool"]),
    ("or", &["optional(A).(optional(A)) optional(A)"]),
    ("orValue", &["optional(A).(A) A"]),
];

pub(super) const STRINGS: &[Row] = &[
    ("charAt", &["string.(int) string"]),
    ("indexOf", STRING_INDEX_OF),
    ("lastIndexOf", STRING_INDEX_OF),
    (
        "join",
        &["list(string).() string", "list(string).(string) string"],
    ),
    ("lowerAscii", &["string.() string"]),
    ("upperAscii", &["string.() string"]),
    (
        "replace",
        &[
            "string.(string, string) string",
            "string.(string, string, int) string",
        ],
    ),
    (
        "split",
        &[
            "string.(string) list(string)",
            "string.(string, int) list(string)",
        ],
    ),
    (
        "substring",
        &["string.(int) string", "string.(int, int) string"],
    ),
    ("trim", &["string.() string"]),
    ("format", &["string.(list(dyn)) string"]),
    ("strings.quote", &["(string) string"]),
];

const STRING_INDEX_OF: &[&str] = &["string.(string) int", "string.(string, int) int"];

pub(super) const SETS_AND_REGEX: &[Row] = &[
    ("sets.contains", &["(list(A), list(A)) bool"]),
    ("sets.equivalent", &["(list(A), list(A)) bool"]),
    ("sets.intersects", &["(list(A), list(A)) bool"]),
    ("find", &["string.(string) string"]),
    (
        "findAll",
        &[
            "string.(string) list(string)",
            "string.(string, int) list(string)",
        ],
    ),
];

pub(super) const LISTS: &[Row] = &[
    (
        "isSorted",
        &[
            "list(int).() bool",
            "list(uint).() bool",
            "list(double).() bool",
            "list(bool).() bool",
            "list(duration).() bool",
            "list(timestamp).() bool",
            "list(string).() bool",
            "list(bytes).() bool",
        ],
    ),
    (
        "sum",
        &[
            "list(int).() int",
            "list(uint).() uint",
            "list(double).() double",
            "list(duration).() duration",
        ],
    ),
    ("max", EXTREME),
    ("min", EXTREME),
    ("indexOf", &["list(A).(A) int"]),
    ("lastIndexOf", &["list(A).(A) int"]),
];

const EXTREME: &[&str] = &[
    "list(int).() int",
    "list(uint).() uint",
    "list(double).() double",
    "list(bool).() bool",
    "list(duration).() duration",
    "list(timestamp).() timestamp",
    "list(string).() string",
    "list(bytes).() bytes",
];

pub(super) const NET: &[Row] = &[
    ("ip", &["(string) net.IP", "net.CIDR.() net.IP"]),
    ("isIP", &["(string) bool"]),
    ("ip.isCanonical", &["(string) bool"]),
    ("family", &["net.IP.() int"]),
    ("isUnspecified", &["net.IP.() bool"]),
    ("isLoopback", &["net.IP.() bool"]),
    ("isLinkLocalMulticast", &["net.IP.() bool"]),
    ("isLinkLocalUnicast", &["net.IP.() bool"]),
    ("isGlobalUnicast", &["net.IP.() bool"]),
    ("cidr", &["(string) net.CIDR"]),
    ("isCIDR", &["(string) bool"]),
    (
        "containsIP",
        &["net.CIDR.(string) bool", "net.CIDR.(net.IP) bool"],
    ),
    (
        "containsCIDR",
        &["net.CIDR.(string) bool", "net.CIDR.(net.CIDR) bool"],
    ),
    ("prefixLength", &["net.CIDR.() int"]),
    ("masked", &["net.CIDR.() net.CIDR"]),
];

pub(super) const URL_AND_FORMAT: &[Row] = &[
    ("url", &["(string) kubernetes.URL"]),
    ("isURL", &["(string) bool"]),
    ("getScheme", &["kubernetes.URL.() string"]),
    ("getHost", &["kubernetes.URL.() string"]),
    ("getHostname", &["kubernetes.URL.() string"]),
    ("getPort", &["kubernetes.URL.() string"]),
    ("getEscapedPath", &["kubernetes.URL.() string"]),
    ("getQuery", &["kubernetes.URL.() map(string, list(string))"]),
    (
        "format.named",
        &["(string) optional(kubernetes.NamedFormat)"],
    ),
    (
        "validate",
        &["kubernetes.NamedFormat.(string) optional(list(string))"],
    ),
    ("format.dns1123Label", NAMED_FORMAT),
    ("format.dns1123Subdomain", NAMED_FORMAT),
    ("format.dns1035Label", NAMED_FORMAT),
    ("format.qualifiedName", NAMED_FORMAT),
    ("format.dns1123LabelPrefix", NAMED_FORMAT),
    ("format.dns1123SubdomainPrefix", NAMED_FORMAT),
    ("format.dns1035LabelPrefix", NAMED_FORMAT),
    ("format.labelValue", NAMED_FORMAT),
    ("format.uri", NAMED_FORMAT),
    ("format.uuid", NAMED_FORMAT),
    ("format.byte", NAMED_FORMAT),
    ("format.date", NAMED_FORMAT),
    ("format.datetime", NAMED_FORMAT),
];

const NAMED_FORMAT: &[&str] = &["() kubernetes.NamedFormat"];

pub(super) const QUANTITY: &[Row] = &[
    ("quantity", &["(string) kubernetes.Quantity"]),
    ("isQuantity", &["(string) bool"]),
    ("sign", &["(kubernetes.Quantity) int"]),
    (
        "isGreaterThan",
        &["kubernetes.Quantity.(kubernetes.Quantity) bool"],
    ),
    (
        "isLessThan",
        &["kubernetes.Quantity.(kubernetes.Quantity) bool"],
    ),
    (
        "compareTo",
        &["kubernetes.Quantity.(kubernetes.Quantity) int"],
    ),
    ("asApproximateFloat", &["kubernetes.Quantity.() double"]),
    ("asInteger", &["kubernetes.Quantity.() int"]),
    ("isInteger", &["kubernetes.Quantity.() bool"]),
    ("add", QUANTITY_SUM),
    ("sub", QUANTITY_SUM),
];

const QUANTITY_SUM: &[&str] = &[
    "kubernetes.Quantity.(kubernetes.Quantity) kubernetes.Quantity",
    "kubernetes.Quantity.(int) kubernetes.Quantity",
];

pub(super) const SEMVER: &[Row] = &[
    ("semver", &["(string) kubernetes.Semver"]),
    ("isSemver", &["(string) bool"]),
    (
        "isGreaterThan",
        &["kubernetes.Semver.(kubernetes.Semver) bool"],
    ),
    (
        "isLessThan",
        &["kubernetes.Semver.(kubernetes.Semver) bool"],
    ),
    ("compareTo", &["kubernetes.Semver.(kubernetes.Semver) int"]),
    ("major", &["kubernetes.Semver.() int"]),
    ("minor", &["kubernetes.Semver.() int"]),
    ("patch", &["kubernetes.Semver.() int"]),
];

pub(super) const SEMVER_NORMALIZED: &[Row] = &[
    ("semver", &["(string, bool) kubernetes.Semver"]),
    ("isSemver", &["(string, bool) bool"]),
];

pub(super) const TWO_VARIABLES: &[Row] = &[(
    "cel.@mapInsert",
    &[
        "(map(A, B), map(A, B)) map(A, B)",
        "(map(A, B), A, B) map(A, B)",
    ],
)];

pub(super) const LISTS_V3: &[Row] = &[
    ("lists.range", &["(int) list(int)"]),
    ("slice", &["list(A).(int, int) list(A)"]),
    (
        "flatten",
        &["list(list(A)).() list(A)", "list(dyn).(int) list(dyn)"],
    ),
    (
        "sort",
        &[
            "list(int).() list(int)",
            "list(uint).() list(uint)",
            "list(double).() list(double)",
            "list(bool).() list(bool)",
            "list(duration).() list(duration)",
            "list(timestamp).() list(timestamp)",
            "list(string).() list(string)",
            "list(bytes).() list(bytes)",
        ],
    ),
    (
        "@sortByAssociatedKeys",
        &[
            "list(A).(list(int)) list(A)",
            "list(A).(list(uint)) list(A)",
            "list(A).(list(double)) list(A)",
            "list(A).(list(bool)) list(A)",
            "list(A).(list(duration)) list(A)",
            "list(A).(list(timestamp)) list(A)",
            "list(A).(list(string)) list(A)",
            "list(A).(list(bytes)) list(A)",
        ],
    ),
    ("distinct", &["list(A).() list(A)"]),
    ("reverse", &["list(A).() list(A)"]),
];

pub(super) const INCLUDES: &[Row] = &[("includes", &["dyn.(dyn) bool"])];
