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
                  [encode]\nmax_levels = 2\n[fit]\nfolds = 3\n";
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
    unknown field `sede`, expected one of `detector`, `preset`, `seed`, `params`, `encode`, `fit`
    hint: the config may contain detector, preset, seed, and the tables [params], [encode], [fit]
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
    hint: the config may contain detector, preset, seed, and the tables [params], [encode], [fit]
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
    hint: the config may contain detector, preset, seed, and the tables [params], [encode], [fit]
    ");
    assert_cmd_snapshot!(fit("[params]\nsigmamax = 1.5\n"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: config `settings.toml`: detector `noise` has no parameter `sigmamax`; known: aggregate, batch_size, beta, difference, form, hidden, keep_rows, learning_rate, levels, loss, n_neighbors, net, noise, output, ratios, schedule, sigma_max, train_for, trust, weight_decay
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
    hint: the config may contain detector, preset, seed, and the tables [params], [encode], [fit]
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
    error: --set sigmamax=1: detector `noise` has no parameter `sigmamax`; known: aggregate, batch_size, beta, difference, form, hidden, keep_rows, learning_rate, levels, loss, n_neighbors, net, noise, output, ratios, schedule, sigma_max, train_for, trust, weight_decay
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
    error: --set encode.levels=3: encode.levels: unknown field `levels`, expected one of `ignore`, `keep_identifiers`, `max_levels`, `min_level_rows`
    ");
    assert_cmd_snapshot!(fit("encode.max_levels=many"), @r#"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: --set encode.max_levels=many: encode.max_levels: invalid type: string "many", expected a whole number
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
    error: there is no detector `magic`; known: noise, knn, lof, iforest, copod, ecod, ae, deepsvdd, anogan, scad, neutralad, plad, dpad
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
