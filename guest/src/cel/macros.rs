//! The macros of the dialect, on the crate's macro interface. All are ours: the crate's standard set has names that
//! Kubernetes does not know.

use cel_interpreter::common::ast::{
    CallExpr, ComprehensionExpr, Expr, IdedExpr, ListExpr, LiteralValue, MapExpr, SelectExpr,
    operators,
};
use cel_interpreter::parser::{Macro, MacroExprHelper, ParseError};

/// Name of the accumulator; it cannot be written in source.
const RESULT: &str = "@result";
/// Variable of a range that has no elements.
const UNUSED: &str = "#unused";
/// Function that inserts into a map.
pub(crate) const MAP_INSERT: &str = "cel.@mapInsert";
/// Function behind `sortBy`.
pub(crate) const SORT_BY_KEYS: &str = "@sortByAssociatedKeys";

type Expansion = Result<Option<IdedExpr>, ParseError>;

/// The macros of a Kubernetes minor version.
pub(crate) fn macros(minor: u32) -> Vec<Macro> {
    let mut all = vec![
        Macro::global("has", 1, has),
        Macro::receiver("all", 2, |h, t, a| quantifier(h, t, a, all_parts)),
        Macro::receiver("exists", 2, |h, t, a| quantifier(h, t, a, exists_parts)),
        Macro::receiver("exists_one", 2, |h, t, a| {
            quantifier(h, t, a, exists_one_parts)
        }),
        Macro::receiver("map", 2, |h, t, a| map(h, t, a, 1)),
        Macro::receiver("map", 3, |h, t, a| map(h, t, a, 1)),
        Macro::receiver("filter", 2, filter),
        Macro::receiver("bind", 3, bind),
        Macro::receiver("optMap", 2, |h, t, a| opt_map(h, t, a, true)),
        Macro::receiver("optFlatMap", 2, |h, t, a| opt_map(h, t, a, false)),
    ];
    if minor >= 32 {
        all.extend([
            Macro::receiver("all", 3, |h, t, a| quantifier(h, t, a, all_parts)),
            Macro::receiver("exists", 3, |h, t, a| quantifier(h, t, a, exists_parts)),
            Macro::receiver("existsOne", 3, |h, t, a| {
                quantifier(h, t, a, exists_one_parts)
            }),
            Macro::receiver("exists_one", 3, |h, t, a| {
                quantifier(h, t, a, exists_one_parts)
            }),
            Macro::receiver("transformList", 3, |h, t, a| map(h, t, a, 2)),
            Macro::receiver("transformList", 4, |h, t, a| map(h, t, a, 2)),
            Macro::receiver("transformMap", 3, |h, t, a| transform_map(h, t, a, false)),
            Macro::receiver("transformMap", 4, |h, t, a| transform_map(h, t, a, false)),
            Macro::receiver("transformMapEntry", 3, |h, t, a| {
                transform_map(h, t, a, true)
            }),
            Macro::receiver("transformMapEntry", 4, |h, t, a| {
                transform_map(h, t, a, true)
            }),
        ]);
    }
    if minor >= 34 {
        all.push(Macro::receiver("sortBy", 2, sort_by));
    }
    all
}

/// Makes nodes that get an id and the place of the macro call.
struct Maker<'h, 'p>(&'h mut MacroExprHelper<'p>);

impl Maker<'_, '_> {
    fn ident(&mut self, name: &str) -> IdedExpr {
        self.0.next_expr(Expr::Ident(name.to_string()))
    }

    fn accu(&mut self) -> IdedExpr {
        self.ident(RESULT)
    }

    fn bool(&mut self, value: bool) -> IdedExpr {
        self.0
            .next_expr(Expr::Literal(LiteralValue::Boolean(value.into())))
    }

    fn int(&mut self, value: i64) -> IdedExpr {
        self.0
            .next_expr(Expr::Literal(LiteralValue::Int(value.into())))
    }

    fn list(&mut self, elements: Vec<IdedExpr>) -> IdedExpr {
        self.0.next_expr(Expr::List(ListExpr::new(elements)))
    }

    fn call(&mut self, name: &str, args: Vec<IdedExpr>) -> IdedExpr {
        self.0.next_expr(Expr::Call(CallExpr {
            func_name: name.to_string(),
            target: None,
            args,
        }))
    }

    fn member(&mut self, target: IdedExpr, name: &str, args: Vec<IdedExpr>) -> IdedExpr {
        let target = Some(Box::new(target));
        self.0.next_expr(Expr::Call(CallExpr {
            func_name: name.to_string(),
            target,
            args,
        }))
    }

    /// A variable bound to `value` in `within`: a comprehension over nothing.
    fn binding(&mut self, name: String, value: IdedExpr, within: IdedExpr) -> IdedExpr {
        let comprehension = ComprehensionExpr {
            iter_range: self.list(Vec::new()),
            iter_var: UNUSED.to_string(),
            iter_var2: None,
            accu_init: value,
            loop_cond: self.bool(false),
            loop_step: self.ident(&name),
            accu_var: name,
            result: within,
        };
        self.0
            .next_expr(Expr::Comprehension(Box::new(comprehension)))
    }

    fn comprehension(&mut self, range: IdedExpr, variables: Variables, parts: Parts) -> IdedExpr {
        let comprehension = ComprehensionExpr {
            iter_range: range,
            iter_var: variables.0,
            iter_var2: variables.1,
            accu_var: RESULT.to_string(),
            accu_init: parts.init,
            loop_cond: parts.condition,
            loop_step: parts.step,
            result: parts.result,
        };
        self.0
            .next_expr(Expr::Comprehension(Box::new(comprehension)))
    }
}

/// One or two loop variables.
struct Variables(String, Option<String>);

struct Parts {
    init: IdedExpr,
    condition: IdedExpr,
    step: IdedExpr,
    result: IdedExpr,
}

fn has(
    helper: &mut MacroExprHelper<'_>,
    _: &mut Option<IdedExpr>,
    args: &mut Vec<IdedExpr>,
) -> Expansion {
    let Some(arg) = args.pop() else {
        return Ok(None);
    };
    match arg.expr {
        Expr::Select(SelectExpr {
            operand,
            field,
            test: false,
        }) => Ok(Some(helper.next_expr(Expr::Select(SelectExpr {
            operand,
            field,
            test: true,
        })))),
        _ => Err(helper.new_error(arg.id, "invalid argument to has() macro")),
    }
}

/// Takes the loop variables, which are all arguments but the last `bodies`.
fn take_variables(
    helper: &MacroExprHelper<'_>,
    args: &mut Vec<IdedExpr>,
    count: usize,
) -> Result<Option<Variables>, ParseError> {
    if args.len() < count {
        return Ok(None);
    }
    let bodies = args.split_off(count);
    let mut names = Vec::new();
    for arg in std::mem::replace(args, bodies) {
        match arg.expr {
            Expr::Ident(name) if names.contains(&name) => {
                return Err(helper.new_error(arg.id, format!("duplicate variable name: {name}")));
            }
            Expr::Ident(name) => names.push(name),
            _ => return Err(helper.new_error(arg.id, "argument must be a simple name")),
        }
    }
    let mut names = names.into_iter();
    Ok(names.next().map(|first| Variables(first, names.next())))
}

fn quantifier(
    helper: &mut MacroExprHelper<'_>,
    target: &mut Option<IdedExpr>,
    args: &mut Vec<IdedExpr>,
    parts: fn(&mut Maker<'_, '_>, IdedExpr) -> Parts,
) -> Expansion {
    let count = args.len().saturating_sub(1);
    let (Some(range), Some(variables)) = (target.take(), take_variables(helper, args, count)?)
    else {
        return Ok(None);
    };
    let Some(predicate) = args.pop() else {
        return Ok(None);
    };
    let mut make = Maker(helper);
    let parts = parts(&mut make, predicate);
    Ok(Some(make.comprehension(range, variables, parts)))
}

fn all_parts(make: &mut Maker<'_, '_>, predicate: IdedExpr) -> Parts {
    let init = make.bool(true);
    let accu = make.accu();
    let condition = make.call(operators::NOT_STRICTLY_FALSE, vec![accu]);
    let accu = make.accu();
    let step = make.call(operators::LOGICAL_AND, vec![accu, predicate]);
    Parts {
        init,
        condition,
        step,
        result: make.accu(),
    }
}

fn exists_parts(make: &mut Maker<'_, '_>, predicate: IdedExpr) -> Parts {
    let init = make.bool(false);
    let accu = make.accu();
    let not = make.call(operators::LOGICAL_NOT, vec![accu]);
    let condition = make.call(operators::NOT_STRICTLY_FALSE, vec![not]);
    let accu = make.accu();
    let step = make.call(operators::LOGICAL_OR, vec![accu, predicate]);
    Parts {
        init,
        condition,
        step,
        result: make.accu(),
    }
}

fn exists_one_parts(make: &mut Maker<'_, '_>, predicate: IdedExpr) -> Parts {
    let init = make.int(0);
    let condition = make.bool(true);
    let (accu, one) = (make.accu(), make.int(1));
    let more = make.call(operators::ADD, vec![accu, one]);
    let accu = make.accu();
    let step = make.call(operators::CONDITIONAL, vec![predicate, more, accu]);
    let (accu, one) = (make.accu(), make.int(1));
    let result = make.call(operators::EQUALS, vec![accu, one]);
    Parts {
        init,
        condition,
        step,
        result,
    }
}

/// `step`, or `filter ? step : accumulator`.
fn filtered(make: &mut Maker<'_, '_>, filter: Option<IdedExpr>, step: IdedExpr) -> IdedExpr {
    match filter {
        Some(filter) => {
            let accu = make.accu();
            make.call(operators::CONDITIONAL, vec![filter, step, accu])
        }
        None => step,
    }
}

/// `map` and `transformList`.
fn map(
    helper: &mut MacroExprHelper<'_>,
    target: &mut Option<IdedExpr>,
    args: &mut Vec<IdedExpr>,
    variables: usize,
) -> Expansion {
    let (Some(range), Some(variables)) = (target.take(), take_variables(helper, args, variables)?)
    else {
        return Ok(None);
    };
    let Some(transform) = args.pop() else {
        return Ok(None);
    };
    let filter = args.pop();
    let mut make = Maker(helper);
    let parts = append_parts(&mut make, filter, transform);
    Ok(Some(make.comprehension(range, variables, parts)))
}

fn filter(
    helper: &mut MacroExprHelper<'_>,
    target: &mut Option<IdedExpr>,
    args: &mut Vec<IdedExpr>,
) -> Expansion {
    let (Some(range), Some(variables)) = (target.take(), take_variables(helper, args, 1)?) else {
        return Ok(None);
    };
    let predicate = args.pop();
    let mut make = Maker(helper);
    let element = make.ident(&variables.0);
    let parts = append_parts(&mut make, predicate, element);
    Ok(Some(make.comprehension(range, variables, parts)))
}

fn append_parts(make: &mut Maker<'_, '_>, filter: Option<IdedExpr>, element: IdedExpr) -> Parts {
    let init = make.list(Vec::new());
    let condition = make.bool(true);
    let (accu, element) = (make.accu(), make.list(vec![element]));
    let step = make.call(operators::ADD, vec![accu, element]);
    let step = filtered(make, filter, step);
    Parts {
        init,
        condition,
        step,
        result: make.accu(),
    }
}

/// `transformMap`, and `transformMapEntry` whose transform is a map to merge.
fn transform_map(
    helper: &mut MacroExprHelper<'_>,
    target: &mut Option<IdedExpr>,
    args: &mut Vec<IdedExpr>,
    entry: bool,
) -> Expansion {
    let (Some(range), Some(variables)) = (target.take(), take_variables(helper, args, 2)?) else {
        return Ok(None);
    };
    let Some(transform) = args.pop() else {
        return Ok(None);
    };
    let filter = args.pop();
    let mut make = Maker(helper);
    let init = make.0.next_expr(Expr::Map(MapExpr::default()));
    let condition = make.bool(true);
    let accu = make.accu();
    let inserted = if entry {
        vec![accu, transform]
    } else {
        vec![accu, make.ident(&variables.0), transform]
    };
    let step = make.call(MAP_INSERT, inserted);
    let step = filtered(&mut make, filter, step);
    let parts = Parts {
        init,
        condition,
        step,
        result: make.accu(),
    };
    Ok(Some(make.comprehension(range, variables, parts)))
}

/// `cel.bind(x, value, within)`; a `bind` on anything else is an ordinary call.
fn bind(
    helper: &mut MacroExprHelper<'_>,
    target: &mut Option<IdedExpr>,
    args: &mut Vec<IdedExpr>,
) -> Expansion {
    if !matches!(target, Some(IdedExpr { expr: Expr::Ident(name), .. }) if name == "cel") {
        return Ok(None);
    }
    let name = match args.first().map(|arg| (arg.id, &arg.expr)) {
        Some((_, Expr::Ident(name))) => name.clone(),
        Some((id, _)) => {
            return Err(
                helper.new_error(id, "cel.bind() variable names must be simple identifiers")
            );
        }
        None => return Ok(None),
    };
    let (Some(within), Some(value)) = (args.pop(), args.pop()) else {
        return Ok(None);
    };
    Ok(Some(Maker(helper).binding(name, value, within)))
}

/// `optMap` and `optFlatMap`. The target is bound to a hidden variable rather than repeated, so that a chain of them does
/// not double with each.
fn opt_map(
    helper: &mut MacroExprHelper<'_>,
    target: &mut Option<IdedExpr>,
    args: &mut Vec<IdedExpr>,
    wrap: bool,
) -> Expansion {
    const TARGET: &str = "@target";
    let (Some(target), Some(Variables(name, _))) =
        (target.take(), take_variables(helper, args, 1)?)
    else {
        return Ok(None);
    };
    let Some(body) = args.pop() else {
        return Ok(None);
    };
    let mut make = Maker(helper);
    let ident = make.ident(TARGET);
    let condition = make.member(ident, "hasValue", Vec::new());
    let ident = make.ident(TARGET);
    let value = make.member(ident, "value", Vec::new());
    let mapped = make.binding(name, value, body);
    let mapped = if wrap {
        make.call("optional.of", vec![mapped])
    } else {
        mapped
    };
    let none = make.call("optional.none", Vec::new());
    let result = make.call(operators::CONDITIONAL, vec![condition, mapped, none]);
    Ok(Some(make.binding(TARGET.to_string(), target, result)))
}

/// `list.sortBy(x, key)`: the list sorted by the list of its keys.
fn sort_by(
    helper: &mut MacroExprHelper<'_>,
    target: &mut Option<IdedExpr>,
    args: &mut Vec<IdedExpr>,
) -> Expansion {
    const INPUT: &str = "@sorted";
    let (Some(target), Some(variables)) = (target.take(), take_variables(helper, args, 1)?) else {
        return Ok(None);
    };
    let Some(key) = args.pop() else {
        return Ok(None);
    };
    let mut make = Maker(helper);
    let parts = append_parts(&mut make, None, key);
    let range = make.ident(INPUT);
    let keys = make.comprehension(range, variables, parts);
    let ident = make.ident(INPUT);
    let sorted = make.member(ident, SORT_BY_KEYS, vec![keys]);
    Ok(Some(make.binding(INPUT.to_string(), target, sorted)))
}
