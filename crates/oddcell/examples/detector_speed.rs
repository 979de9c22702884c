//! For `benchmarks/detectors`: `detector_speed NAME TRAIN.npy TEST.npy THREADS SCORES.npy [KEY=VALUE…]` fits
//! a detector to one matrix, scores another, writes the scores and prints the seconds for both.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark reads the clock and prints")]

use std::{error::Error, fs::File, io::BufReader, time::Instant};

use npyz::WriterBuilder;
use oddcell::{Context, DetectorSpec, Matrix, Seed};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, train, test, threads, scores_path, settings @ ..] = arguments.as_slice() else {
        return Err("usage: detector_speed NAME TRAIN.npy TEST.npy THREADS SCORES.npy [KEY=VALUE…]".into());
    };
    let mut spec = DetectorSpec::new(name, None)?;
    for setting in settings {
        let (key, value) = setting.split_once('=').ok_or("KEY=VALUE")?;
        spec.set_text(key, value)?;
    }
    let (train, test) = (read(train)?, read(test)?);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build()?;
    let detector = spec.build()?;
    let start = Instant::now();
    let fitted = pool.install(|| detector.fit(&train, &Context::silent(Seed(1))))?;
    let fit = start.elapsed();
    let start = Instant::now();
    let scores = pool.install(|| fitted.score(&test))?;
    let score = start.elapsed();
    let file = std::io::BufWriter::new(File::create(scores_path)?);
    let mut writer =
        npyz::WriteOptions::new().default_dtype().shape(&[scores.len() as u64]).writer(file).begin_nd()?;
    writer.extend(scores)?;
    writer.finish()?;
    println!("{:.6} {:.6}", fit.as_secs_f64(), score.as_secs_f64());
    Ok(())
}

fn read(path: &str) -> Result<Matrix, Box<dyn Error>> {
    let file = npyz::NpyFile::new(BufReader::new(File::open(path)?))?;
    let [n_rows, n_cols] = *file.shape() else { return Err(format!("{path} is not a matrix").into()) };
    Ok(Matrix::new(file.into_vec()?, n_rows as usize, n_cols as usize))
}
