//! How often and in which bursts a pattern loses packets.

use serde::{Deserialize, Serialize};

/// The statistics of a pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Packets sent.
    pub packets: usize,
    /// Packets lost.
    pub lost: usize,
    /// Bits that were wrong after decoding.
    pub wrong_bits: u64,
    /// Share of packets lost.
    pub loss: f64,
    /// Share of information bits that were wrong.
    pub bit_error_rate: f64,
    /// Wrong bits per lost packet; none if no packet was lost.
    pub wrong_bits_per_lost_packet: Option<f64>,
    /// How many loss events took 1, 2, 3, … packets in a row.
    pub bursts: Vec<usize>,
    /// Mean number of packets in a loss event; none if there was none.
    pub mean_burst_packets: Option<f64>,
    /// Share of loss events that took two packets; none if there was none.
    pub two_packet_events: Option<f64>,
}

impl Statistics {
    /// The statistics of `trials`. Each trial lists the wrong bits of each packet; a packet has
    /// `packet_bits` bits. A burst of losses ends with its trial.
    pub fn of(trials: &[Vec<u32>], packet_bits: u32) -> Self {
        let packets = trials.iter().map(Vec::len).sum();
        let wrong_bits: u64 = trials.iter().flatten().map(|&wrong| u64::from(wrong)).sum();
        let mut bursts = Vec::new();
        for run in trials.iter().flat_map(|trial| trial.chunk_by(|a, b| (*a > 0) == (*b > 0))) {
            if run[0] > 0 {
                bursts.resize(bursts.len().max(run.len()), 0);
                bursts[run.len() - 1] += 1;
            }
        }
        let events: usize = bursts.iter().sum();
        let lost = bursts.iter().zip(1..).map(|(events, length)| events * length).sum();
        let share = |part: f64, whole: usize| (whole > 0).then(|| part / whole as f64);
        Self {
            packets,
            lost,
            wrong_bits,
            loss: share(lost as f64, packets).unwrap_or(0.0),
            bit_error_rate: share(wrong_bits as f64, packets * packet_bits as usize).unwrap_or(0.0),
            wrong_bits_per_lost_packet: share(wrong_bits as f64, lost),
            mean_burst_packets: share(lost as f64, events),
            two_packet_events: share(bursts.get(1).copied().unwrap_or(0) as f64, events),
            bursts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_end_with_their_trial() {
        // Lost: 1 | 2 | 1, and a burst that ends with the trial beside one that begins with the
        // next.
        let trials = [vec![0, 4, 0, 1, 2, 0, 0, 0, 0, 3], vec![5, 0, 0, 0, 0, 0, 0, 0, 0, 0]];
        let found = Statistics::of(&trials, 100);
        assert_eq!((found.packets, found.lost, found.wrong_bits), (20, 5, 15));
        assert_eq!(found.bursts, [3, 1]);
        assert_eq!((found.loss, found.bit_error_rate), (0.25, 15.0 / 2000.0));
        assert_eq!(found.wrong_bits_per_lost_packet, Some(3.0));
        assert_eq!((found.mean_burst_packets, found.two_packet_events), (Some(1.25), Some(0.25)));
    }

    #[test]
    fn nothing_lost_has_no_bursts() {
        let found = Statistics::of(&[vec![0; 5]], 8);
        assert_eq!(
            (found.loss, found.mean_burst_packets, found.two_packet_events),
            (0.0, None, None)
        );
    }
}
