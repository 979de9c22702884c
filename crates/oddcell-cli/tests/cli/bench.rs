//! The laboratory.

use std::fmt::Write as _;

use insta_cmd::assert_cmd_snapshot;

use crate::folder::{Folder, succeed};

/// A folder with a labelled set of our own: forty rows in a ball, four far off.
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
    results, 18 tables and pictures, and report.html written to lab
    ");
    let results = folder.read("lab/results.csv");
    assert_eq!(results.lines().count(), 5);
    assert!(results.starts_with("protocol,set,class,method,variant,seed,status,auc,ap,f1,"));
    let table = folder.read("lab/tables/uad_auc.md");
    assert!(table.contains("| made | 100.00±0.00 | 100.00±0.00 |"), "{table}");

    // The second time there is nothing to do, and nothing changes.
    succeed(&mut folder.oddcell(RUN.into_iter().chain(flags).chain(["--quiet"])));
    assert_eq!(folder.read("lab/results.csv"), results);
    let paths = succeed(&mut folder.oddcell(["bench", "report", "--out", "lab"]));
    assert!(paths.lines().any(|path| path == "lab/tables/uad_auc.tex"), "{paths}");
    assert_eq!(paths.lines().last(), Some("lab/report.html"));
    assert!(folder.read("lab/report.html").contains("There is nothing to draw yet"));
}

#[test]
fn variants_of_a_parameter_stand_side_by_side() {
    let folder = folder();
    let flags = ["--methods", "knn,lof", "--seeds", "1", "--vary", "n_neighbors=1|5", "--quiet"];
    succeed(&mut folder.oddcell(RUN.into_iter().chain(flags)));
    let table = folder.read("lab/tables/uad_by_n_neighbors.md");
    let first = |line: usize| table.lines().nth(line).unwrap().split('|').nth(1).unwrap().trim();
    assert_eq!([2, 4, 5].map(first), ["n_neighbors", "1", "5"]);
    assert!(table.contains("| knn auc | rank | knn f1 | rank | lof auc | rank | lof f1 | rank |"), "{table}");
}

#[test]
fn cells_are_judged_by_those_who_know_cells() {
    let folder = folder();
    let run =
        ["bench", "cells", "--data", ".", "--sets", "made", "--out", "lab", "--seeds", "1", "--methods"];
    let standings = succeed(&mut folder.oddcell(run.into_iter().chain(["copod"])));
    assert!(standings.starts_with("cells-noise\nmethod ") && standings.contains("\ncells-swap\nmethod "));
    assert_eq!(standings.lines().filter(|line| line.starts_with("abs-z ")).count(), 2);
    assert!(folder.read("lab/tables/cells-swap_top1.md").contains("| set | copod | abs-z |"));
    assert_cmd_snapshot!(folder.oddcell(run.into_iter().chain(["knn"])), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: method `knn` knows no cells; these do: noise, noise-fast, noise-best, noise-paper-mlp, noise-paper-resmlp, copod, ecod
    ");
}

#[test]
fn an_ablation_has_its_variants_and_its_picture() {
    let folder = folder();
    let ablate = |study| {
        let mut command = folder.oddcell(["bench", "ablate", study, "--data", ".", "--sets", "made"]);
        command.args(["--out", "lab", "--seeds", "1", "--methods", "noise", "--vary", "budget=2 steps"]);
        command
    };
    succeed(&mut ablate("aggregate"));
    let results = folder.read("lab/results.csv");
    for variant in ["aggregate=max", "aggregate=mean", "aggregate=min"] {
        assert!(results.contains(&format!(",noise,{variant}; budget=2 steps,0,ok,")), "{results}");
    }
    assert!(folder.read("lab/figures/occ_by_aggregate_budget.svg").starts_with("<svg"));
    assert_cmd_snapshot!(ablate("levels"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no study `levels`; there are: level, ratio, kind, aggregate
    ");
}

#[test]
fn a_map_is_drawn_for_every_set() {
    let folder = folder();
    let map = |method| {
        let mut command = folder.oddcell(["bench", "map", "--data", ".", "--sets", "made", "--out", "lab"]);
        command.args(["--methods", method, "--vary", "budget=2 steps"]);
        command
    };
    let paths = succeed(&mut map("noise"));
    assert_eq!(paths.lines().next(), Some("lab/figures/map_made_noise_budget=2_steps.svg"));
    assert_cmd_snapshot!(map("ae"), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: set `made`: method `ae` has no hidden layer to draw a map of; noise, noise-paper-mlp and noise-paper-resmlp have
    ");
}

#[test]
fn times_are_shown_beside_those_of_the_paper() {
    let folder = folder();
    let run =
        ["bench", "time", "--data", ".", "--set", "made", "--rows", "300", "--threads", "1", "--out", "lab"];
    let table = succeed(&mut folder.oddcell(run));
    assert!(table.contains("| method | work | rows | paper, V100 (s) | here, 1 thread (s) |"), "{table}");
    assert!(table.contains("| noise-paper-mlp | noise of one epoch | 300 | 5.32 | "), "{table}");
    assert_eq!(folder.read("lab/tables/time_1_threads.md"), table);
}

#[test]
fn a_run_that_takes_too_long_is_told_and_kept() {
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
    made knn seed 0: not done after 0 s
    results, 0 tables and pictures, and report.html written to lab
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
        succeed(&mut command)
    };
    run("late", "made,other", "knn,lof", "0");
    assert!(folder.read("late/results.csv").contains(",timeout,"));
    for (sets, method) in [("made", "knn"), ("other", "lof")] {
        let standings = run("lab", sets, method, "60");
        let differ = standings.ends_with("(means over different sets, which do not compare)\n");
        assert_eq!(differ, method == "lof", "{standings}");
    }
}

#[test]
fn wrong_names_are_refused_with_the_right_ones() {
    let folder = folder();
    let run = |flags: &[&'static str]| folder.oddcell(RUN.into_iter().chain(flags.iter().copied()));
    assert_cmd_snapshot!(run(&["--methods", "knm"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no method `knm`; there are: noise, noise-fast, noise-best, noise-paper-mlp, noise-paper-resmlp, knn, lof, iforest, copod, ecod, ae, deepsvdd, anogan, scad, neutralad, plad, dpad
    ");
    assert_cmd_snapshot!(run(&["--vary", "sigma=1|2"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: --vary: `sigma=1|2`: no method that was chosen has this parameter
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
    error: there is no set `wien`; there are: ALOI, annthyroid, backdoor, breastw, campaign, cardio, Cardiotocography, celeba, census, cover, donors, fault, fraud, glass, Hepatitis, http, InternetAds, Ionosphere, landsat, letter, Lymphography, magic.gamma, mammography, mnist, musk, optdigits, PageBlocks, pendigits, Pima, satellite, satimage-2, shuttle, skin, smtp, SpamBase, speech, Stamps, thyroid, vertebral, vowels, Waveform, WBC, WDBC, Wilt, wine, WPBC, yeast, census_testpart, census_nominal
    hint: `oddcell bench sets` lists the sets
    ");
    assert_cmd_snapshot!(folder.oddcell(absent.into_iter().chain(["wine"])), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: wine: there is no 45_wine.npz in . or ./adbench
    hint: `oddcell bench sets` tells where to get it
    ");
    assert_cmd_snapshot!(folder.oddcell(absent.into_iter().chain(["all"])), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no set in .
    hint: `oddcell bench sets` tells where to get them
    ");
}

#[test]
fn the_sets_are_listed_with_where_to_get_them() {
    let folder = Folder::new();
    let text = succeed(&mut folder.oddcell(["bench", "sets"]));
    assert!(text.contains("adbench/20_letter.npz  letter, 1600 x 32\n"), "{text}");
    assert!(text.contains("https://github.com/Minqi824/ADBench/"));
    let text = succeed(&mut folder.oddcell(["bench", "sets", "--data", "."]));
    assert!(text.contains("occ/wine.npz  wine, 178 x 13  [missing]\n"), "{text}");
}
