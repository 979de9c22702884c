//! `columns`: how surprising each value is in its column, and given the other columns.
//!
//! *Why:* in tables of names, codes, dates and amounts, a wrong cell is rarely far from everything. It is rare in its
//! column, or it contradicts the other columns. Both are questions about one column at a time, and both have an answer
//! that can be compared from column to column: how many normal rows are as surprising.
//!
//! *Formula:* for every column two scores, each turned into a surprise, −ln of the share of normal rows that reach it
//! (`surprisal.rs`; some training rows may be odd themselves, so the tail is modeled from the others):
//! - **alone:** the distance from the median on its side, or how rare the level is (`alone.rs`);
//! - **signs** that a name is rare, misspelled or cannot be read are surprises already (`kinds/`);
//! - **given the others:** extremely randomized trees predict the column (`tree.rs`). Numbers: the error, in units of
//!   the spread that the trees expect there. Levels: how much likelier the likeliest level is (`given.rs`).
//!
//! A cell is the largest of its surprises plus a quarter of the second. The score is the largest cell plus a tenth of the
//! second.
//!
//! *Invariants:* tree t of column j draws from the stream (seed, j, t) alone. Trees see a random part of the rows, and a
//! training row's own error comes from the trees that did not see it.
//!
//! *Source:* a model per column goes back to cross-feature analysis (Huang, Fan, Lee, Yu 2003); trees that predict every
//! column of a mixed table are in RFOD (2025). The trees are those of Geurts, Ernst, Wehenkel (2006).

mod alone;
mod asked;
mod given;
mod pairs;
mod surprisal;
mod tree;

use rayon::prelude::*;

use self::{
    alone::{Flag, Numbers},
    asked::Asked,
    given::{Chances, Given, Lesson},
    pairs::Pairs,
    tree::Seen,
};
use std::ops::Range;

use super::{
    Abilities, CellUnit, Expects, Fitted, Guess, Judged, Keeps, Params, Size, parameters, ranges, saved,
};
use crate::{
    Context, Matrix, Progress,
    error::{FitError, ParamError},
    layout::Role,
    tensors::{TensorError, Tensors},
};

/// Rows that are judged together.
const ROWS_PER_BLOCK: usize = 256;
/// With fewer rows that have a value, trees have nothing to learn from.
const FEWEST_ROWS: usize = 20;
/// No column has more levels.
const MOST_LEVELS: usize = 1 << 24;
/// What the second surprise of a cell adds to its largest one, and the second cell of a row to the first.
const SMALLER: f64 = 0.25;
const SECOND: f64 = 0.1;

parameters! {
    /// The parameters of `columns`.
    pub(super) struct ColumnsParams {
        /// Trees for each column, from 1 to 1,000. More trees, less chance in the scores.
        pub n_trees: usize = 30,
        /// Rows each tree is grown on, from 2 to 16,777,216; at most 63 % of the training rows.
        pub max_samples: usize = 4_096,
        /// Whether the other columns are compared with the position of dates in time; `null`: in a table that is judged by
        /// itself. Later tables go on in time, so a model must not count on it.
        pub times: Option<bool> = None,
    }
}

impl Params for ColumnsParams {
    const NAME: &'static str = "columns";
    const SUMMARY: &'static str = "how surprising each value is in its column, and given the other columns";
    const ABILITIES: Abilities = Abilities {
        cells: Some(CellUnit::SurpriseInContext),
        keeps: Keeps::Distances(alone::MOST_DISTANCES),
        slow_to_score: true,
        ..Abilities::SIMPLE
    };
    const SEES_ALL: bool = true;

    fn for_one_table(self) -> Self {
        Self { times: self.times.or(Some(true)), ..self }
    }

    fn check(&self) -> Result<(), ParamError> {
        ranges::count("n_trees", self.n_trees, 1..=1_000, "from 1 to 1,000")?;
        ranges::count("max_samples", self.max_samples, 2..=1 << 24, "from 2 to 16,777,216")
    }

    fn seconds(&self, Size { n_train, n_test, n_cols }: Size) -> f64 {
        let trees = (self.n_trees * n_cols) as f64;
        trees * (3e-5 * n_train.min(self.max_samples) as f64 + 4e-7 * n_test as f64)
    }

    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        let layout = rows.layout();
        let asked = Asked::of(&layout);
        let inputs: Vec<Vec<f32>> = (0..rows.n_cols())
            .into_par_iter()
            .map(|feature| rows.rows().map(|row| as_f32(row[feature])).collect())
            .collect();
        let mut answers = Vec::with_capacity(asked.len());
        for (at, question) in asked.iter().enumerate() {
            if context.monitor.cancelled() {
                return Err(FitError::Cancelled);
            }
            answers.push(self.learn(rows, &inputs, &asked, at, context));
            context.monitor.advanced(Progress { done: at + 1, total: asked.len(), loss: None });
            debug_assert!(question.column.contains(&question.at));
        }
        Ok(Box::new(FittedColumns::new(rows.n_cols(), asked, answers)))
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        let (n_features, asked) = Asked::take_all(tensors)?;
        let take = |(at, question): (usize, &Asked)| {
            let mut own = tensors.take_all(&format!("{at}."));
            let answer = Answer::take(&mut own, question, &asked, n_features, self.n_trees)?;
            if own.0.is_empty() {
                Ok(answer)
            } else {
                Err(saved::invalid("given", &"something is left over"))
            }
        };
        let answers = asked.iter().enumerate().map(take).collect::<Result<_, _>>()?;
        Ok(Box::new(FittedColumns::new(n_features, asked, answers)))
    }
}

impl ColumnsParams {
    /// Learns to answer one question.
    fn learn(
        &self,
        rows: &Matrix,
        inputs: &[Vec<f32>],
        asked: &[Asked],
        at: usize,
        context: &Context<'_>,
    ) -> Answer {
        let question = &asked[at];
        // Rows of later tables lie elsewhere in time than all training rows.
        let times = self.times.unwrap_or(false);
        let has_value: Vec<u32> =
            (0..rows.n_rows() as u32).filter(|&row| question.has_value(rows.row(row as usize))).collect();
        let others = |other: &&Asked| other.column != question.column && other.is_known(times);
        let can_be_given = question.is_known(times) && !question.is_context;
        let allowed: Vec<u32> = asked.iter().filter(others).map(|other| other.at as u32).collect();
        let can_learn = can_be_given && has_value.len() >= FEWEST_ROWS && !allowed.is_empty();
        let lesson = Lesson {
            inputs,
            allowed,
            is_level: &levels_among(asked, rows.n_cols()),
            rows: &has_value,
            n_trees: self.n_trees,
            max_samples: self.max_samples,
            seed: context.seed,
            column: at as u64,
        };
        let values = || has_value.iter().map(|&row| rows.row(row as usize)[question.at]);
        match question.role {
            Role::Sign => Answer::Sign,
            Role::Number | Role::Time | Role::Skewed | Role::Part | Role::Coordinate => {
                let own: Vec<f64> = values().collect();
                let varies = own.iter().any(|&number| number != own[0]);
                let all: Vec<f64> = rows.rows().map(|row| row[question.at]).collect();
                let given = (can_learn && varies).then(|| Given::of_numbers(&lesson, &all)).flatten();
                let alone = if own.is_empty() { Numbers::learn(&[0.0]) } else { Numbers::learn(&own) };
                Answer::Number { alone: Box::new(alone), given }
            }
            Role::Flag | Role::Level => {
                let levels: Vec<u32> = rows.rows().map(|row| question.level(row)).collect();
                let mut counts: Vec<u64> = Vec::new();
                for &row in &has_value {
                    let level = levels[row as usize] as usize;
                    counts.resize(counts.len().max(level + 1), 0);
                    counts[level] += 1;
                }
                let n_different = counts.iter().filter(|&&count| count > 0).count();
                // Where hardly any level repeats, none can be predicted.
                let repeats = n_different > 1 && n_different * 2 <= has_value.len();
                let can_learn = can_learn && repeats;
                let n_levels = counts.len();
                let given = can_learn.then(|| Given::of_levels(&lesson, &levels, n_levels)).flatten();
                let pairs = can_learn.then(|| Pairs::learn(&lesson, &levels)).flatten();
                // How rare a level is, is a sign of its own.
                let alone = (question.role == Role::Flag).then(|| Flag::learn(&counts));
                Answer::Level { alone, n_levels, given, pairs }
            }
        }
    }
}

/// Which features are levels.
fn levels_among(asked: &[Asked], n_features: usize) -> Vec<bool> {
    let mut is_level = vec![false; n_features];
    for question in asked {
        is_level[question.at] = question.role == Role::Level;
    }
    is_level
}

/// What was learned about one question.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one for each question, and the large one is the usual one"
)]
#[derive(Debug)]
enum Answer {
    Number {
        alone: Box<Numbers>,
        given: Option<Given>,
    },
    Level {
        alone: Option<Flag>,
        n_levels: usize,
        given: Option<Given>,
        pairs: Option<Pairs>,
    },
    /// A surprise as it is.
    Sign,
}

impl Answer {
    fn n_levels(&self) -> usize {
        match self {
            Self::Number { .. } | Self::Sign => 0,
            Self::Level { n_levels, .. } => *n_levels,
        }
    }

    fn put(&self, tensors: &mut Tensors) {
        let flag = |is_there: bool| vec![u32::from(is_there)];
        match self {
            Self::Sign => {}
            Self::Number { alone, given } => {
                alone.put(tensors);
                tensors.put_u32("given", &[1], flag(given.is_some()));
                if let Some(given) = given {
                    given.put(tensors);
                }
            }
            Self::Level { alone, n_levels, given, pairs } => {
                if let Some(alone) = alone {
                    alone.put(tensors);
                }
                tensors.put_u32("levels_known", &[1], vec![*n_levels as u32]);
                tensors.put_u32("given", &[1], flag(given.is_some()));
                if let Some(given) = given {
                    given.put(tensors);
                }
                tensors.put_u32("pairs", &[1], flag(pairs.is_some()));
                if let Some(pairs) = pairs {
                    pairs.put(tensors);
                }
            }
        }
    }

    /// Takes what [`Answer::put`] wrote from a file that may be hostile.
    fn take(
        tensors: &mut Tensors,
        question: &Asked,
        asked: &[Asked],
        n_features: usize,
        n_trees: usize,
    ) -> Result<Self, TensorError> {
        let is_there = |tensors: &mut Tensors, name: &str| match tensors.take_u32(name, &[1])?[0] {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(saved::invalid(name, &format!("it is {other}, but must be 0 or 1"))),
        };
        let is_level = levels_among(asked, n_features);
        match question.role {
            Role::Sign => Ok(Self::Sign),
            Role::Number | Role::Time | Role::Skewed | Role::Part | Role::Coordinate => {
                let alone = Box::new(Numbers::take(tensors)?);
                let given = if is_there(tensors, "given")? {
                    Some(Given::take(tensors, n_trees, &is_level, None)?)
                } else {
                    None
                };
                Ok(Self::Number { alone, given })
            }
            Role::Flag | Role::Level => {
                let is_flag = question.role == Role::Flag;
                let alone = if is_flag { Some(Flag::take(tensors)?) } else { None };
                let n_levels = tensors.take_u32("levels_known", &[1])?[0] as usize;
                if n_levels > MOST_LEVELS {
                    return Err(saved::invalid("levels_known", &format!("it must be at most {MOST_LEVELS}")));
                }
                let given = if is_there(tensors, "given")? {
                    Some(Given::take(tensors, n_trees, &is_level, Some(n_levels))?)
                } else {
                    None
                };
                let pairs =
                    if is_there(tensors, "pairs")? { Some(Pairs::take(tensors, n_features)?) } else { None };
                Ok(Self::Level { alone, n_levels, given, pairs })
            }
        }
    }
}

/// What was learned about all columns.
#[derive(Debug)]
struct FittedColumns {
    n_features: usize,
    asked: Vec<Asked>,
    answers: Vec<Answer>,
    is_level: Vec<bool>,
}

impl FittedColumns {
    fn new(n_features: usize, asked: Vec<Asked>, answers: Vec<Answer>) -> Self {
        let is_level = levels_among(&asked, n_features);
        Self { n_features, asked, answers, is_level }
    }

    /// The surprise of a value.
    fn surprise(
        &self,
        (question, answer): (&Asked, &Answer),
        row: &[f64],
        narrow: &[f32],
        scratch: &mut Chances,
    ) -> f64 {
        if !question.has_value(row) {
            return 0.0;
        }
        let seen = Seen { row: narrow, is_level: &self.is_level };
        match answer {
            Answer::Sign => row[question.at].max(0.0),
            Answer::Number { alone, given } => {
                let alone = alone.surprise(row[question.at]);
                let given = given.as_ref().map_or(0.0, |given| given.number(seen, row[question.at]));
                alone.max(given)
            }
            Answer::Level { alone, n_levels, given, pairs } => {
                let level = question.level(row);
                let known = (level as usize).min(*n_levels);
                let alone = alone.as_ref().map_or(0.0, |alone| alone.surprise(level));
                let given = given.as_ref().map_or(0.0, |given| given.level(seen, known, scratch));
                let pairs = pairs.as_ref().map_or(0.0, |pairs| pairs.surprise(narrow, level));
                let given = given.max(pairs);
                alone.max(given)
            }
        }
    }

    /// Judges one row, and gives its cells to `cells` if they are wanted.
    fn judge_row(&self, row: &[f64], scratch: &mut Scratch, mut cells: Option<&mut [f64]>) -> f64 {
        let mut narrow = std::mem::take(&mut scratch.narrow);
        narrow.clear();
        narrow.extend(row.iter().map(|&value| as_f32(value)));
        let mut columns = Largest::default();
        let mut at = 0;
        for questions in self.asked.chunk_by(|a, b| a.column == b.column) {
            let mut own = Largest::default();
            let mut oddest = questions[0].at;
            for question in questions {
                let surprise =
                    self.surprise((question, &self.answers[at]), row, &narrow, &mut scratch.chances);
                at += 1;
                if surprise > own.first {
                    oddest = question.at;
                }
                own.add(surprise);
                if let Some(cells) = &mut cells {
                    cells[question.at] = surprise;
                }
            }
            let column = own.first + SMALLER * own.second;
            columns.add(column);
            if let Some(cells) = &mut cells {
                cells[oddest] = column;
            }
        }
        scratch.narrow = narrow;
        columns.first + SECOND * columns.second
    }
}

impl Expects for FittedColumns {
    fn expected(&self, row: &[f64], column: Range<usize>) -> Guess {
        let first = self.asked.partition_point(|question| question.column.start < column.start);
        let n_own = self.asked[first..].partition_point(|question| question.column == column);
        let Some(at) = Asked::about_value(&self.asked[first..first + n_own]) else { return Guess::Nothing };
        let (question, answer) = (&self.asked[first + at], &self.answers[first + at]);
        let narrow: Vec<f32> = row.iter().map(|&value| as_f32(value)).collect();
        let seen = Seen { row: &narrow, is_level: &self.is_level };
        let feature = question.at;
        match answer {
            Answer::Sign => Guess::Nothing,
            Answer::Number { alone, given } => {
                let [low, median, high] = alone.usual();
                match given.as_ref().and_then(|given| given.expected_number(seen)) {
                    Some((middle, off)) if 2.0 * off < high - low => {
                        let sure = 1.0 - 2.0 * off / (high - low);
                        Guess::Number { feature, middle, low: middle - off, high: middle + off, sure }
                    }
                    Some((middle, _)) => {
                        let (low, high) = (low.min(middle), high.max(middle));
                        Guess::Number { feature, middle, low, high, sure: 0.0 }
                    }
                    None => Guess::Number { feature, middle: median, low, high, sure: 0.0 },
                }
            }
            Answer::Level { alone, n_levels, given, pairs } => {
                let by_trees = given.as_ref().map(|given| given.chances(seen, &mut Chances::new(*n_levels)));
                let by_pair = pairs.as_ref().and_then(|pairs| pairs.chances(&narrow));
                let most =
                    |chances: &[(u32, f64)]| chances.iter().map(|&(_, chance)| chance).fold(0.0, f64::max);
                let surest = match (by_trees, by_pair) {
                    (Some(trees), Some(pair)) => Some(if most(&pair) > most(&trees) { pair } else { trees }),
                    (one, other) => one.or(other),
                };
                match (surest, alone) {
                    (Some(chances), _) => Guess::of_levels(feature, chances),
                    (None, Some(flag)) => Guess::of_levels(feature, (0..2).zip(flag.shares()).collect()),
                    (None, None) => Guess::Levels { feature, chances: Vec::new() },
                }
            }
        }
    }
}

/// The two largest of some numbers, at least 0.
#[derive(Default)]
struct Largest {
    first: f64,
    second: f64,
}

impl Largest {
    fn add(&mut self, number: f64) {
        if number > self.first {
            (self.first, self.second) = (number, self.first);
        } else {
            self.second = self.second.max(number);
        }
    }
}

/// Buffers of one thread.
struct Scratch {
    chances: Chances,
    narrow: Vec<f32>,
}

impl Fitted for FittedColumns {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn judge_checked(&self, rows: &Matrix, want_cells: bool) -> Judged {
        let n_levels = self.answers.iter().map(Answer::n_levels).max().unwrap_or(0);
        let scratch = || Scratch { chances: Chances::new(n_levels), narrow: Vec::new() };
        let judge_block = |scratch: &mut Scratch, block: &[f64]| {
            let mut cells = vec![0.0; if want_cells { block.len() } else { 0 }];
            let mut of_rows = cells.chunks_exact_mut(self.n_features);
            let rows = block.chunks_exact(self.n_features);
            let scores: Vec<f64> = rows.map(|row| self.judge_row(row, scratch, of_rows.next())).collect();
            (scores, cells)
        };
        let blocks = rows.values().par_chunks(ROWS_PER_BLOCK * self.n_features);
        let (scores, cells): (Vec<Vec<f64>>, Vec<Vec<f64>>) = blocks.map_init(scratch, judge_block).unzip();
        let cells = want_cells.then(|| Matrix::new(cells.concat(), rows.n_rows(), self.n_features));
        Judged { scores: scores.concat(), cells }
    }

    fn expects(&self) -> Option<&dyn Expects> {
        Some(self)
    }

    fn save_to(&self, tensors: &mut Tensors) {
        Asked::put_all(tensors, self.n_features, &self.asked);
        for (at, answer) in self.answers.iter().enumerate() {
            let mut own = Tensors::default();
            answer.put(&mut own);
            tensors.put_all(&format!("{at}."), own);
        }
    }
}

/// The nearest `f32`; beyond its range, its largest number.
fn as_f32(value: f64) -> f32 {
    (value as f32).clamp(f32::MIN, f32::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        Seed,
        layout::{Group, Layout},
    };

    fn group(features: std::ops::Range<usize>, roles: &[Role], null_flag: Option<usize>) -> Group {
        Group { features, roles: roles.to_vec(), null_flag, gap: None, is_context: false }
    }

    /// A level and its place, a number that depends on it, and a number of its own.
    fn table(n_rows: usize, seed: u64) -> Matrix {
        let mut stream = Seed(seed).stream("table", &[]);
        let rows: Vec<[f64; 4]> = (0..n_rows)
            .map(|_| {
                let level = f64::from(u8::from(stream.uniform() < 0.5));
                [1.0 - level, level, 10.0 * level + stream.normal(), stream.normal()]
            })
            .collect();
        let level = group(0..2, &[Role::Coordinate, Role::Level], None);
        let number = |at| group(at..at + 1, &[Role::Number], None);
        Matrix::from_rows(&rows).with_layout(Arc::new(Layout(vec![level, number(2), number(3)])))
    }

    #[test] // Level 0 goes with numbers around 0: 10 is common by itself, but not beside level 0.
    fn a_contradiction_is_more_surprising_than_any_common_row_and_names_its_columns() {
        let detector = ColumnsParams::default().build().unwrap();
        let fitted = detector.fit(&table(600, 1), &Context::silent(Seed(1))).unwrap();
        let normal = fitted.score(&table(200, 2)).unwrap();
        let judged = fitted.judge(&Matrix::from_rows(&[[1.0, 0.0, 10.0, 0.0]]), true).unwrap();
        let higher = normal.iter().filter(|&&score| score >= judged.scores[0]).count();
        assert!(higher <= 2, "{:?}", judged.scores);
        let cells = judged.cells.unwrap();
        let cells = cells.row(0);
        assert!(cells[1] > 4.0 && cells[2] > 4.0 && cells[3] < 2.0, "{cells:?}");
        assert_eq!(cells[0], 0.0, "a place is no question");
        let largest = cells[1].max(cells[2]);
        assert!((judged.scores[0] - largest - SECOND * cells[1].min(cells[2])).abs() < 1e-12);
    }

    #[test] // Empty in 3 of 200 rows: ln(200/3) + ln(197/3)/√3 by itself, and no value to be surprised by.
    fn an_empty_cell_is_surprising_where_cells_are_seldom_empty() {
        let mut stream = Seed(3).stream("table", &[]);
        let rows: Vec<[f64; 2]> =
            (0..200).map(|row| if row < 3 { [0.0, 8.0] } else { [stream.normal(), -0.1] }).collect();
        let group = group(0..2, &[Role::Number, Role::Flag], Some(1));
        let rows = Matrix::from_rows(&rows).with_layout(Arc::new(Layout(vec![group])));
        let fitted = ColumnsParams::default().build().unwrap().fit(&rows, &Context::silent(Seed(1))).unwrap();
        let cells = fitted.judge(&rows.slice(0..1), true).unwrap().cells.unwrap();
        assert_eq!(cells.row(0)[0], 0.0);
        let expected = (200f64 / 3.0).ln() + (197f64 / 3.0).ln() / 3f64.sqrt();
        assert!((cells.row(0)[1] - expected).abs() < 1e-12, "{:?}", cells.row(0));
    }

    #[test] // 300 rows with level = partner; one row has another level, whose pair was never seen.
    fn a_pair_that_was_never_seen_is_surprising() {
        let rows: Vec<[f64; 2]> = (0..300).map(|row| [f64::from(row % 7); 2]).collect();
        let layout = Layout(vec![group(0..1, &[Role::Level], None), group(1..2, &[Role::Level], None)]);
        let rows = Matrix::from_rows(&rows).with_layout(Arc::new(layout));
        let fitted = ColumnsParams::default().build().unwrap().fit(&rows, &Context::silent(Seed(1))).unwrap();
        let scores = fitted.score(&Matrix::from_rows(&[[2.0, 2.0], [2.0, 3.0]])).unwrap();
        assert!(scores[0] < 1.0 && scores[1] > 5.0, "{scores:?}");
    }

    #[test] // The position in time is asked about, but predicts nothing in a model for later tables.
    fn a_model_does_not_count_on_the_position_in_time() {
        let rows: Vec<[f64; 2]> = (0..400).map(|row| [f64::from(row) / 100.0, f64::from(row / 40)]).collect();
        let layout = Layout(vec![group(0..1, &[Role::Time], None), group(1..2, &[Role::Number], None)]);
        let rows = Matrix::from_rows(&rows).with_layout(Arc::new(layout));
        let score = |times| {
            let detector = ColumnsParams { times, ..ColumnsParams::default() }.build().unwrap();
            let fitted = detector.fit(&rows, &Context::silent(Seed(1))).unwrap();
            fitted.score(&Matrix::from_rows(&[[0.0, 9.0]])).unwrap()[0]
        };
        assert!(score(Some(true)) > score(None) + 1.0, "{} {}", score(Some(true)), score(None));
    }
}
