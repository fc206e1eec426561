//! Limits on the text of an expression, checked before the crate's parser sees it: that parser recurses on nesting and on
//! chains alike, and so does everything that walks its tree.

#[cfg(test)]
mod tests;
pub(super) mod tokens;

use tokens::Kind;

/// Upstream's CELSelectorExpressionMaxLength.
pub(crate) const MOST_BYTES: usize = 10 * 1024;
/// cel-go's default recursion limit. It counts grammar rules of one kind that are open at a time, so both nesting and
/// chains of one operator run into it; `&&` and `||` do not, as they are balanced.
const RECURSION: usize = 250;
/// A text that is no longer cannot be deep.
const SHORT: usize = RECURSION;
/// Most levels that the tree may have. cel-go has no such limit: a chain in a group in a chain in a group and so on passes
/// its count, up to some thousands. Nobody writes that.
const TREE_DEPTH: usize = 750;

/// Most tokens. cel-go has no such limit; the crate's parser takes up to 6 microseconds for each in the component, and
/// nothing may hold up the scheduler for 50 milliseconds. What people write has four bytes to a token or more, and so
/// half as many in the greatest length.
const MOST_TOKENS: usize = 5_000;
/// A number with a sign counts as that many.
const SIGNED: usize = 14;

/// Checks the text of an expression.
///
/// # Errors
/// Why it is refused unparsed.
pub(crate) fn check(text: &str) -> Result<(), Refusal> {
    if text.len() > MOST_BYTES {
        return Err(Refusal::Limit(format!(
            "code point size exceeds limit: size: {}, limit {MOST_BYTES}",
            text.len()
        )));
    }
    Scan::new(text).run()
}

/// Why an expression is refused unparsed.
pub(crate) enum Refusal {
    /// A limit is exceeded, in cel-go's words where it has the same.
    Limit(String),
    /// These bytes are no token.
    NoToken(usize, usize),
}

impl Refusal {
    fn depth() -> Self {
        Refusal::Limit(format!("expression recursion limit exceeded: {RECURSION}"))
    }
}

/// What one open bracket has seen. Depths are upper bounds of the levels of the tree.
#[derive(Clone, Copy, Default)]
struct Group {
    /// Postfix operators (`.x`, `[i]`, calls) after the current operand, and what is below them.
    postfix: usize,
    operand: usize,
    /// `+ - * / %` since the last operator of lower precedence.
    calculations: usize,
    relations: usize,
    /// Deepest operand under those.
    below: usize,
    /// `?` of which each `:` opens another expression.
    ternaries: usize,
    /// `&&` and `||`.
    logic: usize,
    /// Deepest term so far.
    deepest: usize,
    /// Deepest of the elements before the current one.
    before: usize,
}

impl Group {
    fn end_operand(&mut self) {
        self.below = self.below.max(self.operand + self.postfix);
        (self.operand, self.postfix) = (0, 0);
    }

    fn end_calculation(&mut self) {
        self.end_operand();
        self.below += self.calculations;
        self.calculations = 0;
    }

    fn end_term(&mut self) {
        self.end_calculation();
        self.deepest = self.deepest.max(self.below + self.relations);
        (self.below, self.relations) = (0, 0);
    }

    /// An element ends at a comma or with the group.
    fn end_element(&mut self) {
        self.end_term();
        let logic = usize::BITS - self.logic.leading_zeros();
        self.before = self
            .before
            .max(self.deepest + self.ternaries + 2 * logic as usize);
        (self.deepest, self.ternaries, self.logic) = (0, 0, 0);
    }

    /// Levels of everything in the group.
    fn depth(&mut self) -> usize {
        self.end_element();
        self.before + 1
    }

    /// Rules of the grammar that are open in the group, of the four kinds that can be many.
    fn open_rules(&self) -> OpenRules {
        // A chain keeps a rule open for each operator, and the right-hand operand is one more.
        let chain = |operators: usize| 1 + operators + usize::from(operators > 0);
        OpenRules {
            expressions: 1 + self.ternaries,
            relations: chain(self.relations),
            calculations: chain(self.calculations),
            members: 1 + self.postfix,
        }
    }
}

/// Counts of open grammar rules.
#[derive(Default)]
struct OpenRules {
    expressions: usize,
    relations: usize,
    calculations: usize,
    members: usize,
}

impl OpenRules {
    fn plus(self, other: Self) -> Self {
        Self {
            expressions: self.expressions + other.expressions,
            relations: self.relations + other.relations,
            calculations: self.calculations + other.calculations,
            members: self.members + other.members,
        }
    }

    fn is_excessive(&self) -> bool {
        [
            self.expressions,
            self.relations,
            self.calculations,
            self.members,
        ]
        .into_iter()
        .any(|open| open > RECURSION)
    }
}

struct Scan<'t> {
    text: &'t str,
    groups: Vec<Group>,
    /// Whether an operand just ended, so that `-`, `[` and `(` are binary or postfix.
    after_operand: bool,
    /// Whether that operand is a name that no dot precedes: a parenthesis then calls a global function.
    after_name: bool,
    after_dot: bool,
    /// Whether a minus sign came last that has no left operand.
    after_sign: bool,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            groups: vec![Group::default()],
            after_operand: false,
            after_name: false,
            after_dot: false,
            after_sign: false,
        }
    }

    fn run(mut self) -> Result<(), Refusal> {
        let (mut at, mut tokens) = (0, 0);
        while at < self.text.len() {
            let (kind, end) = match tokens::next(self.text, at) {
                Ok(token) => token,
                // The parser has more to say about it, and cannot get deep.
                Err(_) if self.text.len() <= SHORT => return Ok(()),
                Err(end) => return Err(Refusal::NoToken(at, end)),
            };
            let token = &self.text[at..end];
            at = end;
            if matches!(kind, Kind::Space | Kind::Comment) {
                continue;
            }
            tokens += self.weight(kind);
            if tokens > MOST_TOKENS {
                return Err(Refusal::Limit(format!(
                    "expression is too complex: more than {MOST_TOKENS} tokens, write it shorter"
                )));
            }
            self.token(kind, token);
            let open = self
                .groups
                .iter()
                .map(Group::open_rules)
                .fold(OpenRules::default(), OpenRules::plus);
            if open.is_excessive() {
                return Err(Refusal::depth());
            }
        }
        while self.groups.len() > 1 {
            self.close();
        }
        if self.group().depth() > TREE_DEPTH {
            Err(Refusal::depth())
        } else {
            Ok(())
        }
    }

    /// The parser takes longer for the sign of a number, which could be an operator as well.
    fn weight(&self, kind: Kind) -> usize {
        if kind == Kind::Number && self.after_sign {
            SIGNED
        } else {
            1
        }
    }

    fn group(&mut self) -> &mut Group {
        if self.groups.is_empty() {
            self.groups.push(Group::default());
        }
        let last = self.groups.len() - 1;
        &mut self.groups[last]
    }

    fn token(&mut self, kind: Kind, token: &str) {
        let after_dot = std::mem::take(&mut self.after_dot);
        let after_name = std::mem::take(&mut self.after_name);
        self.after_sign = token == "-" && !self.after_operand;
        match (kind, token) {
            (Kind::Word, "in") => {
                self.group().end_calculation();
                self.group().relations += 1;
                self.after_operand = false;
            }
            (Kind::Word, _) => {
                self.after_operand = true;
                self.after_name = !after_dot;
            }
            (Kind::Sign, "(" | "[" | "{") => self.open(after_name && token == "("),
            (Kind::Sign, ")" | "]" | "}") => self.close(),
            (Kind::Sign, ".") => {
                self.group().postfix += 1;
                self.after_operand = false;
                self.after_dot = true;
            }
            (Kind::Sign, _) => self.operator(token),
            _ => self.after_operand = true,
        }
    }

    fn open(&mut self, global_call: bool) {
        if self.after_operand && !global_call {
            self.group().postfix += 1;
        }
        self.groups.push(Group::default());
        self.after_operand = false;
    }

    fn close(&mut self) {
        let depth = self.group().depth();
        if self.groups.len() > 1 {
            self.groups.pop();
        }
        let outer = self.group();
        outer.operand = outer.operand.max(depth);
        self.after_operand = true;
    }

    fn operator(&mut self, token: &str) {
        let after_operand = self.after_operand;
        let group = self.group();
        match token {
            "&&" | "||" => {
                group.end_term();
                group.logic += 1;
            }
            "==" | "!=" | "<=" | ">=" | "<" | ">" => {
                group.end_calculation();
                group.relations += 1;
            }
            "-" if !after_operand => group.operand = group.operand.max(1),
            // Runs of unary operators are one level.
            "!" => group.operand = group.operand.max(1),
            "+" | "-" | "*" | "/" | "%" => {
                group.end_operand();
                group.calculations += 1;
            }
            "?" if after_operand => {
                group.end_term();
                group.ternaries += 1;
            }
            "," => group.end_element(),
            ":" => group.end_term(),
            _ => {}
        }
        // In `.?`, `[?` and `{?` it is a mark on what follows.
        if token != "?" || after_operand {
            self.after_operand = false;
        }
    }
}
