//! How long cycles took, in swaps and outside.

use serde::Serialize;

/// Samples in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Latencies {
    inside: Vec<u64>,
    outside: Vec<u64>,
}

impl Latencies {
    pub fn add(&mut self, in_swap: bool, nanoseconds: u64) {
        match in_swap {
            true => self.inside.push(nanoseconds),
            false => self.outside.push(nanoseconds),
        }
    }

    pub fn inside(&self) -> Quantiles {
        Quantiles::of(&self.inside)
    }

    pub fn outside(&self) -> Quantiles {
        Quantiles::of(&self.outside)
    }
}

/// Latencies of scheduling cycles, in microseconds; zeros if there were none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Quantiles {
    /// How many cycles.
    pub cycles: usize,
    /// Half of them took at most this.
    pub p50_microseconds: f64,
    /// 99 of 100.
    pub p99_microseconds: f64,
    /// The slowest.
    pub max_microseconds: f64,
}

impl Quantiles {
    fn of(samples: &[u64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable();
        let at = |part: usize| {
            let index = (sorted.len() * part).div_ceil(100).saturating_sub(1);
            sorted
                .get(index)
                .map_or(0.0, |&sample| sample as f64 / 1_000.0)
        };
        Self {
            cycles: sorted.len(),
            p50_microseconds: at(50),
            p99_microseconds: at(99),
            max_microseconds: at(100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_by_nearest_rank() {
        let samples: Vec<u64> = (1..=200).rev().map(|n| n * 1_000).collect();
        let quantiles = Quantiles::of(&samples);
        assert_eq!(
            (quantiles.p50_microseconds, quantiles.p99_microseconds),
            (100.0, 198.0)
        );
        assert_eq!(quantiles.max_microseconds, 200.0);
        assert_eq!(Quantiles::of(&[]), Quantiles::default());
    }
}
