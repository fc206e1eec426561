//! The ways in which a pattern can be wrong, in Go's words.

/// Why a pattern is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Escape,
    TrailingBackslash,
    RepeatSize,
    NestedRepeat,
    MissingRepeatArgument,
    MissingBracket,
    MissingParen,
    UnexpectedParen,
    PerlOperator,
    CharRange,
    Nesting,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Refusal::Escape => "invalid escape sequence",
            Refusal::TrailingBackslash => "trailing backslash at end of expression",
            Refusal::RepeatSize => "invalid repeat count",
            Refusal::NestedRepeat => "invalid nested repetition operator",
            Refusal::MissingRepeatArgument => "missing argument to repetition operator",
            Refusal::MissingBracket => "missing closing ]",
            Refusal::MissingParen => "missing closing )",
            Refusal::UnexpectedParen => "unexpected )",
            Refusal::PerlOperator => "invalid or unsupported Perl syntax",
            Refusal::CharRange => "invalid character class range",
            Refusal::Nesting => "expression nests too deeply",
        })
    }
}
