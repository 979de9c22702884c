//! Bytes become choices, numbers and names: how a fuzzer writes a table.

/// The rest of an input. Behind its end there are zeros.
#[derive(Debug)]
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    /// A number below `n`, which is at most 256.
    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    /// One of some choices.
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// The next bytes, as many as there are.
    pub fn bytes(&mut self, n: usize) -> &'a [u8] {
        let (first, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        first
    }

    /// Any number, also one that is none.
    pub fn bits(&mut self) -> f64 {
        let mut bytes = [0; 8];
        bytes.iter_mut().for_each(|byte| *byte = self.byte());
        f64::from_le_bytes(bytes)
    }

    /// A number: most are small, some extreme.
    pub fn number(&mut self) -> f64 {
        const EXTREME: [f64; 12] = [
            0.0,
            -0.0,
            1e-300,
            -1e-300,
            f64::MIN_POSITIVE,
            5e-324,
            1e18,
            -1e18,
            1e300,
            f64::MAX,
            f64::MIN,
            9_007_199_254_740_993.0,
        ];
        match self.byte() {
            0..=19 => self.of(&EXTREME),
            20..=29 => Some(self.bits()).filter(|number| number.is_finite()).unwrap_or(1.0),
            small => f64::from(small) - 128.0 + f64::from(self.byte()) / 64.0,
        }
    }
}
