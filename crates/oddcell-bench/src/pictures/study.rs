//! Pictures of studies: how a parameter changes the AUC.

use std::collections::BTreeSet;

use super::{n_sets_text, percent};
use crate::{
    board::{Board, Measure},
    figures::{Axes, BarSeries, Bars, Figure, FigureError, HeatMap, Series, bars, heat_map, lines},
    protocol::Protocol,
    store::Row,
    variants::{self, Varied, settings},
};

/// Draws lines for numbers, a heat map for two parameters, and bars for anything else. Means are over the sets that all
/// variants of all methods have; `None` if there is no such set.
pub(super) fn draw(varied: &Varied, rows: &[Row], protocol: Protocol) -> Result<Option<Figure>, FigureError> {
    let methods: BTreeSet<String> = rows.iter().map(|row| row.method.clone()).collect();
    let board = Board::new(rows, protocol, Measure::Auc).complete();
    if board.sets.is_empty() {
        return Ok(None);
    }
    let mean = |method: &str, variant: &str| {
        let at = board.position(&format!("{method} {variant}"))?;
        Some(percent(board.mean_over_sets(at)?.0))
    };
    let variants = variants::names(rows);
    let value = |variant: &str| settings(variant)[0].1.to_owned();
    let words: Vec<&str> = varied.keys.iter().map(|key| in_words(key)).collect();
    let key = words.join(" and ");
    let title = format!("AUC by {key}, means over {} ({})", n_sets_text(&board), protocol.title());
    if let [_, _] = varied.keys.as_slice() {
        return draw_heat_map(varied, &title, &variants, &methods, mean).map(Some);
    }
    let number = |variant: &str| value(variant).parse::<f64>().ok();
    if variants.iter().all(|variant| number(variant).is_some_and(|number| number > 0.0)) {
        let line = |method: &String| {
            let point = |variant: &String| Some((number(variant)?, mean(method, variant)?));
            Series { name: method.clone(), points: variants.iter().filter_map(point).collect(), band: None }
        };
        let series: Vec<Series> = methods.iter().map(line).collect();
        let axes = Axes { title: &title, x_title: &key, y_title: "AUC (%)", log_x: true };
        return lines(&axes, &series).map(Some);
    }
    let names: Vec<String> = variants.iter().map(|variant| variants::values(variant)).collect();
    let bar = |method: &String| {
        let values = variants.iter().map(|variant| mean(method, variant)).collect::<Option<Vec<f64>>>()?;
        Some(BarSeries { name: method.clone(), values, errors: None })
    };
    let series: Vec<BarSeries> = methods.iter().filter_map(bar).collect();
    if series.is_empty() {
        return Ok(None);
    }
    bars(&Bars { title: &title, y_title: "AUC (%)", names: &names, series: &series, decimals: 1 }).map(Some)
}

/// Draws the heat map of two parameters; with several methods, one below the other.
fn draw_heat_map(
    varied: &Varied,
    title: &str,
    variants: &[String],
    methods: &BTreeSet<String>,
    mean: impl Fn(&str, &str) -> Option<f64>,
) -> Result<Figure, FigureError> {
    let names = |at: usize| {
        let mut names: Vec<String> =
            variants.iter().map(|variant| settings(variant)[at].1.to_owned()).collect();
        let key = |name: &String| variants::number(name);
        names.sort_by(|a, b| key(a).total_cmp(&key(b)).then_with(|| a.cmp(b)));
        names.dedup();
        names
    };
    let (first, second) = (names(0), names(1));
    let mut row_names = Vec::new();
    let mut cells = Vec::new();
    for method in methods {
        for one in &first {
            row_names.push(if methods.len() > 1 { format!("{method} {one}") } else { one.clone() });
            let variant = |two: &String| format!("{}={one}; {}={two}", varied.keys[0], varied.keys[1]);
            cells.extend(second.iter().map(|two| mean(method, &variant(two))));
        }
    }
    heat_map(&HeatMap {
        title,
        row_title: in_words(&varied.keys[0]),
        column_title: in_words(&varied.keys[1]),
        value_title: "AUC (%)",
        row_names: &row_names,
        column_names: &second,
        cells: &cells,
        decimals: 1,
    })
}

/// The name of a parameter in the paper, if it is one of the paper's ablations.
fn in_words(key: &str) -> &str {
    match key {
        "sigma_max" => "largest noise level",
        "ratios" => "noise ratio",
        "noise" => "kind of noise",
        "aggregate" => "aggregation",
        other => other,
    }
}
