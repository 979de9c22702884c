//! One step of the descent: the forces between all points, and how points follow them.

use rayon::prelude::*;

/// Gains never fall below this.
const LEAST_GAIN: f64 = 0.01;
/// Independent partial sums: the compiler may not reorder additions, and a single sum would wait for itself.
const LANES: usize = 4;

/// The forces of other points on one: Σ p w (y − yⱼ), Σ w² (y − yⱼ) and Σ w, each in `LANES` partial sums.
#[derive(Default)]
struct Forces {
    attraction: [[f64; LANES]; 2],
    repulsion: [[f64; LANES]; 2],
    weights: [f64; LANES],
}

impl Forces {
    /// Adds the forces of some points on the point at `place`.
    fn add(&mut self, place: (f64, f64), p: &[f64], x: &[f64], y: &[f64]) {
        let whole = p.len() - p.len() % LANES;
        let chunks = p.chunks_exact(LANES).zip(x.chunks_exact(LANES)).zip(y.chunks_exact(LANES));
        for ((p, x), y) in chunks {
            for lane in 0..LANES {
                self.add_one(lane, place, p[lane], (x[lane], y[lane]));
            }
        }
        for j in whole..p.len() {
            self.add_one(j - whole, place, p[j], (x[j], y[j]));
        }
    }

    #[inline(always)]
    fn add_one(&mut self, lane: usize, place: (f64, f64), p: f64, other: (f64, f64)) {
        let (dx, dy) = (place.0 - other.0, place.1 - other.1);
        let w = 1.0 / (1.0 + dx * dx + dy * dy);
        let (pull, push) = (p * w, w * w);
        self.attraction[0][lane] += pull * dx;
        self.attraction[1][lane] += pull * dy;
        self.repulsion[0][lane] += push * dx;
        self.repulsion[1][lane] += push * dy;
        self.weights[lane] += w;
    }
}

/// The gradient of the loss at every point, with p multiplied by `exaggeration`.
pub(super) fn gradient(p: &[f64], x: &[f64], y: &[f64], exaggeration: f64) -> Vec<(f64, f64)> {
    let n = x.len();
    let on_point = |(i, p): (usize, &[f64])| {
        let mut forces = Forces::default();
        // The point itself is left out: its own weight of 1 would drown those of far points.
        forces.add((x[i], y[i]), &p[..i], &x[..i], &y[..i]);
        forces.add((x[i], y[i]), &p[i + 1..], &x[i + 1..], &y[i + 1..]);
        forces
    };
    let forces: Vec<Forces> = p.par_chunks_exact(n).enumerate().map(on_point).collect();
    // Summed in row order, so that the result does not depend on the threads.
    let total: f64 = forces.iter().flat_map(|forces| forces.weights).sum();
    let slope = |forces: &Forces, axis: usize| {
        let (attraction, repulsion) = (forces.attraction[axis].iter(), forces.repulsion[axis].iter());
        4.0 * (exaggeration * attraction.sum::<f64>() - repulsion.sum::<f64>() / total)
    };
    forces.iter().map(|forces| (slope(forces, 0), slope(forces, 1))).collect()
}

/// Speed and gain of one coordinate of all points.
pub(super) struct Descent {
    speeds: Vec<f64>,
    gains: Vec<f64>,
}

impl Descent {
    pub(super) fn new(n: usize) -> Self {
        Self { speeds: vec![0.0; n], gains: vec![1.0; n] }
    }

    /// Takes one step down the slopes. A gain grows while slope and speed agree on the direction, and shrinks
    /// otherwise. Then the points are centered; the loss does not depend on where they are.
    pub(super) fn step(
        &mut self,
        places: &mut [f64],
        slopes: impl Iterator<Item = f64>,
        rate: f64,
        momentum: f64,
    ) {
        for (((place, speed), gain), slope) in
            places.iter_mut().zip(&mut self.speeds).zip(&mut self.gains).zip(slopes)
        {
            *gain = if (slope > 0.0) == (*speed > 0.0) { *gain * 0.8 } else { *gain + 0.2 };
            *gain = gain.max(LEAST_GAIN);
            *speed = momentum * *speed - rate * *gain * slope;
            *place += *speed;
        }
        let mean = places.iter().sum::<f64>() / places.len() as f64;
        for place in places.iter_mut() {
            *place -= mean;
        }
    }
}
