//! Statistics of repeated samples.

/// Maximum number of samples of a measurement.
pub const MAX_SAMPLES: usize = 32;

/// What a reader needs of a set of samples, in their unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// The sample in the middle of the sorted samples; of an even number, the lower of the two in the middle.
    pub median: u64,
    /// The smallest sample.
    pub min: u64,
    /// The largest sample.
    pub max: u64,
    /// The distance of the largest sample from the smallest, in thousandths of the median, rounded down.
    pub spread: u64,
}

impl Statistics {
    /// Returns the statistics of at most [`MAX_SAMPLES`] samples; `None` if there are none, more, or if the median
    /// is zero.
    pub fn of(samples: &[u64]) -> Option<Self> {
        let mut room = [0; MAX_SAMPLES];
        let sorted = room.get_mut(..samples.len())?;
        sorted.copy_from_slice(samples);
        sorted.sort_unstable();
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let median = *sorted.get((sorted.len() - 1) / 2)?;
        let spread = (max - min).saturating_mul(1000).checked_div(median)?;
        Some(Self { median, min, max, spread })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_a_sample_and_the_spread_is_relative_to_it() {
        let all = Statistics::of(&[30, 10, 20, 40]).unwrap();
        assert_eq!(all, Statistics { median: 20, min: 10, max: 40, spread: 1500 });
        assert_eq!(Statistics::of(&[7]).unwrap().spread, 0);
    }

    #[test]
    fn nothing_is_made_of_no_samples_of_too_many_or_of_zeros() {
        assert_eq!(Statistics::of(&[]), None);
        assert_eq!(Statistics::of(&[0, 0, 1]), None);
        assert_eq!(Statistics::of(&[1; MAX_SAMPLES + 1]), None);
    }
}
