//! Rows trained per second, for `benchmarks/`: `train_speed WIDTH SECONDS THREADS [mlp|resmlp]`.
//!
//! Paper preset, batch 256, three noised copies; a row counts once clean and once per copy, noise included.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark reads the clock and prints")]

use std::{sync::Mutex, time::Instant};

use oddcell::{Context, DetectorSpec, Matrix, Monitor, Progress, Seed};

/// Counts steps between two moments, and stops the training after the last.
struct Clock {
    seconds: f64,
    marks: Mutex<Option<(Instant, usize, f64)>>,
}

/// Steps that warm up and are not counted.
const WARM_UP: usize = 100;

impl Monitor for Clock {
    fn advanced(&self, progress: Progress) {
        let mut marks = self.marks.lock().expect("no panic while counting");
        match &mut *marks {
            None if progress.done >= WARM_UP => *marks = Some((Instant::now(), progress.done, 0.0)),
            Some((start, first, rate)) => {
                *rate = (progress.done - *first) as f64 / start.elapsed().as_secs_f64();
            }
            None => {}
        }
    }

    fn cancelled(&self) -> bool {
        let marks = self.marks.lock().expect("no panic while counting");
        marks.as_ref().is_some_and(|(start, _, _)| start.elapsed().as_secs_f64() > self.seconds)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [width, seconds, threads, net @ ..] = arguments.as_slice() else {
        return Err("usage: train_speed WIDTH SECONDS THREADS [mlp|resmlp]".into());
    };
    let width: usize = width.parse()?;
    let n_rows = 256 * 40;
    let mut stream = Seed(1).stream("rows", &[]);
    let rows = Matrix::new((0..n_rows * width).map(|_| stream.normal()).collect(), n_rows, width);
    let mut spec = DetectorSpec::new("noise", Some("paper"))?;
    spec.set_text("budget", "1000000 epochs")?;
    spec.set_text("net", net.first().map_or("mlp", String::as_str))?;
    let clock = Clock { seconds: seconds.parse()?, marks: Mutex::new(None) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build()?;
    let detector = spec.build()?;
    let outcome = pool.install(|| detector.fit(&rows, &Context { seed: Seed(1), monitor: &clock }));
    let (_, _, steps) = clock.marks.into_inner()?.ok_or("too short to count")?;
    println!("{:.0}", steps * 1024.0);
    drop(outcome);
    Ok(())
}
