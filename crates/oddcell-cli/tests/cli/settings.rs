//! Parameters: `--config`, `--set`, `--detector`, `--preset`, `--net`.

use insta_cmd::assert_cmd_snapshot;
use serde_json::Value;

use crate::folder::{Folder, orders, succeed};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("orders.csv", orders(60));
    folder
}

fn params(folder: &Folder, flags: &[&str]) -> Value {
    let args = ["fit", "orders.csv", "-o", "m.oddcell", "--json"];
    let text = succeed(&mut folder.oddcell(args.into_iter().chain(flags.iter().copied())));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_config_file_sets_everything_and_flags_have_the_last_word() {
    let folder = folder();
    let config = "seed = 3\n[params]\nsigma_max = 1.5\ntrain_for = \"5 steps\"\n\
                  [encode]\none_hot = true\n[fit]\nfolds = 3\n";
    folder.write("settings.toml", config);
    let found = params(&folder, &["--config", "settings.toml"]);
    assert_eq!(found["params"]["sigma_max"], 1.5);
    assert_eq!(found["params"]["train_for"], "5 steps");
    assert_eq!((&found["seed"], &found["members"]), (&Value::from(3), &Value::from(3)));
    let flags = [
        "--config",
        "settings.toml",
        "--seed",
        "4",
        "--set",
        "sigma_max=2",
        "--set",
        "fit.folds=4",
        "--net",
        "resmlp",
    ];
    let found = params(&folder, &flags);
    assert_eq!(found["params"]["sigma_max"], 2.0);
    assert_eq!(found["params"]["net"], "resmlp");
    assert_eq!((&found["seed"], &found["members"]), (&Value::from(4), &Value::from(4)));
}

#[test]
fn kinds_are_chosen_by_flags_and_by_the_config_file() {
    let folder = folder();
    folder.write("kinds.toml", "[kinds]\nrating = \"category\"\nweight = \"id\"\n");
    let tiny = ["--set", "train_for=2 steps", "--config", "kinds.toml"];
    let kinds = ["--kind", "city=ignore", "--kind", "gift=category", "--kind", "placed=text"];
    let fitted = params(&folder, &[&tiny[..], &kinds].concat());
    assert_eq!(
        (&fitted["kinds"], &fitted["left_out"]),
        (
            &serde_json::json!({ "number": ["amount"], "text": ["placed"], "category": ["gift", "rating"] }),
            &serde_json::json!([
                { "name": "weight", "reason": { "identifier": "told" } },
                { "name": "city", "reason": "ignored" },
            ])
        )
    );
    let model = succeed(&mut folder.oddcell(["inspect", "m.oddcell", "--json"]));
    let model: Value = serde_json::from_str(&model).unwrap();
    let kinds: Vec<(&str, &str)> = model["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| (column["name"].as_str().unwrap(), column["kind"].as_str().unwrap()))
        .collect();
    let expected = [("amount", "number"), ("placed", "text"), ("gift", "category"), ("rating", "category")];
    assert_eq!(kinds, expected);
}

#[test]
fn a_kind_or_column_that_does_not_exist_is_an_error_with_a_hint() {
    let folder = folder();
    let fit = |kind: &'static str| folder.oddcell(["fit", "orders.csv", "-o", "m.oddcell", "--kind", kind]);
    assert_cmd_snapshot!(fit("city=word"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: --kind city=word: there is no kind `word`; known: number, boolean, date, text, category
    hint: `id` and `ignore` leave the column out
    ");
    assert_cmd_snapshot!(fit("town=date"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: orders.csv has no column `town`; its columns are `amount`, `weight`, `city`, `placed`, `gift`, `rating`
    ");
}

#[test]
fn every_detector_fits_and_scores() {
    let folder = folder();
    for entry in oddcell::detect::DETECTORS {
        let mut flags = vec!["--detector", entry.name];
        let defaults = oddcell::DetectorSpec::new(entry.name, None).unwrap();
        if defaults.params().contains_key("train_for") {
            flags.extend(["--set", "train_for=2 steps"]);
        }
        assert_eq!(params(&folder, &flags)["detector"], entry.name);
        let rows = succeed(&mut folder.oddcell(["score", "m.oddcell", "orders.csv"]));
        assert_eq!(rows.lines().count(), 61, "{}", entry.name);
    }
}

// `orders.csv` has names and dates, so that `columns` is its default; that keeps no rows, and knows no `keep_rows`.
#[test]
fn whoever_sets_a_parameter_is_told_which_detector_it_chooses() {
    let folder = folder();
    let set = ["--keep-rows", "0", "--set", "train_for=2 steps"];
    let note = "the detector is `noise` because its parameter `keep_rows` is set; the default for this table is `columns`";
    let found = params(&folder, &set);
    assert_eq!((&found["detector"], &found["params"]["keep_rows"]), (&"noise".into(), &0.into()));
    assert_eq!(found["notes"], serde_json::json!([note]));
    let named = params(&folder, &[&set[..], &["--detector", "noise"]].concat());
    assert_eq!(named["notes"], serde_json::json!([]));
    let detected = succeed(folder.oddcell(["detect", "orders.csv", "--json", "-o", "out.csv"]).args(set));
    assert!(detected.contains(note), "{detected}");
    let streamed = params(&folder, &["--stream", "--set", "train_for=2 steps"]);
    assert!(streamed["notes"][0].as_str().unwrap().contains("because its parameter `train_for` is set"));
    // A table of numbers gets the same detector with and without.
    let numbers: Vec<String> = (0..90).map(|row| format!("{row},{}\n", row * 37 % 91)).collect();
    folder.write("orders.csv", numbers.concat());
    assert_eq!(params(&folder, &[&set[..], &["--no-header"]].concat())["notes"], serde_json::json!([]));
}

#[test]
fn the_paper_preset_is_known() {
    let found = params(&folder(), &["--preset", "paper", "--set", "train_for=2 steps"]);
    assert_eq!(found["detector"], "noise");
}

#[test]
fn config_files_with_mistakes() {
    let folder = folder();
    let fit = |config: &str| {
        folder.write("settings.toml", config);
        folder.oddcell(["fit", "orders.csv", "-o", "m.oddcell", "--config", "settings.toml"])
    };
    assert_cmd_snapshot!(fit("sede = 3\n"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot read the config `settings.toml`: TOML parse error at line 1, column 1
      |
    1 | sede = 3
      | ^^^^
    unknown field `sede`, expected one of `detector`, `preset`, `seed`, `params`, `encode`, `fit`, `kinds`, `categorical`, `rule`
    hint: the config may contain detector, preset, seed, categorical, and the tables [params], [encode], [fit], [kinds], [rule]
    ");
    assert_cmd_snapshot!(fit("seed = \"three\"\n"), @r#"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot read the config `settings.toml`: TOML parse error at line 1, column 8
      |
    1 | seed = "three"
      |        ^^^^^^^
    invalid type: string "three", expected u64
    hint: the config may contain detector, preset, seed, categorical, and the tables [params], [encode], [fit], [kinds], [rule]
    "#);
    assert_cmd_snapshot!(fit("seed 3\n"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot read the config `settings.toml`: TOML parse error at line 1, column 6
      |
    1 | seed 3
      |      ^
    key with no value, expected `=`
    hint: the config may contain detector, preset, seed, categorical, and the tables [params], [encode], [fit], [kinds], [rule]
    ");
    assert_cmd_snapshot!(fit("[params]\nsigmamax = 1.5\n"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: config `settings.toml`: detector `noise` has no parameter `sigmamax`; known: aggregate, batch_size, beta, difference, form, hidden, keep_rows, learning_rate, levels, loss, n_neighbors, net, noise, one_hot, output, ratios, schedule, sigma_max, train_for, trust, weight_decay
    ");
    assert_cmd_snapshot!(fit("[params]\nsigma_max = \"high\"\n"), @r#"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: parameter `sigma_max` of detector `noise`: invalid type: string "high", expected a number
    hint: `oddcell inspect MODEL` shows the parameters of a model and their values
    "#);
    assert_cmd_snapshot!(fit("[fit]\nfold = 3\n"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: config `settings.toml`: fit.fold: unknown field `fold`, expected one of `holdout`, `max_holdout_rows`, `folds`, `cross_fit_below`
    ");
    assert_cmd_snapshot!(folder.oddcell(["fit", "orders.csv", "-o", "m.oddcell", "--config", "nope.toml"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot read the config `nope.toml`: No such file or directory (os error 2)
    hint: the config may contain detector, preset, seed, categorical, and the tables [params], [encode], [fit], [kinds], [rule]
    ");
}

#[test]
fn settings_with_mistakes() {
    let folder = folder();
    let fit =
        |setting: &'static str| folder.oddcell(["fit", "orders.csv", "-o", "m.oddcell", "--set", setting]);
    assert_cmd_snapshot!(fit("sigmamax=1"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: --set sigmamax=1: detector `noise` has no parameter `sigmamax`; known: aggregate, batch_size, beta, difference, form, hidden, keep_rows, learning_rate, levels, loss, n_neighbors, net, noise, one_hot, output, ratios, schedule, sigma_max, train_for, trust, weight_decay
    ");
    assert_cmd_snapshot!(fit("sigma_max=high"), @r#"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: parameter `sigma_max` of detector `noise`: invalid type: string "high", expected a number
    hint: `oddcell inspect MODEL` shows the parameters of a model and their values
    "#);
    assert_cmd_snapshot!(fit("sigma_max=-1"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: parameter `sigma_max` is -1, but must be above 0 and at most 100
    ");
    assert_cmd_snapshot!(fit("train_for=soon"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: parameter `train_for` of detector `noise`: `soon` is no length of training; expected a number with its unit, like `500 epochs` or `4000 steps`
    hint: `oddcell inspect MODEL` shows the parameters of a model and their values
    ");
    assert_cmd_snapshot!(fit("net=cnn"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: parameter `net` of detector `noise`: unknown variant `cnn`, expected `mlp` or `resmlp`
    hint: `oddcell inspect MODEL` shows the parameters of a model and their values
    ");
    assert_cmd_snapshot!(fit("nonsense"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: --set nonsense: expected KEY=VALUE
    hint: e.g. --set sigma_max=1.5 --set 'train_for=200 epochs'
    ");
    assert_cmd_snapshot!(fit("encode.levels=3"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: --set encode.levels=3: encode.levels: unknown field `levels`, expected one of `ignore`, `group_by`, `identifiers`, `keep_identifiers`, `one_hot`, `strict`
    ");
    assert_cmd_snapshot!(fit("encode.one_hot=many"), @r#"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: --set encode.one_hot=many: encode.one_hot: invalid type: string "many", expected a boolean
    "#);
    assert_cmd_snapshot!(fit("fit.folds=many"), @r#"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: --set fit.folds=many: fit.folds: invalid type: string "many", expected a whole number
    "#);
    assert_cmd_snapshot!(fit("fit.holdout=2"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: parameter `holdout` is 2, but must be more than 0 and less than 1
    ");
    assert_eq!(folder.names(), ["orders.csv"]);
}

#[test]
fn unknown_detectors_and_presets() {
    let folder = folder();
    let fit = |flags: [&'static str; 4]| {
        folder.oddcell(["fit", "orders.csv", "-o", "m.oddcell"].into_iter().chain(flags))
    };
    assert_cmd_snapshot!(fit(["--detector", "magic", "--seed", "0"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no detector `magic`; known: noise, knn, dte-np, lof, iforest, columns, copod, ecod, hbos, mcd, ae, deepsvdd, anogan, scad, neutralad, plad, dpad
    ");
    assert_cmd_snapshot!(fit(["--preset", "worst", "--seed", "0"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: detector `noise` has no preset `worst`; known: default, fast, best, paper
    ");
    assert_cmd_snapshot!(fit(["--detector", "knn", "--net", "mlp"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: detector `knn` has no parameter `net`; known: method, n_neighbors
    ");
    assert_cmd_snapshot!(fit(["--seed", "0", "--threads", "0"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value '0' for '--threads <N>': 0 is not in 1..=1024

    For more information, try '--help'.
    ");
}

#[test]
fn the_config_file_has_categories_and_a_rule_which_flags_override() {
    let folder = Folder::new();
    folder.write("orders.csv", orders(60));
    folder.write("c.toml", "detector = \"ecod\"\ncategorical = [\"rating\"]\n\n[rule]\ntop = 3\n");
    let odd = |flags: &[&str]| {
        let args =
            ["detect", "orders.csv", "--config", "c.toml", "--json"].into_iter().chain(flags.iter().copied());
        let summary: Value = serde_json::from_str(&succeed(&mut folder.oddcell(args))).unwrap();
        summary["odd"].as_u64().unwrap()
    };
    assert_eq!([odd(&[]), odd(&["--top", "5"])], [3, 5]);
    for (rule, expected) in [
        ("top = 3\nfdr = 0.1", "exclude each other"),
        ("most = 3", "there is no rule `most`"),
        ("alpha = 2", "alpha"),
        ("top = 1.5", "whole number"),
    ] {
        folder.write("c.toml", format!("[rule]\n{rule}\n"));
        let output = folder.oddcell(["detect", "orders.csv", "--config", "c.toml"]).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && error.contains(expected), "{error}");
    }
}
