//! For `benchmarks/speed`: `speed WHAT NET WIDTH THREADS SECONDS` prints a rate per second.
//!
//! | what | counted |
//! |---|---|
//! | train | rows trained: paper preset, batch 256, three noised copies; each copy of a row counts |
//! | products | the same rows, but only the matrix products of a training step |
//! | noise | cells that got noise, including levels, ratios and targets |
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark reads the clock and prints")]

use std::{
    hint::black_box,
    process::exit,
    sync::Mutex,
    time::{Duration, Instant},
};

use oddcell::{
    Context, DetectorSpec, Matrix, Monitor, Progress, Seed,
    detect::noise::NoiseParams,
    net::{
        Net,
        gemm::{Edge, OuterScratch, Panels, add_outer_products, padded, rows_times_panels},
    },
    noise::{Extremes, PaddedRows, Scratch, Shard},
};

/// The rows of a batch without noised copies, and the rows of a shard.
const BATCH_ROWS: usize = 256;
const SHARD_ROWS: usize = 64;
/// A row counts once clean and once for each noised copy.
const COPIES: usize = 4;
/// How long to run before measuring.
const WARM_UP: Duration = Duration::from_millis(100);

struct Job {
    spec: DetectorSpec,
    width: usize,
    n_threads: usize,
    time: Duration,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, net, width, threads, seconds] = arguments.as_slice() else {
        return Err("usage: speed train|products|noise mlp|resmlp WIDTH THREADS SECONDS".into());
    };
    let mut spec = DetectorSpec::new("noise", Some("paper"))?;
    spec.set_text("train_for", "1000000 epochs")?;
    spec.set_text("net", net)?;
    let time = Duration::from_secs_f64(seconds.parse()?);
    let job = Job { spec, width: width.parse()?, n_threads: threads.parse()?, time };
    match what.as_str() {
        "train" => job.train()?,
        "products" => {
            let params = NoiseParams::of(&job.spec).ok_or("the parameters of noise")?;
            let net = params.net(job.width);
            job.count(BATCH_ROWS * COPIES, || {
                let mut layers = Products::of(&net);
                move || layers.iter_mut().for_each(Products::run)
            })?;
        }
        "noise" => {
            let noise = job.spec.noise().ok_or("it trains without noise")?;
            job.count(SHARD_ROWS * noise.ratios.len() * job.width, || {
                let mut values = normals(SHARD_ROWS * padded(job.width));
                values.chunks_exact_mut(padded(job.width)).for_each(|row| row[job.width..].fill(0.0));
                let mut filled = vec![0.0; noise.rows_for(SHARD_ROWS) * padded(job.width)];
                let mut targets = filled.clone();
                let (mut scratch, noise) = (Scratch::default(), noise.clone());
                let rows: Vec<u32> = (0..SHARD_ROWS as u32).collect();
                let (stride, width, mut epoch_key) = (padded(job.width), job.width, 0);
                move || {
                    let data = PaddedRows { values: &values, stride, width };
                    let shard = Shard { data, rows: &rows, extremes: &Extremes::default(), epoch_key };
                    noise.fill(shard, &mut filled, &mut targets, &mut scratch);
                    epoch_key += 1;
                }
            })?;
        }
        unknown => return Err(format!("`{unknown}` is not train, products or noise").into()),
    }
    Ok(())
}

impl Job {
    /// Trains until the time is up and prints the rate.
    fn train(&self) -> Result<(), Box<dyn std::error::Error>> {
        let n_rows = BATCH_ROWS * 40;
        let values = normals(n_rows * self.width).iter().map(|&cell| f64::from(cell)).collect();
        let rows = Matrix::new(values, n_rows, self.width);
        let clock = Clock { time: self.time, begun: Instant::now(), counted: Mutex::new(None) };
        let detector = self.spec.build()?;
        let context = Context { seed: Seed(1), monitor: &clock };
        let fit = || detector.fit(&rows, &context).map(|_| ());
        Ok(rayon::ThreadPoolBuilder::new().num_threads(self.n_threads).build()?.install(fit)?)
    }

    /// Prints the rate of all threads together. Each works independently; a call of `work` does `n` units.
    fn count<W: FnMut()>(
        &self,
        n: usize,
        work: impl Fn() -> W + Sync,
    ) -> Result<(), rayon::ThreadPoolBuildError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.n_threads).build()?;
        let rates = pool.broadcast(|_| {
            let mut work = work();
            let begun = Instant::now();
            while begun.elapsed() < WARM_UP {
                work();
            }
            let (start, mut n_calls) = (Instant::now(), 0);
            while start.elapsed() < self.time {
                work();
                n_calls += 1;
            }
            f64::from(n_calls) / start.elapsed().as_secs_f64()
        });
        println!("{:.0}", rates.iter().sum::<f64>() * n as f64);
        Ok(())
    }
}

/// Counts steps after the warm-up and ends the program when the time is up.
struct Clock {
    time: Duration,
    begun: Instant,
    counted: Mutex<Option<(Instant, usize)>>,
}

impl Monitor for Clock {
    fn advanced(&self, _: Progress) {}

    fn wants_state(&self, done: usize, _: usize) -> bool {
        let mut counted = self.counted.lock().expect("no panic while counting");
        match *counted {
            None if self.begun.elapsed() >= WARM_UP => *counted = Some((Instant::now(), done)),
            Some((start, first)) if start.elapsed() >= self.time => {
                let rows = (done - first) * BATCH_ROWS * COPIES;
                println!("{:.0}", rows as f64 / start.elapsed().as_secs_f64());
                exit(0);
            }
            _ => {}
        }
        false
    }
}

fn normals(n: usize) -> Vec<f32> {
    let mut stream = Seed(1).stream("cells", &[]);
    (0..n).map(|_| stream.normal() as f32).collect()
}

/// The products of one layer in a training step, with their own buffers.
struct Products {
    inputs: usize,
    outputs: usize,
    is_first: bool,
    forward: Panels,
    backward: Panels,
    x: Vec<f32>,
    y: Vec<f32>,
    x_delta: Vec<f32>,
    y_delta: Vec<f32>,
    gradient: Vec<f32>,
    scratch: OuterScratch,
}

impl Products {
    fn of(net: &Net) -> Vec<Self> {
        let rows = SHARD_ROWS * COPIES;
        let layer = |(index, layer): (usize, &oddcell::net::Layer)| {
            let (inputs, outputs) = (layer.inputs, layer.outputs);
            let weights = normals(inputs * padded(outputs));
            let (mut forward, mut backward) =
                (Panels::zeros(inputs, outputs), Panels::zeros(outputs, inputs));
            forward.pack(&weights, padded(outputs));
            backward.pack_transposed(&weights, inputs, padded(outputs));
            Self {
                inputs,
                outputs,
                is_first: index == 0,
                forward,
                backward,
                x: normals(rows * padded(inputs)),
                y: vec![0.0; rows * padded(outputs)],
                x_delta: vec![0.0; rows * padded(inputs)],
                y_delta: normals(rows * padded(outputs)),
                gradient: vec![0.0; inputs * padded(outputs)],
                scratch: OuterScratch::default(),
            }
        };
        net.layers().iter().enumerate().map(layer).collect()
    }

    /// Computes the products of a batch, one shard at a time.
    fn run(&mut self) {
        let (x_stride, y_stride) = (padded(self.inputs), padded(self.outputs));
        for _ in 0..BATCH_ROWS / SHARD_ROWS {
            let (x, y_delta, n_rows) = (black_box(&self.x), black_box(&self.y_delta), SHARD_ROWS * COPIES);
            rows_times_panels(x, n_rows, x_stride, &self.forward, Store(&mut self.y, y_stride));
            if !self.is_first {
                rows_times_panels(
                    y_delta,
                    n_rows,
                    y_stride,
                    &self.backward,
                    Store(&mut self.x_delta, x_stride),
                );
            }
            let (gradient, scratch) = (&mut self.gradient, &mut self.scratch);
            add_outer_products(x, x_stride, self.inputs, y_delta, y_stride, gradient, scratch);
        }
    }
}

/// Stores sums in rows of this many cells.
struct Store<'a>(&'a mut [f32], usize);

impl Edge for Store<'_> {
    #[inline(always)]
    fn start<const N: usize>(&self, _: usize, _: usize) -> [f32; N] {
        [0.0; N]
    }

    #[inline(always)]
    fn finish<const N: usize>(&mut self, row: usize, column: usize, sums: [f32; N]) {
        self.0[row * self.1 + column..][..N].copy_from_slice(&sums);
    }
}
