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
    Finds the odd rows of a table, and the very cells that make them odd

    Usage: oddcell <COMMAND>

    Commands:
      demo     Built-in data, the whole job in one go
      detect   One table, nothing known: each row is judged by nets that did not train on it
      fit      Learn what is normal from a table of rows believed normal
      score    Judge new rows with a model; streams, so memory does not grow with the table
      explain  One row, cell by cell
      inspect  What is in a model file
      bench    The laboratory: methods on benchmark sets, by the protocols of the literature
      help     Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Examples:
      oddcell demo                              see the whole job on built-in data
      oddcell detect orders.csv                 which rows of this table are odd, and why?
      oddcell detect orders.csv --report a.html the same as a page for the browser
      oddcell fit good.parquet -o normal.oddcell
      oddcell score normal.oddcell new.csv -o judged.csv
      zcat log.csv.gz | oddcell score normal.oddcell - --alpha 0.001 > judged.csv

    Tables are CSV, JSON lines (both also gzip or zstd), Parquet, Arrow, .npy or .npz; `-` is standard
    input.
    ");
}

#[test]
fn help_lists_the_commands_with_examples() {
    let folder = Folder::new();
    assert_cmd_snapshot!(folder.oddcell(["--help"]), @r"
    success: true
    exit_code: 0
    ----- stdout -----
    Finds the odd rows of a table, and the very cells that make them odd

    Usage: oddcell <COMMAND>

    Commands:
      demo     Built-in data, the whole job in one go
      detect   One table, nothing known: each row is judged by nets that did not train on it
      fit      Learn what is normal from a table of rows believed normal
      score    Judge new rows with a model; streams, so memory does not grow with the table
      explain  One row, cell by cell
      inspect  What is in a model file
      bench    The laboratory: methods on benchmark sets, by the protocols of the literature
      help     Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Examples:
      oddcell demo                              see the whole job on built-in data
      oddcell detect orders.csv                 which rows of this table are odd, and why?
      oddcell detect orders.csv --report a.html the same as a page for the browser
      oddcell fit good.parquet -o normal.oddcell
      oddcell score normal.oddcell new.csv -o judged.csv
      zcat log.csv.gz | oddcell score normal.oddcell - --alpha 0.001 > judged.csv

    Tables are CSV, JSON lines (both also gzip or zstd), Parquet, Arrow, .npy or .npz; `-` is standard
    input.

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
    assert_eq!(commands.len(), 11, "{commands:?}");
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
    Built-in data, the whole job in one go

    Usage: oddcell demo [OPTIONS]

    Options:
          --dir <DIR>  Folder to write the demo's files to [default: oddcell-demo]
      -h, --help       Print help

    Running:
          --threads <N>  Threads to work with [default: one per core]; the results do not depend on it
          --json         Print a summary for programs on standard output
      -q, --quiet        Say nothing but errors

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
    One table, nothing known: each row is judged by nets that did not train on it

    Usage: oddcell detect [OPTIONS] <DATA>

    Arguments:
      <DATA>  The table (`-`: standard input)

    Options:
      -h, --help  Print help

    Output:
      -o, --output <OUT>     Write the judged rows here (`-`: standard output)
          --format <FORMAT>  Format of the judged rows [default: by OUT's name, else csv] [possible
                             values: csv, jsonl, parquet]
          --report <PAGE>    Write a page here that shows the odd rows and why they are odd; one HTML
                             file, for any browser

    Verdict (one of):
          --alpha <P>              Odd if the p-value is at most this
          --fdr <SHARE>            Odd so that about this share of the odd rows is expected to be normal
                                   (Benjamini-Hochberg)
          --top <K>             Odd are the K rows with the highest scores
          --contamination <SHARE>  Odd if the score is above this top share of the reference scores, as
                                   in PyOD

    Columns:
          --label <COL>         A column with the truth (0/1, true/false): never a feature; AUC, average
                                precision and F1 are printed
          --ignore <COLS>       Columns that are no features, comma separated
          --categorical <COLS>  Columns to read as categories although they look like numbers, comma
                                separated
          --keep-identifiers    Learn from columns that look like row identifiers, too

    Reading:
          --delimiter <CHAR>       What separates the fields of a CSV, one character or `tab` [default:
                                   guessed]
          --no-header              The CSV's first row holds data, not names
          --input-format <FORMAT>  Format of the input [default: by its first bytes and name]

    Learning:
          --detector <NAME>  The detector [default: noise]
          --preset <NAME>    A set of parameters: `default`, `fast`, `best`, or `paper` for exactly what
                             the paper says
          --fast             The same as `--preset fast`: learns and scores several times as fast, finds
                             somewhat less
          --best             The same as `--preset best`: takes several times as long
          --net <NET>        The net of the noise detector [possible values: mlp, resmlp]
          --set <KEY=VALUE>  Set one parameter, e.g. `sigma_max=1.5`, `encode.max_levels=50`,
                             `fit.folds=10`
          --config <FILE>    Parameters from a TOML file
          --seed <N>         Where all randomness comes from: same seed, same bits [default: 0]

    Running:
          --threads <N>  Threads to work with [default: one per core]; the results do not depend on it
          --json         Print a summary for programs on standard output
      -q, --quiet        Say nothing but errors

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
    Learn what is normal from a table of rows believed normal

    Usage: oddcell fit [OPTIONS] --model <MODEL> <DATA>

    Arguments:
      <DATA>  The table (`-`: standard input)

    Options:
     -o, --output <MODEL>  Write the model here
          --stream         For a table larger than memory: read the file twice and learn block by block
                           (only detector noise)
          --memory <GB>    Memory for the rows of --stream, in GB [default: 0.512]
      -h, --help           Print help

    Output:
          --report <PAGE>  Write a page here that shows the odd rows and why they are odd; one HTML
                           file, for any browser

    Columns:
          --label <COL>         A column with the truth (0/1, true/false): never a feature; AUC, average
                                precision and F1 are printed
          --ignore <COLS>       Columns that are no features, comma separated
          --categorical <COLS>  Columns to read as categories although they look like numbers, comma
                                separated
          --keep-identifiers    Learn from columns that look like row identifiers, too

    Reading:
          --delimiter <CHAR>       What separates the fields of a CSV, one character or `tab` [default:
                                   guessed]
          --no-header              The CSV's first row holds data, not names
          --input-format <FORMAT>  Format of the input [default: by its first bytes and name]

    Learning:
          --detector <NAME>  The detector [default: noise]
          --preset <NAME>    A set of parameters: `default`, `fast`, `best`, or `paper` for exactly what
                             the paper says
          --fast             The same as `--preset fast`: learns and scores several times as fast, finds
                             somewhat less
          --best             The same as `--preset best`: takes several times as long
          --net <NET>        The net of the noise detector [possible values: mlp, resmlp]
          --set <KEY=VALUE>  Set one parameter, e.g. `sigma_max=1.5`, `encode.max_levels=50`,
                             `fit.folds=10`
          --config <FILE>    Parameters from a TOML file
          --seed <N>         Where all randomness comes from: same seed, same bits [default: 0]

    Running:
          --threads <N>  Threads to work with [default: one per core]; the results do not depend on it
          --json         Print a summary for programs on standard output
      -q, --quiet        Say nothing but errors

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
    Judge new rows with a model; streams, so memory does not grow with the table

    Usage: oddcell score [OPTIONS] <MODEL> <DATA>

    Arguments:
      <MODEL>  A model written by `oddcell fit`
      <DATA>   The table (`-`: standard input)

    Options:
      -h, --help  Print help

    Output:
      -o, --output <OUT>     Write the judged rows here (`-`: standard output)
          --format <FORMAT>  Format of the judged rows [default: by OUT's name, else csv] [possible
                             values: csv, jsonl, parquet]
          --report <PAGE>    Write a page here that shows the odd rows and why they are odd; one HTML
                             file, for any browser

    Verdict (one of):
          --alpha <P>              Odd if the p-value is at most this
          --fdr <SHARE>            Odd so that about this share of the odd rows is expected to be normal
                                   (Benjamini-Hochberg)
          --top <K>             Odd are the K rows with the highest scores
          --contamination <SHARE>  Odd if the score is above this top share of the reference scores, as
                                   in PyOD
          --label <COL>            A column with the truth (0/1, true/false): AUC, average precision and
                                   F1 are printed

    Reading:
          --delimiter <CHAR>       What separates the fields of a CSV, one character or `tab` [default:
                                   guessed]
          --no-header              The CSV's first row holds data, not names
          --input-format <FORMAT>  Format of the input [default: by its first bytes and name]

    Running:
          --threads <N>  Threads to work with [default: one per core]; the results do not depend on it
          --json         Print a summary for programs on standard output
      -q, --quiet        Say nothing but errors
          --timings      Say how long each part took: on the clock, and the time of all threads by part

    Examples:
      oddcell score normal.oddcell new.csv -o judged.csv
      oddcell score normal.oddcell new.parquet -o judged.parquet --fdr 0.1
      oddcell score normal.oddcell new.csv -o judged.csv --report page.html
      cat new.jsonl | oddcell score normal.oddcell - --format jsonl | head

    --fdr and --top keep the judged rows in the temporary folder until all are seen; --label keeps 9
    bytes a row.

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
    One row, cell by cell

    Usage: oddcell explain [OPTIONS] --row <N> <MODEL> <DATA>

    Arguments:
      <MODEL>  A model written by `oddcell fit`
      <DATA>   The table (`-`: standard input)

    Options:
          --row <N>  The row, counted from 1
      -h, --help     Print help

    Reading:
          --delimiter <CHAR>       What separates the fields of a CSV, one character or `tab` [default:
                                   guessed]
          --no-header              The CSV's first row holds data, not names
          --input-format <FORMAT>  Format of the input [default: by its first bytes and name]

    Running:
          --threads <N>  Threads to work with [default: one per core]; the results do not depend on it
          --json         Print a summary for programs on standard output
      -q, --quiet        Say nothing but errors

    Examples:
      oddcell explain normal.oddcell new.csv --row 17
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
    What is in a model file

    Usage: oddcell inspect [OPTIONS] <MODEL>

    Arguments:
      <MODEL>  A model written by `oddcell fit`

    Options:
          --json  Print for programs
      -h, --help  Print help

    Examples:
      oddcell inspect normal.oddcell
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
      --model <MODEL>

    Usage: oddcell fit --model <MODEL> <DATA>

    For more information, try '--help'.
    ");
}
