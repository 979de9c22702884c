//! Cells: the smallest set, what should stand there, and p-values that keep their promise.

use oddcell::{
    Context, DetectorSpec, Model, Seed, Table,
    cells::{OddCell, judge_table},
    demo::{self, Demo},
    judge::{Judge, Judgement, Scorer},
    model::{FitOptions, detect},
    table::{ReadOptions, TableReader},
    verdict::Rule,
};

fn read(csv: &str) -> Table {
    let reader = TableReader::from_bytes("table.csv", csv.as_bytes().to_vec(), &ReadOptions::default());
    Table::from_reader(reader.expect("a table")).expect("a table")
}

fn context() -> Context<'static> {
    Context::silent(Seed(0))
}

/// All rows of a table judged in one piece.
fn judged(judge: &dyn Judge, table: &Table) -> Vec<Judgement> {
    let scorer = Scorer { cells: true, ..Scorer::new(judge, Rule::Alpha(0.01)) };
    table.rows().map(|rows| scorer.judgement(rows).expect("rows that can be judged")).collect()
}

/// The names of the columns of a set, and the set.
fn sets(judge: &dyn Judge, judged: &[Judgement]) -> Vec<(Vec<String>, Vec<OddCell>)> {
    let name = |cell: &OddCell| judge.encoder().columns()[cell.column].name().to_owned();
    let of_batch = |judgement: &Judgement| {
        let sets = judgement.sets.as_ref().expect("cells are judged");
        let rows = (0..sets.n_rows()).map(|row| sets.of(row));
        rows.map(|cells| (cells.iter().map(name).collect(), cells.to_vec())).collect::<Vec<_>>()
    };
    judged.iter().flat_map(of_batch).collect()
}

/// Of the spoiled rows that are called odd, how many have a set of exactly the spoiled cell.
fn named_alone(judge: &dyn Judge, demo: &Demo) -> (usize, usize) {
    let judged = judged(judge, &read(&demo.csv));
    let p_values: Vec<f64> =
        judged.iter().flat_map(|judgement| judgement.findings.p_values.iter().copied()).collect();
    let sets = sets(judge, &judged);
    let found: Vec<_> = demo.spoiled.iter().filter(|cell| p_values[cell.row - 1] <= 0.01).collect();
    // Members have a discount and others have none: if one of the two is wrong, nobody can tell which.
    let is_same = |name: &str, column: &str| name == column || (column == "discount" && name == "member");
    let is_alone = |names: &[String], column: &str| matches!(names, [name] if is_same(name, column));
    let alone = found.iter().filter(|cell| is_alone(&sets[cell.row - 1].0, cell.column)).count();
    (alone, found.len())
}

#[test]
fn the_spoiled_cell_is_named_alone() {
    let clean = read(&demo::orders(2_000, 0, Seed(1)).csv);
    let new = demo::orders(1_500, 120, Seed(2));
    let columns = Model::fit(&clean, &FitOptions::new(DetectorSpec::by_table()), &context()).unwrap();
    let (alone, found) = named_alone(&columns, &new);
    assert!(found >= 60, "{found}");
    assert!(alone * 10 >= found * 9, "{alone} of {found}");
    // The rows' own detector need not judge cells.
    let knn =
        Model::fit(&clean, &FitOptions::new(DetectorSpec::new("knn", None).unwrap()), &context()).unwrap();
    let (alone, found) = named_alone(&knn, &new);
    assert!(alone * 10 >= found * 8, "{alone} of {found}");
}

// y = 2x with a little noise, and a name that x determines. In row 7 y is 10 times too large, in row 9 the name is swapped, in
// row 11 it is misspelled.
#[test]
fn what_should_stand_there_is_what_the_other_columns_say() {
    let names = ["north", "south", "east", "west"];
    let mut stream = Seed(3).stream("cells", &[]);
    let mut csv = "x,y,name\n".to_owned();
    for row in 0..400 {
        let x = 100 + 10 * (row % 40);
        let y = 2.0 * f64::from(x) + stream.normal();
        let name = names[(row % 40) as usize / 10];
        let line = match row {
            7 => format!("{x},{:.2},{name}\n", 10.0 * y),
            9 => format!("{x},{y:.2},west\n"),
            11 => format!("{x},{y:.2},suoth\n"),
            _ => format!("{x},{y:.2},{name}\n"),
        };
        csv.push_str(&line);
    }
    let table = read(&csv);
    let detection = detect(&table, &FitOptions::for_cells(), &context()).unwrap();
    let judged = judge_table(&detection, &table, Rule::Alpha(0.001)).unwrap().expect("cells are judged");
    let called = |row: usize| {
        let cells = judged.called.iter().filter(move |cell| cell.row == row);
        cells
            .map(|cell| (cell.column, cell.expected.clone().expect("something is expected")))
            .collect::<Vec<_>>()
    };
    let [(column, expected)] = &called(7)[..] else { panic!("{:?}", called(7)) };
    let number = |text: &str| text.parse::<f64>().unwrap();
    let true_y = 2.0 * 170.0;
    assert_eq!(*column, 1);
    assert!((number(&expected.value) - true_y).abs() < 30.0, "{expected:?}");
    let [low, high] = [&expected.low, &expected.high].map(|end| number(end.as_deref().unwrap()));
    assert!(low < true_y && true_y < high && high - low < 200.0, "{expected:?}");
    let [(2, expected)] = &called(9)[..] else { panic!("{:?}", called(9)) };
    assert_eq!((&*expected.value, &*expected.levels[0].name), ("north", "north"));
    assert!(expected.sure > 0.5);
    let [(2, expected)] = &called(11)[..] else { panic!("{:?}", called(11)) };
    assert_eq!(expected.value, "south");
}

// P(p ≤ t) is at most t, up to chance: of about 12,000 cells, 3 standard errors at 0.01 are 0.0027. Cells of a row are not
// independent; so twice that.
#[test]
fn p_values_of_clean_cells_keep_their_promise() {
    let model = Model::fit(
        &read(&demo::orders(3_000, 0, Seed(1)).csv),
        &FitOptions::new(DetectorSpec::by_table()),
        &context(),
    )
    .unwrap();
    let table = read(&demo::orders(1_000, 0, Seed(7)).csv);
    let judged = judge_table(&model, &table, Rule::Alpha(1e-9)).unwrap().expect("cells are judged");
    let p_values = judged.findings.p_values.values();
    for level in [0.1, 0.01] {
        let share = p_values.iter().filter(|&&p| p <= level).count() as f64 / p_values.len() as f64;
        let error = (level * (1.0 - level) / p_values.len() as f64).sqrt();
        assert!(share <= level + 6.0 * error, "P(p ≤ {level}) = {share}");
    }
}

#[test]
fn a_normal_row_has_no_set_and_a_model_without_cells_has_none_at_all() {
    let clean = read(&demo::orders(300, 0, Seed(1)).csv);
    let options = FitOptions::new(DetectorSpec::new("knn", None).unwrap());
    let model = Model::fit(&clean, &options, &context()).unwrap();
    let judged_rows = judged(&model, &clean);
    let p_values: Vec<f64> = judged_rows.iter().flat_map(|one| one.findings.p_values.clone()).collect();
    for (p, (names, _)) in p_values.iter().zip(sets(&model, &judged_rows)) {
        assert_eq!(*p <= 0.05, !names.is_empty(), "{p}: {names:?}");
    }
    let plain = Model::fit(&clean, &FitOptions { cells: false, ..options }, &context()).unwrap();
    assert!(judged(&plain, &clean).iter().all(|judgement| judgement.sets.is_none()));
    assert!(judge_table(&plain, &clean, Rule::Fdr(0.1)).unwrap().is_none());
    let again = Model::from_bytes(&plain.to_bytes().unwrap()).unwrap();
    assert!(judge_table(&again, &clean, Rule::Fdr(0.1)).unwrap().is_none());
}

#[test]
fn cells_are_judged_to_the_same_bits_after_loading() {
    let clean = read(&demo::orders(300, 0, Seed(1)).csv);
    let new = read(&demo::orders(200, 9, Seed(2)).csv);
    for name in ["columns", "knn"] {
        let options = FitOptions::new(DetectorSpec::new(name, None).unwrap());
        let model = Model::fit(&clean, &options, &context()).unwrap();
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let rule = Rule::Fdr(0.1);
        assert_eq!(
            judge_table(&model, &new, rule).unwrap(),
            judge_table(&again, &new, rule).unwrap(),
            "{name}"
        );
    }
}
