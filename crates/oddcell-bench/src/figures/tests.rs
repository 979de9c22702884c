//! Tests of properties that all figures share.

use resvg::usvg;

use super::*;

/// Small versions of all figures; all names go through `name`.
fn all(name: impl Fn(&str) -> String) -> Vec<(&'static str, Figure, Vec<String>)> {
    let names = |prefix: &str, count: usize| -> Vec<String> {
        (0..count).map(|index| name(&format!("{prefix} {index}"))).collect()
    };
    let (title, x_title, y_title) = (name("title"), name("x title"), name("y title"));
    let axes = Axes { title: &title, x_title: &x_title, y_title: &y_title, log_x: false };
    let axis_titles = vec![title.clone(), x_title.clone(), y_title.clone()];
    let together = |lists: &[&[String]]| lists.concat();

    let series_names = names("series", 2);
    let points: Vec<(f64, f64)> = (0..8).map(|k| (f64::from(k), f64::from(k * k))).collect();
    let band = Some(points.iter().map(|point| (point.1 - 1.0, point.1 + 1.0)).collect());
    let series = |index: usize| Series {
        name: series_names[index].clone(),
        points: points.clone(),
        band: if index == 0 { band.clone() } else { None },
    };
    let lined = lines(&axes, &[series(0), series(1)]).unwrap();

    let (row_names, column_names) = (names("row", 3), names("column", 2));
    let map = HeatMap {
        title: &title,
        row_title: &x_title,
        column_title: &y_title,
        value_title: "AUC (%)",
        row_names: &row_names,
        column_names: &column_names,
        cells: &[Some(1.0), Some(2.5), None, Some(-4.0), Some(0.0), Some(7.0)],
        decimals: 1,
    };
    let mapped = heat_map(&map).unwrap();

    let bar_names = names("bar", 3);
    let bar_series = [
        BarSeries { name: series_names[0].clone(), values: vec![1.0, 2.0, 3.0], errors: Some(vec![0.1; 3]) },
        BarSeries { name: series_names[1].clone(), values: vec![-1.0, 0.0, 3.0], errors: None },
    ];
    let barred =
        bars(&Bars { title: &title, y_title: &y_title, names: &bar_names, series: &bar_series, decimals: 1 });

    let methods = names("method", 5);
    let ranked = critical_difference(&CriticalDifference {
        title: &title,
        names: &methods,
        mean_ranks: &[2.0, 1.5, 4.0, 4.0, 3.5],
        critical_difference: Some(1.2),
        cliques: &[(0, 1), (2, 4)],
    });
    let ranks = ["2.00", "1.50", "4.00", "4.00", "3.50"];
    let ranked_names: Vec<String> =
        methods.iter().zip(ranks).map(|(name, rank)| format!("{name} ({rank})")).collect();

    let labels = names("point", 8);
    let groups =
        [Group { name: series_names[0].clone(), points: points.clone(), labels: Some(labels.clone()) }];
    let scattered = scatter(&axes, &groups).unwrap();
    let dueled = duel(&axes, &groups).unwrap();

    vec![
        ("lines", lined, together(&[&axis_titles, &series_names])),
        ("heat_map", mapped, together(&[&axis_titles, &row_names, &column_names])),
        ("bars", barred.unwrap(), together(&[&[title.clone(), y_title.clone()], &bar_names, &series_names])),
        ("critical_difference", ranked.unwrap(), together(&[std::slice::from_ref(&title), &ranked_names])),
        ("scatter", scattered, together(&[&axis_titles, &series_names[..1], &labels])),
        ("duel", dueled, together(&[&axis_titles, &series_names[..1], &labels])),
    ]
}

/// All texts of an SVG, read back by the renderer.
fn texts(figure: &Figure) -> Vec<String> {
    fn collect(group: &usvg::Group, found: &mut Vec<String>) {
        for node in group.children() {
            match node {
                usvg::Node::Group(group) => collect(group, found),
                usvg::Node::Text(text) => {
                    found.push(text.chunks().iter().map(usvg::TextChunk::text).collect());
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    collect(png::parse(&figure.svg).unwrap().root(), &mut found);
    found
}

/// Everything drawn lies on the sheet.
fn is_on_the_sheet(figure: &Figure) -> bool {
    let tree = png::parse(&figure.svg).unwrap();
    let (sheet, drawn) = (tree.size(), tree.root().abs_bounding_box());
    drawn.left() >= 0.0
        && drawn.top() >= 0.0
        && drawn.right() <= sheet.width()
        && drawn.bottom() <= sheet.height()
}

#[test]
fn every_label_appears() {
    for (kind, figure, labels) in all(str::to_owned) {
        let found = texts(&figure);
        for label in &labels {
            assert!(found.contains(label), "{kind}: no {label:?} among {found:?}");
        }
        assert!(is_on_the_sheet(&figure), "{kind}");
    }
}

// The horizontal axis has ticks at 0, 5 … 20, the vertical one at 0.0, 2.5 … 20.0.
#[test]
fn the_axes_of_a_duel_are_the_same_and_a_line_joins_their_corners() {
    let groups = [Group { points: vec![(0.0, 10.0), (20.0, 5.0)], ..Group::default() }];
    let found = texts(&duel(&axes(false), &groups).unwrap());
    for tick in ["0", "20", "0.0", "20.0"] {
        assert!(found.iter().any(|text| text == tick), "no {tick} among {found:?}");
    }
    // Alone, the vertical axis goes from 5 to 10 only.
    let alone = texts(&scatter(&axes(false), &groups).unwrap());
    let has_seven = |texts: &[String]| texts.iter().any(|text| text == "7");
    assert!(has_seven(&alone) && !has_seven(&found), "{alone:?}");
}

#[test]
fn equal_input_gives_equal_bytes() {
    for ((kind, first, _), (_, second, _)) in all(str::to_owned).into_iter().zip(all(str::to_owned)) {
        assert_eq!(first, second, "{kind}");
        assert!(first.png().unwrap() == second.png().unwrap(), "{kind}");
    }
}

#[test]
fn the_png_has_two_pixels_per_unit() {
    for (kind, figure, _) in all(str::to_owned) {
        let size = png::parse(&figure.svg).unwrap().size();
        let png = figure.png().unwrap();
        // Signature, length and name of the first chunk are 16 bytes; then width and height, the highest byte
        // first.
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert_eq!(
            (number(16) as f32, number(20) as f32),
            (2.0 * size.width(), 2.0 * size.height()),
            "{kind}"
        );
    }
}

#[test]
fn markup_in_names_is_escaped_and_shown_as_it_is() {
    for (kind, figure, labels) in all(|name| format!("</text><script>\"'&amp;{name}")) {
        assert!(!figure.svg.contains("<script") && figure.svg.contains("&lt;script&gt;"), "{kind}");
        let found = texts(&figure);
        // Long names may be shortened; the rest is unchanged.
        let whole = labels.iter().filter(|label| found.contains(label)).count();
        assert!(whole > 0, "{kind}: {found:?}");
        let is_given = |text: &&String| text.starts_with("</text><script>");
        assert_eq!(found.iter().filter(is_given).count(), labels.len(), "{kind}: {found:?}");
    }
}

#[test]
fn long_names_are_shortened_and_nothing_leaves_the_sheet() {
    for (kind, figure, _) in all(|name| format!("{name} {}", "Ж".repeat(5000))) {
        assert!(texts(&figure).iter().any(|text| text.contains('…')), "{kind}");
        assert!(figure.svg.len() < 100_000, "{kind}: {} bytes", figure.svg.len());
        assert!(is_on_the_sheet(&figure), "{kind}");
    }
}

#[test]
fn direction_marks_and_control_characters_are_dropped() {
    for (kind, figure, _) in all(|name| format!("\u{202e}\u{0}\u{8}{name}\u{200f}\u{ffff}\r\n")) {
        assert!(!figure.svg.contains(['\u{202e}', '\u{0}', '\u{8}', '\u{200f}', '\u{ffff}', '\r']), "{kind}");
        assert!(texts(&figure).contains(&"title".to_owned()), "{kind}");
    }
}

#[test]
fn names_that_are_empty_or_in_another_script_are_drawn() {
    for name in ["", "שלום", "異常検知", "🚀"] {
        for (kind, figure, _) in all(|_| name.to_owned()) {
            assert!(figure.png().is_ok(), "{kind}: {name:?}");
        }
    }
}

fn axes(log_x: bool) -> Axes<'static> {
    Axes { log_x, ..Axes::default() }
}

fn series(points: &[(f64, f64)], band: Option<Vec<(f64, f64)>>) -> [Series; 1] {
    [Series { name: "one".to_owned(), points: points.to_vec(), band }]
}

#[test]
fn nothing_to_draw_is_a_named_error() {
    assert_eq!(lines(&axes(false), &[]), Err(FigureError::Empty { what: "series" }));
    assert_eq!(
        lines(&axes(false), &series(&[], None)),
        Err(FigureError::Empty { what: "points in a series" })
    );
    assert_eq!(scatter(&axes(false), &[]), Err(FigureError::Empty { what: "points" }));
    assert_eq!(scatter(&axes(false), &[Group::default()]), Err(FigureError::Empty { what: "points" }));
    assert_eq!(bars(&Bars::default()), Err(FigureError::Empty { what: "names of bars" }));
    let names = ["a".to_owned()];
    assert_eq!(bars(&Bars { names: &names, ..Bars::default() }), Err(FigureError::Empty { what: "series" }));
    assert_eq!(heat_map(&HeatMap::default()), Err(FigureError::Empty { what: "rows" }));
    let map = HeatMap { row_names: &names, ..HeatMap::default() };
    assert_eq!(heat_map(&map), Err(FigureError::Empty { what: "columns" }));
    let map = HeatMap { column_names: &names, cells: &[None], ..map };
    assert_eq!(heat_map(&map), Err(FigureError::Empty { what: "values in the cells" }));
    assert!(matches!(
        critical_difference(&CriticalDifference::default()),
        Err(FigureError::Count { got: 0, .. })
    ));
}

#[test]
fn a_number_that_cannot_be_drawn_is_an_error_with_its_position() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
        let is_second = |result: Result<Figure, FigureError>| {
            let Err(FigureError::Value { position, got, .. }) = result else { return false };
            position == 2 && got.to_bits() == bad.to_bits()
        };
        assert!(is_second(lines(&axes(false), &series(&[(1.0, 1.0), (bad, 1.0)], None))));
        assert!(is_second(lines(&axes(false), &series(&[(1.0, 1.0), (1.0, bad)], None))));
        assert!(is_second(lines(&axes(false), &series(&[(1.0, 1.0)], Some(vec![(1.0, bad)])))));
        let group = Group { points: vec![(1.0, 1.0), (1.0, bad)], ..Group::default() };
        assert!(is_second(scatter(&axes(false), &[group])));
        let names = ["a".to_owned(), "b".to_owned()];
        let bars_of = |values: Vec<f64>, errors: Vec<f64>| {
            let series = [BarSeries { name: String::new(), values, errors: Some(errors) }];
            bars(&Bars { names: &names, series: &series, ..Bars::default() })
        };
        assert!(is_second(bars_of(vec![1.0, bad], vec![1.0, 1.0])));
        assert!(is_second(bars_of(vec![1.0, 1.0], vec![1.0, bad])));
        let cells = [Some(1.0), Some(bad)];
        let map =
            HeatMap { row_names: &names, column_names: &names[..1], cells: &cells, ..HeatMap::default() };
        assert!(is_second(heat_map(&map)));
        let mean_ranks = [1.0, bad];
        let diagram =
            CriticalDifference { names: &names, mean_ranks: &mean_ranks, ..CriticalDifference::default() };
        assert!(is_second(critical_difference(&diagram)));
    }
}

#[test]
fn a_logarithmic_axis_needs_positive_values() {
    let expected = "a finite number above 0";
    let error = FigureError::Value { what: "x of point", position: 1, got: 0.0, expected };
    assert_eq!(lines(&axes(true), &series(&[(0.0, 1.0)], None)), Err(error));
    assert!(lines(&axes(true), &series(&[(1e-300, 1.0), (1e300, 2.0)], None)).unwrap().png().is_ok());
}

#[test]
fn lists_of_different_lengths_are_named_errors() {
    let is_count = |result: Result<Figure, FigureError>| matches!(result, Err(FigureError::Count { .. }));
    assert!(is_count(lines(&axes(false), &series(&[(1.0, 1.0)], Some(Vec::new())))));
    let group = Group { points: vec![(1.0, 1.0)], labels: Some(Vec::new()), ..Group::default() };
    assert!(is_count(scatter(&axes(false), &[group])));
    let names = ["a".to_owned(), "b".to_owned()];
    assert!(is_count(bars(&Bars { names: &names, series: &[BarSeries::default()], ..Bars::default() })));
    assert!(is_count(heat_map(&HeatMap { row_names: &names, column_names: &names, ..HeatMap::default() })));
    let diagram =
        CriticalDifference { names: &names, mean_ranks: &[1.0, 2.0], ..CriticalDifference::default() };
    assert!(is_count(critical_difference(&CriticalDifference { mean_ranks: &[1.0], ..diagram.clone() })));
    for clique in [(1, 0), (0, 2)] {
        assert!(is_count(critical_difference(&CriticalDifference { cliques: &[clique], ..diagram.clone() })));
    }
    for mean_rank in [0.5, 2.5] {
        let diagram = CriticalDifference { mean_ranks: &[1.0, mean_rank], ..diagram.clone() };
        assert!(matches!(critical_difference(&diagram), Err(FigureError::Value { position: 2, .. })));
    }
}

#[test]
fn single_values_and_extreme_ranges_are_drawn() {
    let names = ["a".to_owned()];
    for value in [0.0, 7.0, -1e300, 1e-300] {
        assert!(lines(&axes(false), &series(&[(value, value)], None)).unwrap().png().is_ok());
        let cells = [Some(value)];
        let map = HeatMap { row_names: &names, column_names: &names, cells: &cells, ..HeatMap::default() };
        assert!(heat_map(&map).unwrap().png().is_ok());
        let series = [BarSeries { name: String::new(), values: vec![value], errors: None }];
        assert!(bars(&Bars { names: &names, series: &series, ..Bars::default() }).unwrap().png().is_ok());
    }
    let wide = series(&[(-1e300, -1e300), (1e300, 1e300)], None);
    assert!(lines(&axes(false), &wide).unwrap().png().is_ok());
}

#[test]
fn an_invalid_svg_is_a_named_error() {
    let broken = Figure { svg: "<svg".to_owned() };
    assert!(matches!(broken.png(), Err(FigureError::Render { .. })));
}

#[test]
fn critical_difference_diagrams_of_all_sizes_stay_on_the_sheet() {
    for n in 2..=20 {
        let names: Vec<String> = (0..n).map(|index| format!("method {index}")).collect();
        // All ranks equal is the hardest case for the stems.
        let equal = vec![(n + 1) as f64 / 2.0; n];
        let even: Vec<f64> = (1..=n).map(|rank| rank as f64).collect();
        for mean_ranks in [equal, even] {
            let diagram = CriticalDifference {
                title: "ranks",
                names: &names,
                mean_ranks: &mean_ranks,
                critical_difference: Some(2.5),
                cliques: &[(0, n - 1)],
            };
            let figure = critical_difference(&diagram).unwrap();
            assert!(is_on_the_sheet(&figure), "{n}");
        }
    }
}
