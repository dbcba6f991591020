use std::collections::BTreeMap;
use std::sync::Arc;

use super::check::Check;
use super::meaning::{AxisSpec, From, KindSpec, Lookup};
use super::scope::Scope;
use super::written_grid::{AxisKind, Text, WrittenAxis};
use scavsim_data::space;
use scavsim_read::input::Spanned;
use scavsim_read::input::name::not_a_name;

pub(super) fn axes(
    check: &mut Check<'_>,
    written: &BTreeMap<Text, Spanned<WrittenAxis>>,
    lookups: &[Lookup],
) -> Vec<AxisSpec> {
    if written.is_empty() {
        check.missing(
            "axis",
            "`[axis.vm]`, `[axis.workers]`: what the configurations differ in",
        );
    }
    // A space has its axes in the order in which a person wrote them.
    let mut in_order: Vec<_> = written.iter().collect();
    in_order.sort_by_key(|(name, _)| name.span().start);
    let scope = Scope {
        source: check.source,
        axes: &[],
        columns: check.columns,
        lookups,
        time: &[],
        refused: &[],
    };
    let each = in_order.into_iter();
    each.filter_map(|(name, written)| axis(check, name, written, &scope))
        .collect()
}

fn axis(
    check: &mut Check<'_>,
    name: &Text,
    written: &Spanned<WrittenAxis>,
    scope: &Scope<'_>,
) -> Option<AxisSpec> {
    let (word, axis) = (name.get_ref().as_str(), written.get_ref());
    if let Some(why) = not_a_name(word) {
        let title = "this cannot be the name of an axis";
        check
            .diagnostics
            .error_at(check.source, name.span(), title, why);
    }
    let from = match (&axis.column, &axis.formula) {
        (Some(_), Some(formula)) => {
            let title = format!("the axis `{word}` has a column and a formula");
            check.wrong(formula.span(), title, "one of both", "remove one of them");
            None
        }
        (_, Some(formula)) => scope
            .bind("formula", formula, check.diagnostics)
            .map(From::Formula),
        (Some(column), None) => check.column(column).map(From::Column),
        (None, None) => check.column_at(word, name.span()).map(From::Column),
    };
    let kind = kind(check, name, axis);
    if let (Some(formula), Some(kind)) = (&axis.formula, &kind)
        && !matches!(kind, KindSpec::Numeric { .. })
    {
        let title = format!("the axis `{word}` holds names, which no formula gives");
        check.wrong(
            formula.span(),
            title,
            "gives numbers",
            "`kind = \"numeric\"`, or a column",
        );
    }
    Some(AxisSpec {
        name: word.to_owned(),
        from: from?,
        kind: kind?,
    })
}

fn kind(check: &mut Check<'_>, name: &Text, axis: &WrittenAxis) -> Option<KindSpec> {
    let word = name.get_ref().as_str();
    let Some(kind) = &axis.kind else {
        let title = format!("the axis `{word}` has no `kind`");
        let help = "`kind` is `categorical`, `ordinal` (with `levels`) or `numeric` (with `unit`)";
        check.wrong(name.span(), title, "of which kind?", help);
        return None;
    };
    let counts = word == space::WORKERS || word == space::BATCH;
    let is_numeric = *kind.get_ref() == AxisKind::Numeric;
    if counts && !is_numeric || word == space::VM && is_numeric {
        let right = if counts { "numeric" } else { "categorical" };
        let title = format!("the axis `{word}` is always {right}");
        let help = format!("`kind = \"{right}\"`, or another name for this axis");
        check.wrong(kind.span(), title, "of another kind", &help);
    }
    if let (Some(unit), false) = (&axis.unit, is_numeric) {
        let title = format!("the axis `{word}` holds names, which have no unit");
        check.wrong(
            unit.span(),
            title,
            "only numbers have a unit",
            "remove it, or `kind = \"numeric\"`",
        );
    }
    if let (Some(levels), false) = (&axis.levels, *kind.get_ref() == AxisKind::Ordinal) {
        let title = format!("the axis `{word}` has levels but no order");
        check.wrong(
            levels.span(),
            title,
            "only an ordinal axis lists its levels",
            "remove it, or `kind = \"ordinal\"`",
        );
    }
    match kind.get_ref() {
        AxisKind::Categorical => Some(KindSpec::Categorical),
        AxisKind::Ordinal => levels(check, word, kind, axis).map(KindSpec::Ordinal),
        AxisKind::Numeric => {
            let unit = axis
                .unit
                .as_ref()
                .filter(|unit| !unit.get_ref().trim().is_empty());
            let Some(unit) = unit else {
                let span = axis.unit.as_ref().map_or(kind.span(), Spanned::span);
                let title = format!("the numeric axis `{word}` has no unit");
                check.wrong(
                    span,
                    title,
                    "`unit` is missing",
                    "`unit = \"GiB\"`, or `unit = \"1\"` for a bare number",
                );
                return None;
            };
            Some(KindSpec::Numeric {
                unit: unit.get_ref().as_str().into(),
                is_whole: counts,
            })
        }
    }
}

fn levels(
    check: &mut Check<'_>,
    word: &str,
    kind: &Spanned<AxisKind>,
    axis: &WrittenAxis,
) -> Option<Vec<Arc<str>>> {
    let Some(levels) = axis
        .levels
        .as_ref()
        .filter(|levels| !levels.get_ref().is_empty())
    else {
        let title = format!("the ordinal axis `{word}` does not say in which order");
        check.wrong(
            kind.span(),
            title,
            "`levels` is missing",
            "`levels = [\"small\", \"large\"]`, from least to most",
        );
        return None;
    };
    let all = levels.get_ref();
    for (index, level) in all.iter().enumerate() {
        if all[..index]
            .iter()
            .any(|before| before.get_ref() == level.get_ref())
        {
            let title = format!("the level `{}` appears twice", level.get_ref());
            check.wrong(level.span(), title, "named before", "remove one of the two");
        }
    }
    Some(
        all.iter()
            .map(|level| level.get_ref().as_str().into())
            .collect(),
    )
}
