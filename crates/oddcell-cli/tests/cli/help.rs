//! What the command says about itself.

use insta_cmd::assert_cmd_snapshot;

use crate::folder::{Folder, succeed};

#[test]
fn without_arguments_the_commands_are_listed() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.oddcell([]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    Anomaly detection for tables: finds the odd rows and the cells that make them odd

    Usage: oddcell <COMMAND>

    Commands:
      demo     Run the whole workflow on built-in data
      detect   Find the odd rows of one table; each row is judged by detectors that did not train on it
      cells    Find the odd cells of a table, and what should stand there; judged by the table itself,
               or by a model
      repair   Replace the odd cells of a table by what is expected there, with a log of every change
      fit      Learn what is normal from rows believed to be normal
      score    Judge new rows with a model; streams the table, so memory use does not grow with it
      explain  Show rows cell by cell: judged by their own table, or by a model
      inspect  Show the columns of a table as oddcell sees them, or what a model file contains
      bench    Run methods on benchmark sets with published protocols
      help     Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Examples:
      oddcell demo                              try everything on built-in data
      oddcell detect orders.csv                 which rows of this table are odd, and why?
      oddcell detect orders.csv --report a.html the same, as an HTML page
      oddcell cells orders.csv                  which cells are odd, and what should stand there?
      oddcell repair orders.csv -o fixed.csv    the table with these cells replaced, and a log of every
      change
      oddcell fit good.parquet -o normal.oddcell
      oddcell score normal.oddcell new.csv -o judged.csv
      zcat log.csv.gz | oddcell score normal.oddcell - --alpha 0.001 > judged.csv

    Tables can be CSV or JSON lines (optionally gzip or zstd), Parquet, Arrow, .npy or .npz; `-` is
    standard input.
    ");
}

#[test]
fn help_lists_the_commands_with_examples() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.oddcell(["--help"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    Anomaly detection for tables: finds the odd rows and the cells that make them odd

    Usage: oddcell <COMMAND>

    Commands:
      demo     Run the whole workflow on built-in data
      detect   Find the odd rows of one table; each row is judged by detectors that did not train on it
      cells    Find the odd cells of a table, and what should stand there; judged by the table itself,
               or by a model
      repair   Replace the odd cells of a table by what is expected there, with a log of every change
      fit      Learn what is normal from rows believed to be normal
      score    Judge new rows with a model; streams the table, so memory use does not grow with it
      explain  Show rows cell by cell: judged by their own table, or by a model
      inspect  Show the columns of a table as oddcell sees them, or what a model file contains
      bench    Run methods on benchmark sets with published protocols
      help     Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Examples:
      oddcell demo                              try everything on built-in data
      oddcell detect orders.csv                 which rows of this table are odd, and why?
      oddcell detect orders.csv --report a.html the same, as an HTML page
      oddcell cells orders.csv                  which cells are odd, and what should stand there?
      oddcell repair orders.csv -o fixed.csv    the table with these cells replaced, and a log of every
      change
      oddcell fit good.parquet -o normal.oddcell
      oddcell score normal.oddcell new.csv -o judged.csv
      zcat log.csv.gz | oddcell score normal.oddcell - --alpha 0.001 > judged.csv

    Tables can be CSV or JSON lines (optionally gzip or zstd), Parquet, Arrow, .npy or .npz; `-` is
    standard input.

    ----- stderr -----
    ");
}

#[test]
fn the_help_of_every_command_of_the_laboratory_has_examples() {
    let folder = Folder::new();
    let list = succeed(&mut folder.oddcell(["bench", "--help"]));
    let lines =
        list.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let commands: Vec<&str> = names.into_iter().filter(|name| !name.is_empty() && *name != "help").collect();
    assert_eq!(commands.len(), 14, "{commands:?}");
    for command in commands {
        let help = succeed(&mut folder.oddcell(["bench", command, "--help"]));
        assert!(help.contains(&format!("Examples:\n  oddcell bench {command}")), "{command}: {help}");
    }
}

#[test]
fn version() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.oddcell(["--version"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    oddcell [version]

    ----- stderr -----
    ");
}

#[test]
fn help_of_demo() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.oddcell(["demo", "--help"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    Run the whole workflow on built-in data

    Usage: oddcell demo [OPTIONS]

    Options:
          --dir <DIR>  Folder for the demo's files [default: oddcell-demo]
      -h, --help       Print help

    Running:
          --threads <N>  Number of threads [default: one per core]; does not change the results
          --json         Print a JSON summary to standard output
      -q, --quiet        Print errors only

    Examples:
      oddcell demo
      oddcell demo --dir /tmp/look

    ----- stderr -----
    ");
}

#[test]
fn help_of_detect() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.oddcell(["detect", "--help"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    Find the odd rows of one table; each row is judged by detectors that did not train on it

    Usage: oddcell detect [OPTIONS] <DATA>

    Arguments:
      <DATA>  The table (`-`: standard input)

    Options:
      -h, --help  Print help

    Output:
      -o, --output <OUT>     Write the judged rows here (`-`: standard output)
          --format <FORMAT>  Format of the judged rows [default: from OUT's name, else csv] [possible
                             values: csv, jsonl, parquet]
          --csv-safe         Disarm cells of a CSV that spreadsheets would run as formulas
          --only <ROWS>      Write only the odd or only the normal rows [possible values: odd, normal]
          --report <PAGE>    Write a page with the odd rows and the reasons here; one HTML file, for any
                             browser

    Verdict (one of):
          --alpha <P>              Flag rows whose p-value is at most this
          --fdr <SHARE>            Flag rows so that about this share of them is expected to be normal
                                   (Benjamini-Hochberg)
          --top <K>                Flag the K rows with the highest scores
          --contamination <SHARE>  Flag rows that score above all but this share of the reference
                                   scores, as in PyOD

    Columns:
          --label <COL>         Column with the true labels (0/1, true/false); never a feature; prints
                                AUC, average precision and F1
          --ignore <COLS>       Columns to leave out, comma separated
          --categorical <COLS>  Columns to read as categories even if they look like numbers, comma
                                separated
          --kind <COL=KIND>     Read a column as number, boolean, date, text, category; or leave it out
                                as `id` or `ignore`, e.g. `zip=category`, `order=id`; repeatable
          --group-by <COLS>     Columns whose values make up groups, comma separated: numbers are also
                                compared with those of their group
          --keep-identifiers    Also learn from columns that look like row identifiers

    Reading:
          --delimiter <CHAR>       Field separator of a CSV, one character or `tab` [default: detected]
          --no-header              The first row of the CSV holds data, not names
          --input-format <FORMAT>  Format of the input [default: detected from its first bytes and name]
          --strict                 Stop at the first cell that cannot be read as its column's kind, e.g.
                                   `18OO` among numbers

    Learning:
          --detector <NAME>  Detector [default: noise for tables of numbers, columns for all others]
          --preset <NAME>    Parameter set; noise has default, fast, best, paper
          --fast             Same as `--preset fast`: learns and scores several times as fast, finds
                             somewhat less
          --best             Same as `--preset best`: takes several times as long
          --keep-rows <N>    Training rows that the model keeps for comparison (same as `--set
                             keep_rows=N`); 0 keeps none
          --net <NET>        Net of the detector (same as `--set net=NET`) [possible values: mlp,
                             resmlp]
          --set <KEY=VALUE>  Set one parameter, e.g. `sigma_max=1.5`, `encode.one_hot=true`,
                             `fit.folds=10`
          --config <FILE>    Read parameters from a TOML file
          --seed <N>         Random seed; the same seed gives the same bits [default: 0]

    Running:
          --threads <N>  Number of threads [default: one per core]; does not change the results
          --json         Print a JSON summary to standard output
      -q, --quiet        Print errors only

    Examples:
      oddcell detect orders.csv
      oddcell detect orders.csv -o judged.csv --top 20
      oddcell detect orders.csv --report page.html
      oddcell detect orders.csv --ignore note,clerk --categorical postcode --json
      oddcell detect thyroid.npz --label y --preset paper

    p-values are estimated from the table's own scores, allowing for anomalies among them.

    ----- stderr -----
    ");
}

#[test]
fn help_of_fit() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.oddcell(["fit", "--help"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    Learn what is normal from rows believed to be normal

    Usage: oddcell fit [OPTIONS] --output <MODEL> <DATA>

    Arguments:
      <DATA>  The table (`-`: standard input)

    Options:
      -o, --output <MODEL>  Write the model here
          --stream          For tables larger than memory: read the file twice and learn block by block
                            (not every detector can)
          --memory <GB>     Memory for rows with --stream, in GB [default: 0.512]
      -h, --help            Print help

    Output:
          --report <PAGE>  Write a page with the odd rows and the reasons here; one HTML file, for any
                           browser

    Columns:
          --label <COL>         Column with the true labels (0/1, true/false); never a feature; prints
                                AUC, average precision and F1
          --ignore <COLS>       Columns to leave out, comma separated
          --categorical <COLS>  Columns to read as categories even if they look like numbers, comma
                                separated
          --kind <COL=KIND>     Read a column as number, boolean, date, text, category; or leave it out
                                as `id` or `ignore`, e.g. `zip=category`, `order=id`; repeatable
          --group-by <COLS>     Columns whose values make up groups, comma separated: numbers are also
                                compared with those of their group
          --keep-identifiers    Also learn from columns that look like row identifiers

    Reading:
          --delimiter <CHAR>       Field separator of a CSV, one character or `tab` [default: detected]
          --no-header              The first row of the CSV holds data, not names
          --input-format <FORMAT>  Format of the input [default: detected from its first bytes and name]
          --strict                 Stop at the first cell that cannot be read as its column's kind, e.g.
                                   `18OO` among numbers

    Learning:
          --detector <NAME>  Detector [default: noise for tables of numbers, columns for all others]
          --preset <NAME>    Parameter set; noise has default, fast, best, paper
          --fast             Same as `--preset fast`: learns and scores several times as fast, finds
                             somewhat less
          --best             Same as `--preset best`: takes several times as long
          --keep-rows <N>    Training rows that the model keeps for comparison (same as `--set
                             keep_rows=N`); 0 keeps none
          --net <NET>        Net of the detector (same as `--set net=NET`) [possible values: mlp,
                             resmlp]
          --set <KEY=VALUE>  Set one parameter, e.g. `sigma_max=1.5`, `encode.one_hot=true`,
                             `fit.folds=10`
          --config <FILE>    Read parameters from a TOML file
          --seed <N>         Random seed; the same seed gives the same bits [default: 0]

    Running:
          --threads <N>  Number of threads [default: one per core]; does not change the results
          --json         Print a JSON summary to standard output
      -q, --quiet        Print errors only

    Examples:
      oddcell fit good.csv -o normal.oddcell
      oddcell fit good.csv -o normal.oddcell --preset paper --net resmlp
      oddcell fit good.csv -o normal.oddcell --set sigma_max=1.5 --set 'train_for=200 epochs'
      oddcell fit good.csv -o normal.oddcell --config settings.toml
      oddcell fit good.csv -o normal.oddcell --report page.html
      oddcell fit huge.parquet -o normal.oddcell --stream --memory 2

    ----- stderr -----
    ");
}

#[test]
fn help_of_score() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.oddcell(["score", "--help"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    Judge new rows with a model; streams the table, so memory use does not grow with it

    Usage: oddcell score [OPTIONS] <MODEL> <DATA>

    Arguments:
      <MODEL>  A model written by `oddcell fit`
      <DATA>   The table (`-`: standard input)

    Options:
      -h, --help  Print help

    Output:
      -o, --output <OUT>     Write the judged rows here (`-`: standard output)
          --format <FORMAT>  Format of the judged rows [default: from OUT's name, else csv] [possible
                             values: csv, jsonl, parquet]
          --csv-safe         Disarm cells of a CSV that spreadsheets would run as formulas
          --only <ROWS>      Write only the odd or only the normal rows [possible values: odd, normal]
          --report <PAGE>    Write a page with the odd rows and the reasons here; one HTML file, for any
                             browser

    Verdict (one of):
          --alpha <P>              Flag rows whose p-value is at most this
          --fdr <SHARE>            Flag rows so that about this share of them is expected to be normal
                                   (Benjamini-Hochberg)
          --top <K>                Flag the K rows with the highest scores
          --contamination <SHARE>  Flag rows that score above all but this share of the reference
                                   scores, as in PyOD
          --label <COL>            Column with the true labels (0/1, true/false); prints AUC, average
                                   precision and F1

    Reading:
          --delimiter <CHAR>       Field separator of a CSV, one character or `tab` [default: detected]
          --no-header              The first row of the CSV holds data, not names
          --input-format <FORMAT>  Format of the input [default: detected from its first bytes and name]
          --strict                 Stop at the first cell that cannot be read as its column's kind, e.g.
                                   `18OO` among numbers

    Running:
          --threads <N>  Number of threads [default: one per core]; does not change the results
          --json         Print a JSON summary to standard output
      -q, --quiet        Print errors only
          --timings      Print how long scoring took: wall-clock time, and thread time by stage

    Examples:
      oddcell score normal.oddcell new.csv -o judged.csv
      oddcell score normal.oddcell new.parquet -o judged.parquet --fdr 0.1
      oddcell score normal.oddcell new.csv -o judged.csv --report page.html
      cat new.jsonl | oddcell score normal.oddcell - --format jsonl | head

    --fdr and --top hold the judged rows in the temporary folder until all rows are read; --label holds
    9 bytes per row in memory.

    ----- stderr -----
    ");
}

#[test]
fn help_of_explain() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.oddcell(["explain", "--help"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    Show rows cell by cell: judged by their own table, or by a model

    Usage: oddcell explain [OPTIONS] --row N [MODEL] DATA

    Arguments:
      <FILE>...  The table (`-`: standard input); before it, perhaps, a model written by `oddcell fit`

    Options:
          --row <N>  Row numbers, counted from 1, comma separated
      -h, --help     Print help

    Columns:
          --label <COL>         Column with the true labels (0/1, true/false); never a feature; prints
                                AUC, average precision and F1
          --ignore <COLS>       Columns to leave out, comma separated
          --categorical <COLS>  Columns to read as categories even if they look like numbers, comma
                                separated
          --kind <COL=KIND>     Read a column as number, boolean, date, text, category; or leave it out
                                as `id` or `ignore`, e.g. `zip=category`, `order=id`; repeatable
          --group-by <COLS>     Columns whose values make up groups, comma separated: numbers are also
                                compared with those of their group
          --keep-identifiers    Also learn from columns that look like row identifiers

    Reading:
          --delimiter <CHAR>       Field separator of a CSV, one character or `tab` [default: detected]
          --no-header              The first row of the CSV holds data, not names
          --input-format <FORMAT>  Format of the input [default: detected from its first bytes and name]
          --strict                 Stop at the first cell that cannot be read as its column's kind, e.g.
                                   `18OO` among numbers

    Learning:
          --detector <NAME>  Detector [default: noise for tables of numbers, columns for all others]
          --preset <NAME>    Parameter set; noise has default, fast, best, paper
          --fast             Same as `--preset fast`: learns and scores several times as fast, finds
                             somewhat less
          --best             Same as `--preset best`: takes several times as long
          --keep-rows <N>    Training rows that the model keeps for comparison (same as `--set
                             keep_rows=N`); 0 keeps none
          --net <NET>        Net of the detector (same as `--set net=NET`) [possible values: mlp,
                             resmlp]
          --set <KEY=VALUE>  Set one parameter, e.g. `sigma_max=1.5`, `encode.one_hot=true`,
                             `fit.folds=10`
          --config <FILE>    Read parameters from a TOML file
          --seed <N>         Random seed; the same seed gives the same bits [default: 0]

    Running:
          --threads <N>  Number of threads [default: one per core]; does not change the results
          --json         Print a JSON summary to standard output
      -q, --quiet        Print errors only

    Examples:
      oddcell explain orders.csv --row 17
      oddcell explain normal.oddcell new.csv --row 3,17
      oddcell explain normal.oddcell new.csv --row 17 --json

    ----- stderr -----
    ");
}

#[test]
fn help_of_inspect() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.oddcell(["inspect", "--help"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    Show the columns of a table as oddcell sees them, or what a model file contains

    Usage: oddcell inspect [OPTIONS] <FILE>

    Arguments:
      <FILE>  A table (`-`: standard input), or a model written by `oddcell fit`

    Options:
          --json        Print JSON
          --duplicates  List the rows of a table that are equal to an earlier one, or differ from it in
                        one column alone
      -h, --help        Print help

    Columns:
          --label <COL>         Column with the true labels (0/1, true/false); never a feature; prints
                                AUC, average precision and F1
          --ignore <COLS>       Columns to leave out, comma separated
          --categorical <COLS>  Columns to read as categories even if they look like numbers, comma
                                separated
          --kind <COL=KIND>     Read a column as number, boolean, date, text, category; or leave it out
                                as `id` or `ignore`, e.g. `zip=category`, `order=id`; repeatable
          --group-by <COLS>     Columns whose values make up groups, comma separated: numbers are also
                                compared with those of their group
          --keep-identifiers    Also learn from columns that look like row identifiers
          --config <FILE>       Read the kinds of columns from a TOML file

    Reading:
          --delimiter <CHAR>       Field separator of a CSV, one character or `tab` [default: detected]
          --no-header              The first row of the CSV holds data, not names
          --input-format <FORMAT>  Format of the input [default: detected from its first bytes and name]
          --strict                 Stop at the first cell that cannot be read as its column's kind, e.g.
                                   `18OO` among numbers

    Examples:
      oddcell inspect orders.csv                 kinds, missing and different values of every column
      oddcell inspect orders.csv --kind zip=category --kind order=id
      oddcell inspect normal.oddcell             detector, parameters, columns
      oddcell inspect normal.oddcell --json

    ----- stderr -----
    ");
}

#[test]
fn an_unknown_command_is_wrong_use() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.oddcell(["scroe"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: unrecognized subcommand 'scroe'

      tip: a similar subcommand exists: 'score'

    Usage: oddcell <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn an_unknown_flag_is_wrong_use() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.oddcell(["detect", "x.csv", "--treads", "2"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: unexpected argument '--treads' found

      tip: a similar argument exists: '--threads'

    Usage: oddcell detect --threads <N> <DATA>

    For more information, try '--help'.
    ");
}

#[test]
fn a_missing_argument_is_wrong_use() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.oddcell(["fit", "x.csv"]), @r"
    success: false
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the following required arguments were not provided:
      --output <MODEL>

    Usage: oddcell fit --output <MODEL> <DATA>

    For more information, try '--help'.
    ");
}
