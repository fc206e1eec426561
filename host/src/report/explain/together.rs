//! Where everything by itself can be had, and not together: which requests, constraints and counters exclude each other, in
//! numbers.

use super::findings::{self, Context};
use super::needs;
use super::node::Found;
use super::phrase::Phrase;
use super::reasons::{counter_name, holders, how, takes};
use crate::explain::document::{Document, Reason, Request, Together};

/// How many counters a sentence names.
const SHOWN: usize = 2;

/// What the document says of it.
pub fn of(document: &Document, together: &Together, context: &Context<'_>) -> Found {
    let asked = Asked::of(document, together, context);
    let kind = match (
        together.counters.is_empty(),
        together.constraints.is_empty(),
    ) {
        (false, _) => "counter",
        (true, false) => "constraint",
        (true, true) => "together",
    };
    let short = together
        .most
        .map_or(1, |most| together.needed.saturating_sub(most));
    let beside = asked.beside.iter().cloned();
    let phrases = std::iter::once(phrase(document, together, &asked)).chain(beside);
    Found {
        claim: asked.claim.clone(),
        request: asked.request.clone(),
        phrase: Phrase::joined(phrases, "; "),
        ..Found::new("", kind, 5_u64.saturating_mul(short.max(1)))
    }
}

/// The same for somebody who reads everything about the node.
pub fn lines(document: &Document, lines: &mut Vec<String>) {
    let Some(together) = &document.together else {
        return;
    };
    let asked = Asked::of(document, together, &Context::of(document));
    lines.push(format!("together: {}", phrase(document, together, &asked)));
    for reason in together
        .counters
        .iter()
        .filter(|one| !one.holders.is_empty())
    {
        let name = reason
            .counter
            .as_ref()
            .map(counter_name)
            .unwrap_or_default();
        lines.push(format!(
            "  counter {name} of pool {}: held by {}",
            reason.pool,
            holders(reason)
        ));
    }
}

/// The requests that are concerned.
struct Asked<'d> {
    /// The pod's name of the claim, and the request, if it is only one.
    claim: String,
    request: String,
    label: String,
    /// As people call them.
    names: Vec<String>,
    /// Those and their alternatives.
    requests: Vec<&'d Request>,
    /// Why its other alternatives are out of the question.
    beside: Vec<Phrase>,
}

impl<'d> Asked<'d> {
    fn of(document: &'d Document, together: &Together, context: &Context<'_>) -> Self {
        let mut asked = Self {
            claim: String::new(),
            request: String::new(),
            label: String::new(),
            names: Vec::new(),
            requests: Vec::new(),
            beside: Vec::new(),
        };
        for concerned in &together.requests {
            let mut claims = document.claims.iter();
            let is_it = |name: &Option<String>| name.as_ref() == Some(&concerned.claim);
            let Some(claim) = claims.find(|claim| is_it(&claim.claim)) else {
                continue;
            };
            let is_meant = |request: &&Request| {
                let parent = request.name.split('/').next();
                request.name == concerned.request || parent == Some(&concerned.request)
            };
            asked
                .requests
                .extend(claim.requests.iter().filter(is_meant));
            let label = context.label(claim, &concerned.request);
            let name = label.trim_end_matches(": ");
            asked.names.push(match name {
                "" => concerned.request.clone(),
                name => name.to_owned(),
            });
            if together.requests.len() == 1 {
                asked.claim.clone_from(&claim.name);
                asked.request.clone_from(&concerned.request);
                asked.label = label;
                // Of alternatives the one that alone could be had, one by one, is meant.
                let could = asked.requests.iter().filter(|one| one.missing == 0);
                if let [could] = could.copied().collect::<Vec<_>>().as_slice()
                    && could.name != concerned.request
                {
                    asked.label = context.label(claim, &could.name);
                    let others = asked.requests.iter().filter(|one| one.missing > 0);
                    let short = others.filter_map(|one| findings::of_request(claim, one, context));
                    asked.beside = short.map(|found| found.phrase).collect();
                    asked.requests = vec![*could];
                }
            }
        }
        asked
    }

    /// What there is one by one.
    fn one_by_one(&self) -> Phrase {
        match (self.names.as_slice(), self.requests.as_slice()) {
            ([_], [request]) => Phrase::of(self.label.clone())
                .counted(request.free, "device", "devices")
                .text(" free"),
            ([_], _) => Phrase::of(format!("{}enough devices free", self.label)),
            (names, _) => Phrase::of(format!(
                "enough devices free for {} one by one",
                needs::join(names, " and ")
            )),
        }
    }
}

fn phrase(document: &Document, together: &Together, asked: &Asked<'_>) -> Phrase {
    let constraints: Vec<String> = together
        .constraints
        .iter()
        .map(|tied| format!("{} {}", how(tied.distinct), tied.attribute))
        .collect();
    let with = match constraints.as_slice() {
        [] => String::new(),
        some => format!(" with {}", needs::join(some, " and ")),
    };
    if !together.counters.is_empty() {
        let share = shared(&together.counters);
        let room = Phrase::of(": ").then(room(together, &with));
        return asked
            .one_by_one()
            .text(", but they share ")
            .then(share)
            .then(room);
    }
    let most = |phrase: Phrase, with: &str| match together.most {
        Some(most) => phrase
            .text(", but at most ")
            .number(most)
            .text(format!("{with}, {} needed", together.needed)),
        None => phrase.text(format!(
            ", but no {}{}",
            together.needed,
            if with.is_empty() { " together" } else { with }
        )),
    };
    match constraints.len() {
        0 => {
            let all = needs::join(&asked.names, " and ");
            let phrase = Phrase::of(format!("{all} want the same devices"));
            match together.most {
                Some(most) => phrase
                    .text(": ")
                    .number(most)
                    .text(format!(" free, {} needed", together.needed)),
                None => phrase,
            }
        }
        1 => most(asked.one_by_one(), &with),
        _ => {
            let mut phrase = asked.one_by_one();
            for tied in &together.constraints {
                let mut claims = document.claims.iter();
                let claim = claims.find(|one| one.claim.as_ref() == Some(&tied.claim));
                let found = claim
                    .and_then(|claim| claim.constraints.iter().find(|one| one.index == tied.index));
                let Some(found) = found else { continue };
                phrase = phrase.text(", up to ").number(found.largest).text(format!(
                    " with {} {}",
                    how(tied.distinct),
                    tied.attribute
                ));
            }
            most(
                phrase,
                if constraints.len() == 2 {
                    " with both"
                } else {
                    " with all"
                },
            )
        }
    }
}

/// `room for at most 1, 2 needed`.
fn room(together: &Together, with: &str) -> Phrase {
    let needed = together.needed;
    match together.most {
        Some(0) => Phrase::of(format!("no room for any{with}, {needed} needed")),
        Some(most) => Phrase::of("room for at most ")
            .number(most)
            .text(format!("{with}, {needed} needed")),
        None => Phrase::of(format!("no room for {needed}{with} at once")),
    }
}

/// `counter board/memory (50Gi of 80Gi left, 20Gi to 40Gi each)`.
fn shared(counters: &[Reason]) -> Phrase {
    let one = |reason: &Reason| {
        let counter = reason.counter.clone().unwrap_or_default();
        let left = format!("{} of {} left", counter.left, counter.total);
        Phrase::of(format!("{} (", counter_name(&counter)))
            .values(vec![(left, 1)])
            .text(format!(", {} each)", takes(&counter)))
    };
    let noun = if counters.len() == 1 {
        "counter "
    } else {
        "counters "
    };
    let shown = counters.iter().take(SHOWN).map(one);
    let rest = counters.len().saturating_sub(SHOWN);
    let between = if counters.len() == SHOWN {
        " and "
    } else {
        ", "
    };
    let phrase = Phrase::of(noun).then(Phrase::joined(shown, between));
    match rest {
        0 => phrase,
        rest => phrase.text(format!(" and {rest} more")),
    }
}
