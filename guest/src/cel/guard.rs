//! Limits on the text of an expression, checked before the crate's parser sees it: that parser recurses on nesting and on
//! chains alike, and so does everything that walks its tree.

/// Upstream's CELSelectorExpressionMaxLength.
pub(crate) const MOST_BYTES: usize = 10 * 1024;
/// cel-go's default recursion limit. It counts grammar rules of one kind that are open at a time, so both nesting and
/// chains of one operator run into it; `&&` and `||` do not, as they are balanced.
const RECURSION: usize = 250;
/// Most levels that the tree may have. cel-go has no such limit: a chain in a group in a chain in a group and so on passes
/// its count, up to some thousands. Nobody writes that.
const TREE_DEPTH: usize = 750;

/// Why an expression is refused unparsed.
pub(crate) fn check(text: &str) -> Result<(), String> {
    if text.len() > MOST_BYTES {
        return Err(format!(
            "code point size exceeds limit: size: {}, limit {MOST_BYTES}",
            text.len()
        ));
    }
    Scan::new(text)
        .run()
        .map_err(|()| format!("expression recursion limit exceeded: {RECURSION}"))
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
    bytes: &'t [u8],
    at: usize,
    groups: Vec<Group>,
    /// Whether an operand just ended, so that `-`, `[` and `(` are binary or postfix.
    after_operand: bool,
    /// Whether that operand is a name that no dot precedes: a parenthesis then calls a global function.
    after_name: bool,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: 0,
            groups: vec![Group::default()],
            after_operand: false,
            after_name: false,
        }
    }

    fn run(mut self) -> Result<(), ()> {
        while let Some(&byte) = self.bytes.get(self.at) {
            self.token(byte);
            let open = self
                .groups
                .iter()
                .map(Group::open_rules)
                .fold(OpenRules::default(), OpenRules::plus);
            if open.is_excessive() {
                return Err(());
            }
        }
        while self.groups.len() > 1 {
            self.close();
        }
        if self.group().depth() > TREE_DEPTH {
            Err(())
        } else {
            Ok(())
        }
    }

    fn group(&mut self) -> &mut Group {
        if self.groups.is_empty() {
            self.groups.push(Group::default());
        }
        let last = self.groups.len() - 1;
        &mut self.groups[last]
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn token(&mut self, byte: u8) {
        match byte {
            b'/' if self.peek(1) == b'/' => self.skip_line(),
            b'"' | b'\'' => self.skip_string(false),
            b'(' | b'[' | b'{' => self.open(),
            b')' | b']' | b'}' => {
                self.close();
                self.at += 1;
            }
            b'.' if !self.peek(1).is_ascii_digit() || self.after_operand => {
                self.group().postfix += 1;
                self.after_operand = false;
                self.at += 1;
            }
            b'0'..=b'9' | b'.' => self.skip_number(),
            b if b.is_ascii_alphabetic() || b == b'_' || b >= 0x80 => self.word(),
            _ => self.operator(byte),
        }
    }

    fn open(&mut self) {
        let global_call = self.after_name && self.peek(0) == b'(';
        if self.after_operand && !global_call {
            self.group().postfix += 1;
        }
        self.after_name = false;
        self.groups.push(Group::default());
        self.after_operand = false;
        self.at += 1;
    }

    fn close(&mut self) {
        let depth = self.group().depth();
        if self.groups.len() > 1 {
            self.groups.pop();
        }
        let outer = self.group();
        outer.operand = outer.operand.max(depth);
        self.after_operand = true;
        self.after_name = false;
    }

    fn operator(&mut self, byte: u8) {
        let two = [byte, self.peek(1)];
        let after_operand = self.after_operand;
        let group = self.group();
        let mut length = 1;
        match &two {
            b"&&" | b"||" => {
                group.end_term();
                group.logic += 1;
                length = 2;
            }
            b"==" | b"!=" | b"<=" | b">=" => {
                group.end_calculation();
                group.relations += 1;
                length = 2;
            }
            [b'<' | b'>', _] => {
                group.end_calculation();
                group.relations += 1;
            }
            [b'+' | b'*' | b'/' | b'%', _] => {
                group.end_operand();
                group.calculations += 1;
            }
            [b'-', _] if after_operand => {
                group.end_operand();
                group.calculations += 1;
            }
            // Runs of unary operators are one level.
            [b'-' | b'!', _] => group.operand = group.operand.max(1),
            [b'?', _] if after_operand => {
                group.end_term();
                group.ternaries += 1;
            }
            [b',', _] => group.end_element(),
            [b':', _] => group.end_term(),
            _ => {}
        }
        self.after_name &= byte.is_ascii_whitespace();
        if !byte.is_ascii_whitespace() && (byte != b'?' || after_operand) {
            self.after_operand = false;
        }
        self.at += length;
    }

    fn word(&mut self) {
        let start = self.at;
        let after_dot = start > 0 && self.bytes.get(start - 1) == Some(&b'.');
        while self.peek(0).is_ascii_alphanumeric() || self.peek(0) == b'_' || self.peek(0) >= 0x80 {
            self.at += 1;
        }
        match &self.bytes[start..self.at] {
            b"in" => {
                self.group().end_calculation();
                self.group().relations += 1;
                self.after_operand = false;
            }
            word => {
                let prefix = word.len() <= 2 && word.iter().all(|b| b"rRbB".contains(b));
                if prefix && matches!(self.peek(0), b'"' | b'\'') {
                    self.skip_string(word.iter().any(|b| b"rR".contains(b)));
                } else {
                    self.after_name = !after_dot;
                }
                self.after_operand = true;
            }
        }
    }

    fn skip_number(&mut self) {
        while self.peek(0).is_ascii_alphanumeric() || self.peek(0) == b'.' {
            self.at += 1;
        }
        self.after_operand = true;
    }

    fn skip_line(&mut self) {
        while self.bytes.get(self.at).is_some_and(|b| *b != b'\n') {
            self.at += 1;
        }
    }

    /// Skips a string literal; one that does not end on its line ends there, and the parser reports it.
    fn skip_string(&mut self, raw: bool) {
        let quote = self.peek(0);
        let triple = self.peek(1) == quote && self.peek(2) == quote;
        self.at += if triple { 3 } else { 1 };
        while let Some(&byte) = self.bytes.get(self.at) {
            let ends =
                byte == quote && (!triple || (self.peek(1) == quote && self.peek(2) == quote));
            if ends {
                self.at += if triple { 3 } else { 1 };
                break;
            }
            if byte == b'\n' && !triple {
                break;
            }
            self.at += if byte == b'\\' && !raw { 2 } else { 1 };
        }
        self.after_operand = true;
    }
}
