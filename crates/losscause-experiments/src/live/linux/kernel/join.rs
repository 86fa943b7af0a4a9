//! The programs' verdicts with the true causes of the drops: M_c and M_w.
//!
//! A verdict names the first lost byte and a number of packets; the emulator's drops have their
//! sequence numbers. A packet that was judged is the last one with its number that the link lost
//! before the verdict. A loss without such a verdict (the handshake, a retransmission that was lost
//! too, the tail that a timeout repaired) is left out, as in the simulator.

use std::collections::{HashMap, HashSet};

use losscause::Verdict;
use losscause_linux::kernel::{VerdictRecord, Why};
use losscause_sim::VerdictTally;
use losscause_sim::truth::Cause;

use super::crossing::Loss;

/// A lost packet and the verdict on it.
struct Joined {
    port: u16,
    cause: Cause,
    verdict: &'static str,
}

/// Joins the verdicts on the connections from these ports. Both lists are in the order of time.
pub(super) fn verdicts(
    losses: &[Loss],
    records: &[VerdictRecord],
    of: impl Fn(u16) -> bool,
) -> VerdictTally {
    let mut by_number: HashMap<(u16, u32), Vec<usize>> = HashMap::new();
    for (index, loss) in losses.iter().enumerate() {
        by_number.entry((loss.port, loss.seq)).or_default().push(index);
    }
    let full = losses.iter().map(|loss| loss.payload_bytes).max().unwrap_or_default();
    let mut judged: HashSet<usize> = HashSet::new();
    let mut joined: Vec<Joined> = Vec::new();
    for record in records.iter().filter(|record| of(record.local.port())) {
        let port = record.local.port();
        if record.judged.why == Why::Timeout {
            revise(&mut joined, port, record.packets);
            continue;
        }
        let Some(mut seq) = record.seq else { continue };
        for _ in 0..record.packets {
            let with_number = by_number.get(&(port, seq)).into_iter().flatten();
            let found = with_number.rev().find(|index| losses[**index].came < record.time);
            let bytes = found.map_or(full, |index| losses[*index].payload_bytes);
            if let Some(index) = found.filter(|index| judged.insert(**index)) {
                joined.push(Joined {
                    port,
                    cause: losses[*index].cause,
                    verdict: record.judged.verdict,
                });
            }
            seq = seq.wrapping_add(bytes);
        }
    }
    let mut tally = VerdictTally::default();
    for one in &joined {
        tally.of(one.cause).count(match one.verdict {
            WIRELESS => Verdict::Wireless,
            CONGESTION => Verdict::Congestion,
            _ => Verdict::Undecided,
        });
    }
    tally
}

const WIRELESS: &str = "wireless";
const CONGESTION: &str = "congestion";

/// A timeout: the newest losses of the connection that were called wireless, this many, are
/// congestion.
fn revise(joined: &mut [Joined], port: u16, packets: u32) {
    let newest = joined.iter_mut().rev().filter(|one| one.port == port && one.verdict == WIRELESS);
    newest.take(packets as usize).for_each(|one| one.verdict = CONGESTION);
}

#[cfg(test)]
mod tests {
    use losscause::{Span, Time};
    use losscause_linux::emulator::{PEER, SENDER};
    use losscause_linux::kernel::Judged;

    use super::*;

    fn at(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn loss(ms: i64, seq: u32, cause: Cause) -> Loss {
        Loss { port: 40_000, seq, payload_bytes: 1_448, came: at(ms), cause }
    }

    fn verdict(
        ms: i64,
        seq: Option<u32>,
        packets: u32,
        verdict: &'static str,
        why: Why,
    ) -> VerdictRecord {
        VerdictRecord {
            time: at(ms),
            local: (SENDER, 40_000).into(),
            remote: (PEER, 5_001).into(),
            netns: 1,
            seq,
            packets,
            judged: Judged { verdict, why, measured: 0, limit: 0, safeguard: None },
        }
    }

    #[test]
    fn packets_of_a_gap_have_their_own_causes() {
        let losses = [
            loss(0, 0, Cause::Wireless),
            loss(1, 1_448, Cause::Congestion),
            loss(2, 2_896, Cause::Wireless),
        ];
        let records = [
            verdict(50, Some(0), 2, "wireless", Why::Rule),
            verdict(50, Some(2_896), 1, "congestion", Why::Rule),
        ];
        let judged = verdicts(&losses, &records, |_| true);
        assert_eq!((judged.m_c(), judged.m_w()), (Some(1.0), Some(0.5)));
    }

    #[test]
    fn a_packet_lost_twice_counts_once_before_its_verdict() {
        let losses = [loss(0, 0, Cause::Wireless), loss(90, 0, Cause::Congestion)];
        let first = verdict(50, Some(0), 1, "wireless", Why::Rule);
        let again = verdict(60, Some(0), 1, "congestion", Why::Rule);
        assert_eq!(verdicts(&losses, &[first, again], |_| true).m_w(), Some(0.0));
        assert_eq!(verdicts(&losses, &[first], |_| true).m_c(), None);
    }

    #[test]
    fn a_timeout_takes_back_the_newest_wireless_verdicts() {
        let losses: Vec<Loss> =
            (0..4).map(|n| loss(n, n as u32 * 1_448, Cause::Congestion)).collect();
        let records = [
            verdict(50, Some(0), 4, "wireless", Why::Rule),
            verdict(50, None, 3, "congestion", Why::Timeout),
        ];
        assert_eq!(verdicts(&losses, &records, |_| true).m_c(), Some(0.25));
    }

    #[test]
    fn undecided_losses_are_judged_no_error_and_the_unlost_left_out() {
        let losses = [loss(0, 0, Cause::Wireless)];
        let records = [
            verdict(50, Some(0), 1, "undecided", Why::Rule),
            verdict(50, Some(99), 1, "congestion", Why::Rule),
            verdict(50, None, 2, "congestion", Why::NoGap),
        ];
        assert_eq!(verdicts(&losses, &records, |_| true).m_w(), Some(0.0));
        assert_eq!(verdicts(&losses, &records, |port| port == 1), VerdictTally::default());
    }
}
