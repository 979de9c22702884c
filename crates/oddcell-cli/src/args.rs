//! The command line, with one definition per flag.

use std::{
    fmt::{self, Display},
    path::PathBuf,
    str::FromStr,
};

use clap::{
    Args, Parser, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use clap_complete::Shell;
use oddcell::{
    detect::{Entry, Tables},
    judge::Only,
    model::Streaming,
    table::{ColumnKind, Format},
};

/// Find anomalies in tables: the odd rows, and the cells that make them odd.
#[derive(Debug, Parser)]
#[command(
    name = "oddcell",
    version,
    about,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = "\
Examples:
  oddcell demo                              try everything on built-in data
  oddcell detect orders.csv                 which rows of this table are odd, and why?
  oddcell detect orders.csv --report a.html the same, as an HTML page
  oddcell cells orders.csv                  which cells are odd, and what should stand there?
  oddcell repair orders.csv -o fixed.csv    the table with these cells replaced, and a log of every change
  oddcell fit good.parquet -o normal.oddcell
  oddcell score normal.oddcell new.csv -o judged.csv
  zcat log.csv.gz | oddcell score normal.oddcell - --alpha 0.001 > judged.csv

Tables can be CSV or JSON lines (optionally gzip or zstd), Parquet, Arrow, .npy or .npz; `-` is standard input.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the whole workflow on built-in data
    #[command(after_help = "\
Examples:
  oddcell demo
  oddcell demo --dir /tmp/look")]
    Demo(DemoArgs),
    /// Find the odd rows of one table; each row is judged by detectors that did not train on it
    #[command(after_help = "\
Examples:
  oddcell detect orders.csv
  oddcell detect orders.csv -o judged.csv --top 20
  oddcell detect orders.csv --report page.html
  oddcell detect orders.csv --ignore note,clerk --categorical postcode --json
  oddcell detect thyroid.npz --label y --preset paper

p-values are estimated from the table's own scores, allowing for anomalies among them.")]
    Detect(DetectArgs),
    /// Find the odd cells of a table, and what should stand there; judged by the table itself, or by a model
    #[command(
        override_usage = "oddcell cells [OPTIONS] [MODEL] DATA",
        after_help = "\
Examples:
  oddcell cells orders.csv                      which cells of this table are odd?
  oddcell cells orders.csv -o cells.csv         the same as a table: row, column, value, p, expected, low, high, reason
  oddcell cells orders.csv --top 20 --ignore note
  oddcell cells normal.oddcell new.csv -o cells.parquet --fdr 0.05
  zcat log.csv.gz | oddcell cells normal.oddcell - --alpha 1e-6 > cells.csv

With a model, the table is a stream: memory does not grow with its rows. --fdr and --top hold rows in the temporary folder until
all are read."
    )]
    Cells(CellsArgs),
    /// Replace the odd cells of a table by what is expected there, with a log of every change
    #[command(
        override_usage = "oddcell repair [OPTIONS] -o OUT [MODEL] DATA\n       oddcell repair --undo LOG -o OUT DATA",
        after_help = "\
Examples:
  oddcell repair orders.csv -o fixed.csv        the changes are in fixed.csv.changes.csv
  oddcell repair orders.csv -o fixed.csv --sure 0.9 --log changes.csv
  oddcell repair orders.csv -o blanked.csv --blank
  oddcell repair normal.oddcell new.parquet -o fixed.parquet
  oddcell repair --undo fixed.csv.changes.csv fixed.csv -o orders-again.csv

All other cells are written as they were read. The log is on disk before the table is. The table is read twice, so it cannot be
standard input, and it is written in the format it is read in: CSV, JSON lines or Parquet."
    )]
    Repair(RepairArgs),
    /// Learn what is normal from rows believed to be normal
    #[command(after_help = "\
Examples:
  oddcell fit good.csv -o normal.oddcell
  oddcell fit good.csv -o normal.oddcell --preset paper --net resmlp
  oddcell fit good.csv -o normal.oddcell --set sigma_max=1.5 --set 'train_for=200 epochs'
  oddcell fit good.csv -o normal.oddcell --config settings.toml
  oddcell fit good.csv -o normal.oddcell --report page.html
  oddcell fit huge.parquet -o normal.oddcell --stream --memory 2")]
    Fit(FitArgs),
    /// Judge new rows with a model; streams the table, so memory use does not grow with it
    #[command(after_help = "\
Examples:
  oddcell score normal.oddcell new.csv -o judged.csv
  oddcell score normal.oddcell new.parquet -o judged.parquet --fdr 0.1
  oddcell score normal.oddcell new.csv -o judged.csv --report page.html
  cat new.jsonl | oddcell score normal.oddcell - --format jsonl | head

--fdr and --top hold the judged rows in the temporary folder until all rows are read; --label holds 9 bytes per row in memory.")]
    Score(ScoreArgs),
    /// Show rows cell by cell: judged by their own table, or by a model
    #[command(
        override_usage = "oddcell explain [OPTIONS] --row N [MODEL] DATA",
        after_help = "\
Examples:
  oddcell explain orders.csv --row 17
  oddcell explain normal.oddcell new.csv --row 3,17
  oddcell explain normal.oddcell new.csv --row 17 --json"
    )]
    Explain(ExplainArgs),
    /// Show the columns of a table as oddcell sees them, or what a model file contains
    #[command(after_help = "\
Examples:
  oddcell inspect orders.csv                 kinds, missing and different values of every column
  oddcell inspect orders.csv --kind zip=category --kind order=id
  oddcell inspect normal.oddcell             detector, parameters, columns
  oddcell inspect normal.oddcell --json")]
    Inspect(InspectArgs),
    /// Run methods on benchmark sets with published protocols
    #[command(
        subcommand,
        after_help = "\
Examples:
  oddcell bench sets                        list the sets and where to get them
  oddcell bench uad --data DIR --sets cardio,wine --methods noise,knn --seeds 3 --out results
  oddcell bench dte --data DIR --sets letter --methods knn --out results

Each result is added to OUT/results.csv at once. A stopped run continues where it stopped."
    )]
    Bench(BenchCommand),
    /// Print a script that completes commands and flags in a shell
    #[command(
        hide = true,
        after_help = "\
Examples:
  oddcell completions bash > ~/.local/share/bash-completion/completions/oddcell
  oddcell completions zsh > ~/.zfunc/_oddcell
  oddcell completions fish > ~/.config/fish/completions/oddcell.fish
  oddcell completions powershell >> $PROFILE"
    )]
    Completions(CompletionsArgs),
    /// Print the manual page of a command, or write all of them
    #[command(
        hide = true,
        after_help = "\
Examples:
  oddcell man | man -l -
  oddcell man bench uad | man -l -
  oddcell man --dir ~/.local/share/man/man1"
    )]
    Man(ManArgs),
    /// Print the JSON schema of the config file
    #[command(
        hide = true,
        after_help = "\
Examples:
  oddcell config-schema > oddcell.schema.json

An editor that knows TOML checks and completes a config whose first line is: #:schema ./oddcell.schema.json"
    )]
    ConfigSchema,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// List the sets and where to get them; with --data, show which are there
    #[command(after_help = "\
Examples:
  oddcell bench sets                        what to download, and where to put it
  oddcell bench sets --sets wine,kdd        the same for two sets
  oddcell bench sets --data DIR             what DIR has, and where to get the rest")]
    Sets(BenchSetsArgs),
    /// Train on a random half of the normal rows
    #[command(after_help = "\
Examples:
  oddcell bench uad --data DIR --methods all --seeds 10 --out results
  oddcell bench uad --data DIR --sets wine --methods knn --vary 'n_neighbors=1|5' --out results")]
    Uad(BenchRunArgs),
    /// Treat each class in turn as normal
    #[command(after_help = "\
Examples:
  oddcell bench occ --data DIR --sets wine,glass --methods noise,knn --out results")]
    Occ(BenchRunArgs),
    /// Use the split that comes with the sets, for any folder of .npz files
    #[command(after_help = "\
Examples:
  oddcell bench fixed --data DIR --methods noise,knn,iforest --seeds 1 --out results
  oddcell bench fixed --data OVRBENCH --sets design --out results

Every .npz file in DIR is a set. Its arrays are X, y (0 normal, else anomalous) and is_test (1 for test rows).")]
    Fixed(BenchRunArgs),
    /// Split as in the DTE paper: file order, small sets resampled before the split; leaky
    #[command(after_help = "\
Examples:
  oddcell bench dte --data DIR --sets letter --methods knn --out results")]
    Dte(BenchRunArgs),
    /// Train on all rows, anomalies included, and judge the same rows
    #[command(after_help = "\
Examples:
  oddcell bench contaminated --data DIR --methods noise,iforest --out results")]
    Contaminated(BenchRunArgs),
    /// Find the cell that was spoiled by noise or by a value from another row
    #[command(after_help = "\
Examples:
  oddcell bench cells --data DIR --sets cardio,letter --out results")]
    Cells(BenchRunArgs),
    /// Plant errors in real tables and count how many `detect` finds
    #[command(after_help = "\
Examples:
  oddcell bench spoil --data DIR --sets design --out results
  oddcell bench spoil --data DIR --sets flights,titanic --methods noise,ecod --seeds 3 --out results
  oddcell bench spoil --data DIR --seeds 2 --write spoiled

`benchmarks/spoil/fetch DIR` downloads the tables. --write saves every spoiled table as NAME-SEED.csv, and its errors as NAME-SEED-truth.csv.")]
    Spoil(BenchSpoilArgs),
    /// Find the wrong cells of tables whose clean versions are known; the clean ones are only compared with
    #[command(after_help = "\
Examples:
  oddcell bench errors --data DIR --out results
  oddcell bench errors --data DIR --sets raha --methods cells --out results

A table is a folder with dirty.csv or dirty_KIND.csv, and clean.csv or clean_KIND.csv beside it, perhaps with .gz.")]
    Errors(BenchErrorsArgs),
    /// Run the paper's ablations, each class in turn as normal: noise level, ratio, kind, aggregation
    #[command(after_help = "\
Examples:
  oddcell bench ablate --data DIR --sets wine,glass --out results
  oddcell bench ablate kind --data DIR --methods noise-paper-mlp --out results")]
    Ablate(BenchAblateArgs),
    /// Draw maps of normal, noised and anomalous rows: t-SNE of the net's last hidden layer
    #[command(after_help = "\
Examples:
  oddcell bench map --data DIR --sets cardio,satellite --out results
  oddcell bench map --data DIR --sets kdd --methods noise-paper-mlp --out results")]
    Map(BenchChoiceArgs),
    /// Check whether p-values and false-discovery rates hold on the sets
    #[command(after_help = "\
Examples:
  oddcell bench calibration --data DIR --sets Hepatitis,cardio --seeds 3 --out results")]
    Calibration(BenchCalibrationArgs),
    /// Reproduce the paper's time tables: noise, training and judging on KDD-CUP99
    #[command(after_help = "\
Examples:
  oddcell bench time --data DIR --out results
  oddcell bench time --data DIR --methods noise-paper-mlp,plad,dpad --seeds 3 --threads 1 --out results")]
    Time(BenchTimeArgs),
    /// Write tables and pictures of earlier results
    #[command(after_help = "\
Examples:
  oddcell bench report --out results")]
    Report(BenchReportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BenchSetsArgs {
    /// Folder with the sets; compares their checksums, or else their counts, with the files we used
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Only these sets, comma separated
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) sets: Vec<String>,
}

/// Which methods to run on which sets.
#[derive(Debug, Clone, Args)]
pub(crate) struct BenchChoiceArgs {
    /// Folder with the sets (see `oddcell bench sets`)
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// Sets, comma separated; or `all`, `design`, `confirm` (halves of ADBench; for fixed, of `OvRBench`)
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
    pub(crate) sets: Vec<String>,
    /// Skip sets with more rows than this
    #[arg(long, value_name = "N")]
    pub(crate) max_rows: Option<usize>,
    /// Methods, comma separated, or `all` [default: noise; for cells all that explain cells; for ablate the paper's two]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,
    /// Run each method that has this parameter with each of these values, e.g. `sigma_max=0.5|1|2`
    #[arg(long, value_name = "KEY=V|V|...")]
    pub(crate) vary: Vec<String>,
    /// Folder for the results; runs already there are skipped
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchRunArgs {
    #[command(flatten)]
    pub(crate) choice: BenchChoiceArgs,
    /// Number of seeds, starting at 0
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    /// Use one-hot columns too, where a set has them
    #[arg(long)]
    pub(crate) one_hot: bool,
    /// Give up on a run after this many seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) time_limit: Option<u64>,
    /// Memory for all concurrent runs, in GB [default: three quarters of free memory]
    #[arg(long, value_name = "GB")]
    pub(crate) memory: Option<Gigabytes>,
    /// Concurrent runs [default: cores divided by threads per run]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Threads per run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: u16,
    /// Repeat runs that failed or timed out
    #[arg(long)]
    pub(crate) again: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchSpoilArgs {
    /// Folder with the tables, as CSV files with a header (see benchmarks/spoil/fetch)
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// Tables, comma separated; or `all`, `design`, `confirm`
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
    pub(crate) sets: Vec<String>,
    /// Methods, comma separated, or `all`
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = oddcell_bench::methods::OURS)]
    pub(crate) methods: Vec<String>,
    /// Run each method that has this parameter with each of these values, e.g. `sigma_max=0.5|1|2`
    #[arg(long, value_name = "KEY=V|V|...")]
    pub(crate) vary: Vec<String>,
    /// Number of seeds, starting at 0
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    /// Share of the rows to spoil; at least five rows
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = share)]
    pub(crate) share: f64,
    /// Folder for the results; a result replaces an earlier one of the same table, seed and method
    #[arg(long, value_name = "DIR", required_unless_present = "write")]
    pub(crate) out: Option<PathBuf>,
    /// Folder for the spoiled tables; without --out, nothing is judged
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Option<PathBuf>,
    /// Number of threads [default: one per core]; does not change the results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchErrorsArgs {
    /// Folder with the tables, each a folder with dirty and clean files
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// Only tables whose folder or kind of errors contains one of these, comma separated
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) sets: Vec<String>,
    /// Methods, comma separated, or `all`: cells, ecod, rarity, mixture, pairs
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
    pub(crate) methods: Vec<String>,
    /// Folder for the results; a result replaces an earlier one of the same table and method
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The seed of methods that need one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Number of threads [default: one per core]; does not change the results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// A share of rows: more than 0, and at most one half.
fn share(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is not more than 0 and at most 0.5");
    text.parse().ok().filter(|&share| share > 0.0 && share <= 0.5).ok_or_else(wrong)
}

#[derive(Debug, Args)]
pub(crate) struct BenchAblateArgs {
    /// Ablation: level, ratio, kind or aggregate [default: all four]
    pub(crate) study: Option<String>,
    #[command(flatten)]
    pub(crate) run: BenchRunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BenchCalibrationArgs {
    #[command(flatten)]
    pub(crate) choice: BenchChoiceArgs,
    /// Number of seeds, starting at 0
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
}

#[derive(Debug, Args)]
pub(crate) struct BenchTimeArgs {
    /// Folder with the sets (see `oddcell bench sets`)
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// Folder for the results and the table
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Methods, comma separated, or `all` (every method trained in epochs)
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "noise-paper-mlp")]
    pub(crate) methods: Vec<String>,
    /// Sets of `occ`, comma separated, or `all`; kdd is shown beside the paper's seconds
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = oddcell_bench::timing::PAPERS_SET)]
    pub(crate) sets: Vec<String>,
    /// Number of repetitions, with seeds starting at 0
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    /// Training rows [default: 972,781, as in the paper]
    #[arg(long, value_name = "N")]
    pub(crate) rows: Option<usize>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BenchReportArgs {
    /// Folder with results.csv; the tables, pictures and page are written there too
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// How to read the table.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadArgs {
    /// Field separator of a CSV, one character or `tab` [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// The first row of the CSV holds data, not names
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Format of the input [default: detected from its first bytes and name]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) input_format: Option<Format>,
    /// Stop at the first cell that cannot be read as its column's kind, e.g. `18OO` among numbers
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Which columns to learn from.
#[derive(Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnArgs {
    /// Column with the true labels (0/1, true/false); never a feature; prints AUC, average precision and F1
    #[arg(long, value_name = "COL")]
    pub(crate) label: Option<String>,
    /// Columns to leave out, comma separated
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// Columns to read as categories even if they look like numbers, comma separated
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    pub(crate) categorical: Vec<String>,
    #[arg(long = "kind", value_name = "COL=KIND", help = kind_help())]
    pub(crate) kinds: Vec<String>,
    /// Columns whose values make up groups, comma separated: numbers are also compared with those of their group
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    pub(crate) group_by: Vec<String>,
    /// Also learn from columns that look like row identifiers
    #[arg(long)]
    pub(crate) keep_identifiers: bool,
}

/// The help of `--detector`.
fn detector_help() -> String {
    let [numbers, mixed] = [Tables::OfNumbers, Tables::Mixed].map(|tables| Entry::default_of(tables).name);
    format!("Detector [default: {numbers} for tables of numbers, {mixed} for all others]")
}

/// The help of `--preset`.
fn preset_help() -> String {
    let entry = Entry::default_of(Tables::OfNumbers);
    format!("Parameter set; {} has {}", entry.name, entry.presets().join(", "))
}

/// The detector and its parameters.
#[derive(Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Learning")]
pub(crate) struct LearnArgs {
    #[arg(long, value_name = "NAME", help = detector_help())]
    pub(crate) detector: Option<String>,
    #[arg(long, value_name = "NAME", help = preset_help())]
    pub(crate) preset: Option<String>,
    /// Same as `--preset fast`: learns and scores several times as fast, finds somewhat less
    #[arg(long, conflicts_with_all = ["preset", "best"])]
    pub(crate) fast: bool,
    /// Same as `--preset best`: takes several times as long
    #[arg(long, conflicts_with = "preset")]
    pub(crate) best: bool,
    /// Training rows that the model keeps for comparison (same as `--set keep_rows=N`); 0 keeps none
    #[arg(long, value_name = "N")]
    pub(crate) keep_rows: Option<usize>,
    /// Net of the detector (same as `--set net=NET`)
    #[arg(long, value_name = "NET", value_parser = ["mlp", "resmlp"])]
    pub(crate) net: Option<String>,
    /// Set one parameter, e.g. `sigma_max=1.5`, `encode.one_hot=true`, `fit.folds=10`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Read parameters from a TOML file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Random seed; the same seed gives the same bits [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// Which rows to flag as odd.
#[derive(Debug, Args)]
#[command(next_help_heading = "Verdict (one of)")]
#[group(multiple = false)]
pub(crate) struct RuleArgs {
    /// Flag rows whose p-value is at most this
    #[arg(long, value_name = "P")]
    pub(crate) alpha: Option<f64>,
    /// Flag rows so that about this share of them is expected to be normal (Benjamini-Hochberg)
    #[arg(long, value_name = "SHARE")]
    pub(crate) fdr: Option<f64>,
    /// Flag the K rows with the highest scores
    #[arg(long, value_name = "K")]
    pub(crate) top: Option<usize>,
    /// Flag rows that score above all but this share of the reference scores, as in PyOD
    #[arg(long, value_name = "SHARE")]
    pub(crate) contamination: Option<f64>,
}

/// Where results go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Write the judged rows here (`-`: standard output)
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the judged rows [default: from OUT's name, else csv]
    #[arg(long, value_parser = PossibleValuesParser::new(["csv", "jsonl", "parquet"]).try_map(|name| name.parse::<Format>()))]
    pub(crate) format: Option<Format>,
    /// Disarm cells of a CSV that spreadsheets would run as formulas
    #[arg(long)]
    pub(crate) csv_safe: bool,
    /// Write only the odd or only the normal rows
    #[arg(long, value_name = "ROWS", value_parser = PossibleValuesParser::new(["odd", "normal"]).map(|name| if name == "odd" { Only::Odd } else { Only::Normal }))]
    pub(crate) only: Option<Only>,
}

/// The report page.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportArgs {
    /// Write a page with the odd rows and the reasons here; one HTML file, for any browser
    #[arg(long, value_name = "PAGE")]
    pub(crate) report: Option<PathBuf>,
}

/// Threads, and how much to print.
#[derive(Debug, Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct RunArgs {
    /// Number of threads [default: one per core]; does not change the results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Print a JSON summary to standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Folder for the demo's files
    #[arg(long, value_name = "DIR", default_value = "oddcell-demo")]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DetectArgs {
    /// The table (`-`: standard input)
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) rule: RuleArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// The table (`-`: standard input)
    pub(crate) data: PathBuf,
    /// Write the model here
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,
    /// For tables larger than memory: read the file twice and learn block by block (not every detector can)
    #[arg(long)]
    pub(crate) stream: bool,
    /// Memory for rows with --stream, in GB
    #[arg(long, value_name = "GB", requires = "stream", default_value_t = Gigabytes(Streaming::MEMORY as u64))]
    pub(crate) memory: Gigabytes,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ScoreArgs {
    /// A model written by `oddcell fit`
    pub(crate) model: PathBuf,
    /// The table (`-`: standard input)
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) rule: RuleArgs,
    /// Column with the true labels (0/1, true/false); prints AUC, average precision and F1
    #[arg(long, value_name = "COL")]
    pub(crate) label: Option<String>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Print how long scoring took: wall-clock time, and thread time by stage
    #[arg(long, help_heading = "Running")]
    pub(crate) timings: bool,
}

/// The table, perhaps after the model that judges it.
#[derive(Debug, Args)]
pub(crate) struct FilesArgs {
    /// The table (`-`: standard input); before it, perhaps, a model written by `oddcell fit`
    #[arg(value_name = "FILE", required = true, num_args = 1..=2)]
    files: Vec<PathBuf>,
}

impl FilesArgs {
    pub(crate) fn model(&self) -> Option<&PathBuf> {
        self.files.first().filter(|_| self.files.len() == 2)
    }

    pub(crate) fn data(&self) -> &PathBuf {
        self.files.last().expect("at least one is required")
    }

    /// Both of them.
    pub(crate) fn inputs(&self) -> Vec<&PathBuf> {
        self.files.iter().collect()
    }
}

/// Which columns of a table to judge.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns (without a model)")]
pub(crate) struct CellColumnArgs {
    /// Columns to leave out, comma separated
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// Columns to read as categories even if they look like numbers, comma separated
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    pub(crate) categorical: Vec<String>,
    #[arg(long = "kind", value_name = "COL=KIND", help = kind_help())]
    pub(crate) kinds: Vec<String>,
    /// Columns whose values make up groups, comma separated: numbers are also compared with those of their group
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    pub(crate) group_by: Vec<String>,
    /// Random seed; the same seed gives the same bits [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// Which cells to call odd.
#[derive(Debug, Args)]
#[command(next_help_heading = "Verdict (one of)")]
#[group(multiple = false)]
pub(crate) struct CellRuleArgs {
    /// Call cells so that about this share of them is expected to be right (Benjamini-Hochberg) [default: 0.1]
    #[arg(long, value_name = "SHARE")]
    pub(crate) fdr: Option<f64>,
    /// Call cells whose p-value is at most this
    #[arg(long, value_name = "P")]
    pub(crate) alpha: Option<f64>,
    /// Call the K cells with the smallest p-values
    #[arg(long, value_name = "K")]
    pub(crate) top: Option<usize>,
}

/// How the cells of a table are judged.
#[derive(Debug, Args)]
pub(crate) struct CellArgs {
    #[command(flatten)]
    pub(crate) files: FilesArgs,
    #[command(flatten)]
    pub(crate) rule: CellRuleArgs,
    #[command(flatten)]
    pub(crate) columns: CellColumnArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CellsArgs {
    /// Write the odd cells here, one row for each (`-`: standard output)
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the odd cells [default: from OUT's name, else csv]
    #[arg(long, help_heading = "Output", value_parser = PossibleValuesParser::new(["csv", "jsonl", "parquet"]).try_map(|name| name.parse::<Format>()))]
    pub(crate) format: Option<Format>,
    /// Disarm cells of a CSV that spreadsheets would run as formulas
    #[arg(long, help_heading = "Output")]
    pub(crate) csv_safe: bool,
    #[command(flatten)]
    pub(crate) cells: CellArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RepairArgs {
    /// Write the repaired table here
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    pub(crate) output: PathBuf,
    /// Write every change here, as a CSV [default: OUT.changes.csv]
    #[arg(long, value_name = "LOG", help_heading = "Output", conflicts_with = "undo")]
    pub(crate) log: Option<PathBuf>,
    /// Take back the changes of this log
    #[arg(long, value_name = "LOG", help_heading = "Output", conflicts_with_all = ["blank", "sure", "fdr", "alpha", "top"])]
    pub(crate) undo: Option<PathBuf>,
    /// Empty the odd cells, whatever is expected there
    #[arg(long, help_heading = "Repair")]
    pub(crate) blank: bool,
    /// Replace a cell if the expected value is at least so sure, from 0 to 1; leave the others alone [default: 0.5]
    #[arg(long, value_name = "SHARE", help_heading = "Repair", value_parser = sureness, conflicts_with = "blank")]
    pub(crate) sure: Option<f64>,
    #[command(flatten)]
    pub(crate) cells: CellArgs,
}

/// From 0 to 1.
fn sureness(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is not from 0 to 1");
    text.parse().ok().filter(|sure| (0.0..=1.0).contains(sure)).ok_or_else(wrong)
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) files: FilesArgs,
    /// Row numbers, counted from 1, comma separated
    #[arg(long, value_name = "N", required = true, value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) row: Vec<u64>,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// A table (`-`: standard input), or a model written by `oddcell fit`
    pub(crate) file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// List the rows of a table that are equal to an earlier one, or differ from it in one column alone
    #[arg(long)]
    pub(crate) duplicates: bool,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Read the kinds of columns from a TOML file
    #[arg(long, value_name = "FILE", help_heading = "Columns")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command, such as `fit` or `bench uad` [default: oddcell itself]
    #[arg(conflicts_with = "dir")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Bytes, entered and shown as gigabytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gigabytes(pub(crate) u64);

impl FromStr for Gigabytes {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse::<f64>() {
            Ok(gigabytes) if gigabytes > 0.0 && gigabytes < 1e9 => Ok(Self((gigabytes * 1e9) as u64)),
            _ => Err("expected a number of gigabytes above 0"),
        }
    }
}

impl Display for Gigabytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0 as f64 / 1e9)
    }
}

fn kind_help() -> String {
    let kinds: Vec<&str> = ColumnKind::ALL.iter().map(|kind| kind.name()).collect();
    format!(
        "Read a column as {}; or leave it out as `id` or `ignore`, e.g. `zip=category`, `order=id`; repeatable",
        kinds.join(", ")
    )
}

fn delimiter(text: &str) -> Result<u8, String> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        (_, &[byte]) => Ok(byte),
        _ => Err("expected one ASCII character, or `tab`".to_owned()),
    }
}
