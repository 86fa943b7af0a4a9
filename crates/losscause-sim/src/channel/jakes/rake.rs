//! A RAKE receiver's signal-to-interference ratio in a direct-sequence CDMA uplink with perfect
//! power control on average.
//!
//! Each resolved path is a finger; maximal ratio combining weights a finger by its gain over its
//! interference, so that the combined ratio of energy to interference density per coded bit is
//!
//! ```text
//! γ = Σ_l p_l |a_l|² / I_l,    1 = Σ_l p_l
//! I_l = N0/E_s + c (U - 1)/G  [ + c (Σ_k p_k |a_k|² - p_l |a_l|²)/G with self-interference ]
//! ```
//!
//! where E_s is the energy of a coded bit, U the number of users, G the spreading gain in chips per
//! coded bit, and other users' signals are taken as Gaussian noise (Pursley 1977): c = 2/3 for
//! chips that arrive at any time, 1 for chips in step with any carrier phase, 2 for chips and
//! carriers in step.

use super::Parameters;

#[derive(Clone, Debug)]
pub(super) struct Rake {
    /// Share of the mean received power on each path.
    powers: Vec<f64>,
    /// Noise and other users, relative to the energy of a coded bit.
    noise: f64,
    /// Interference per unit of own power on another path.
    own: f64,
    /// The receiver's implementation loss, as a factor.
    efficiency: f64,
}

impl Rake {
    /// For parameters that have been checked.
    pub(super) fn new(parameters: &Parameters) -> Self {
        let decay = libm::exp10(-parameters.path_decay_db / 10.0);
        let powers: Vec<f64> =
            (0..parameters.paths).map(|path| libm::pow(decay, f64::from(path))).collect();
        let total: f64 = powers.iter().sum();
        let per_chip = parameters.alignment.factor() / parameters.chips_per_coded_bit();
        Self {
            powers: powers.iter().map(|power| power / total).collect(),
            noise: 1.0 / parameters.coded_bit_to_noise()
                + per_chip * f64::from(parameters.users - 1),
            own: if parameters.self_interference { per_chip } else { 0.0 },
            efficiency: libm::exp10(-parameters.implementation_loss_db / 10.0),
        }
    }

    /// The combined ratio for these gains, one per path.
    pub(super) fn combine(&self, gains: &[[f64; 2]]) -> f64 {
        let power =
            |(share, gain): (&f64, &[f64; 2])| share * (gain[0] * gain[0] + gain[1] * gain[1]);
        let all: f64 = self.powers.iter().zip(gains).map(power).sum();
        let finger = |path| {
            let power = power(path);
            power / (self.noise + self.own * (all - power))
        };
        self.efficiency * self.powers.iter().zip(gains).map(finger).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::jakes::uplink::tests::table_one;
    use crate::channel::jakes::{Alignment, EnergyOn, Unit};

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-4, "{found} instead of {expected}");
    }

    #[test]
    fn noise_other_users_and_own_paths_add_up() {
        let all_paths_at_their_mean = [[1.0, 0.0]; 4];
        let mut parameters = table_one();
        parameters.implementation_loss_db = 0.0;
        parameters.self_interference = false;
        // 4 dB = 2.5119 per coded bit on each of four paths; four others of 2/3 over 16 chips:
        // 0.099527 + 0.166667.
        near(Rake::new(&parameters).combine(&all_paths_at_their_mean), 1.0 / 0.266_194);
        // The three other paths have three quarters of the own power: 2/3 / 16 * 3/4 = 0.03125
        // more.
        parameters.self_interference = true;
        near(Rake::new(&parameters).combine(&all_paths_at_their_mean), 1.0 / 0.297_444);
        // A tenth of the total.
        parameters.implementation_loss_db = 10.0;
        near(Rake::new(&parameters).combine(&all_paths_at_their_mean), 0.1 / 0.297_444);
    }

    #[test]
    fn readings_of_energy_spreading_and_alignment_are_factors() {
        let mut parameters = table_one();
        parameters.implementation_loss_db = 0.0;
        parameters.self_interference = false;
        parameters.users = 1;
        parameters.energy_of = Unit::Bit;
        parameters.energy_on = EnergyOn::AllPaths;
        near(Rake::new(&parameters).combine(&[[1.0, 0.0]; 4]), 2.511_886 / 2.0);
        // One other user, and negligible noise.
        parameters.users = 2;
        parameters.eb_n0_db = 100.0;
        near(Rake::new(&parameters).combine(&[[1.0, 0.0]; 4]), 24.0);
        parameters.alignment = Alignment::Synchronous;
        near(Rake::new(&parameters).combine(&[[1.0, 0.0]; 4]), 8.0);
        parameters.chips_of = Unit::Bit;
        near(Rake::new(&parameters).combine(&[[1.0, 0.0]; 4]), 4.0);
    }

    #[test]
    fn a_decaying_profile_keeps_the_total_power() {
        let mut parameters = table_one();
        parameters.self_interference = false;
        let equal = Rake::new(&parameters).combine(&[[0.6, 0.8]; 4]);
        parameters.path_decay_db = 3.0;
        let decaying = Rake::new(&parameters);
        near(decaying.combine(&[[0.6, 0.8]; 4]), equal);
        near(decaying.powers[0] / decaying.powers[2], 10.0_f64.powf(0.6));
    }
}
