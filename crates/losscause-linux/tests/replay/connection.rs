//! `lc_spike` as a whole on one connection. Where its round-trip time stands still, every loss is
//! wireless by its rule.

use std::fmt::Write;
use std::sync::OnceLock;

use losscause_linux::kernel::{Algorithm, algorithm};

use crate::host::Host;

pub(crate) const MSS: u32 = 1_000;
pub(crate) const RTT_US: u64 = 40_000;

/// What a program logs of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Logged {
    pub(crate) verdict: u32,
    pub(crate) reason: u32,
    pub(crate) pkts: u32,
    /// The number of the first packet; none if the program does not know it.
    pub(crate) first: Option<u32>,
}

/// `enum lc_verdict` and `enum lc_reason` of `bpf/verdict.h`.
pub(crate) const CONGESTION: u32 = 1;
pub(crate) const WIRELESS: u32 = 2;
pub(crate) const BY_RULE: u32 = 1;
pub(crate) const RUN_CAP: u32 = 7;
pub(crate) const SHARE_CAP: u32 = 8;
const GUARD: u32 = 11;
const BRAKE: u32 = 12;

/// A sender whose packets are numbered from 0. Packet 0 begins at sequence number `first_seq`.
pub(crate) struct Sender {
    first_seq: u32,
    text: String,
    pub(crate) at_us: u64,
    pub(crate) rtt_us: u64,
    pub(crate) una: u32,
    delivered: u32,
}

impl Sender {
    pub(crate) fn new(first_seq: u32) -> Self {
        Self {
            first_seq,
            text: format!("o {first_seq} {MSS} 100\n"),
            at_us: 0,
            rtt_us: RTT_US,
            una: 0,
            delivered: 0,
        }
    }

    fn seq(&self, packet: u32) -> u32 {
        self.first_seq.wrapping_add(packet.wrapping_mul(MSS))
    }

    /// An ACK of everything before packet `una`, with SACK blocks of packets from the first number
    /// to before the second. It delivers `pkts` packets.
    pub(crate) fn ack(&mut self, una: u32, blocks: &[(u32, u32)], pkts: u32) {
        self.at_us += 1_000;
        self.una = una;
        self.delivered += pkts;
        write!(self.text, "a {} {} {} {}", self.at_us, self.rtt_us, self.seq(una), self.delivered)
            .unwrap();
        for &(from, to) in blocks {
            write!(self.text, " {} {}", self.seq(from), self.seq(to)).unwrap();
        }
        self.text.push('\n');
    }

    /// The next `pkts` packets arrive, two by ACK.
    fn deliver(&mut self, pkts: u32) {
        for _ in 0..pkts / 2 {
            self.ack(self.una + 2, &[], 2);
        }
    }

    /// The next `lost` packets do not arrive and the three after them do; then the kernel declares
    /// the loss.
    fn lose(&mut self, lost: u32) {
        let first = self.una;
        for arrived in 1..=3 {
            self.ack(first, &[(first + lost, first + lost + arrived)], 1);
        }
        self.declare(lost);
    }

    /// The kernel declares the oldest `lost` missing packets lost.
    pub(crate) fn declare(&mut self, lost: u32) {
        writeln!(self.text, "d {lost}").unwrap();
    }

    /// The retransmissions of the `lost` packets arrive, which ends the recovery.
    fn recover(&mut self, lost: u32) {
        self.ack(self.una + lost + 3, &[], lost);
        self.end_recovery();
    }

    pub(crate) fn end_recovery(&mut self) {
        self.text.push_str("r\n");
    }

    /// The next packet arrives behind the two after it.
    fn reorder(&mut self) {
        let first = self.una;
        self.ack(first, &[(first + 1, first + 3)], 2);
        self.ack(first + 3, &[], 1);
    }

    /// What the program logs, with these settings.
    pub(crate) fn logged(&self, settings: &[&str]) -> Vec<Logged> {
        let mut of = Algorithm::find("lc_spike").unwrap().settings();
        settings.iter().for_each(|setting| of.set(setting).unwrap());
        spike().run(&of.words().unwrap(), &self.text).lines().map(|line| self.read(line)).collect()
    }

    fn read(&self, line: &str) -> Logged {
        let numbers: Vec<i64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let &[verdict, reason, pkts, seq] = numbers.as_slice() else { panic!("{line}") };
        let first = u32::try_from(seq).ok().map(|seq| {
            let after = seq.wrapping_sub(self.first_seq);
            assert_eq!(after % MSS, 0, "{line}");
            after / MSS
        });
        Logged { verdict: verdict as u32, reason: reason as u32, pkts: pkts as u32, first }
    }
}

/// `lc_spike`, compiled once: its file is busy while another test runs it.
fn spike() -> &'static Host {
    static PROGRAM: OnceLock<Host> = OnceLock::new();
    PROGRAM.get_or_init(|| Host::program("lc_spike.bpf.c"))
}

/// The verdict and its reason, by loss.
fn verdicts(logged: &[Logged]) -> Vec<(u32, u32)> {
    logged.iter().map(|logged| (logged.verdict, logged.reason)).collect()
}

const IGNORED: (u32, u32) = (WIRELESS, BY_RULE);

#[test]
fn the_run_cap_turns_a_loss_into_congestion_and_starts_anew() {
    let mut sender = Sender::new(1);
    sender.deliver(20);
    for _ in 0..7 {
        sender.lose(1);
        sender.recover(1);
        sender.deliver(20);
    }
    let refused = (CONGESTION, RUN_CAP);
    let expected = [IGNORED, IGNORED, refused, IGNORED, IGNORED, refused, IGNORED];
    assert_eq!(verdicts(&sender.logged(&["max_run=2", "max_share=1", "brake=false"])), expected);
}

#[test]
fn the_share_cap_forgets_what_was_ignored_long_ago() {
    let mut sender = Sender::new(1);
    let lose = |sender: &mut Sender, times: u32| {
        for _ in 0..times {
            sender.lose(1);
            sender.recover(1);
        }
    };
    // A fiftieth of at least 256 packets: 5. The sixth loss is refused.
    lose(&mut sender, 6);
    // At 512 packets the counts are halved: 2.5 of 256 were ignored. At the first loss now 378
    // packets are counted, at the fifth 398, whose fiftieth is 7.96, at the sixth 403, whose
    // fiftieth is 8.06: five more are ignored. Had none been forgotten, it would be two.
    sender.deliver(600);
    lose(&mut sender, 6);
    let refused = (CONGESTION, SHARE_CAP);
    let expected = [[IGNORED; 5].as_slice(), &[refused], &[IGNORED; 5], &[refused]].concat();
    assert_eq!(verdicts(&sender.logged(&["max_share=0.02", "brake=false"])), expected);
}

/// Losses, bursts of losses and reordering, over and over.
fn long_connection(first_seq: u32) -> Sender {
    let mut sender = Sender::new(first_seq);
    for lost in [1, 3, 1, 2, 5, 1, 1, 2] {
        sender.deliver(4);
        sender.reorder();
        sender.lose(lost);
        sender.recover(lost);
    }
    sender
}

#[test]
fn sequence_numbers_that_wrap_change_nothing() {
    let expected = long_connection(1).logged(&["brake=false"]);
    assert_eq!(
        expected.iter().map(|logged| logged.pkts).collect::<Vec<_>>(),
        [1, 3, 1, 2, 5, 1, 1, 2]
    );
    // 4 packets, 3 that change places, then the first loss.
    assert_eq!(expected[0], Logged { verdict: WIRELESS, reason: BY_RULE, pkts: 1, first: Some(7) });
    let packets = long_connection(1).una;
    for packet in 0..packets {
        // The numbers wrap at the beginning of this packet, and within it.
        for offset in [0, MSS / 2] {
            let first_seq = 0_u32.wrapping_sub(packet * MSS).wrapping_sub(offset);
            assert_eq!(
                long_connection(first_seq).logged(&["brake=false"]),
                expected,
                "first number {first_seq}"
            );
        }
    }
}

#[test]
fn a_gap_that_is_declared_lost_in_parts_is_located_part_by_part() {
    let mut sender = Sender::new(1);
    sender.deliver(4);
    for arrived in 1..=3 {
        sender.ack(4, &[(7, 7 + arrived)], 1);
    }
    // The second part is judged with the next ACK, within the episode that the first has begun.
    sender.text.push_str("d 1\nd 2\n");
    sender.recover(3);
    let places: Vec<_> =
        sender.logged(&[]).iter().map(|logged| (logged.pkts, logged.first)).collect();
    assert_eq!(places, [(1, Some(4)), (2, Some(5))]);
}

/// Sixteen gaps are remembered. `bpf/connection.c` compares the sum of the packets that wait in
/// them after every line.
#[test]
fn a_forgotten_gap_takes_its_packets_along() {
    let mut sender = Sender::new(1);
    sender.deliver(20);
    let first = sender.una;
    // Every second packet is missing: twenty gaps, none of them declared lost yet.
    for gap in 0..20 {
        let arrived = first + 2 * gap + 1;
        sender.ack(first, &[(arrived, arrived + 1)], 1);
    }
    sender.text.push_str("d 20\n");
    let logged = sender.logged(&["max_share=1"]);
    // The oldest four gaps are forgotten, so the first packets that have a place are in the fifth.
    let places: Vec<Option<u32>> = logged.iter().map(|logged| logged.first).collect();
    let expected: Vec<Option<u32>> =
        (4..20).map(|gap| Some(first + 2 * gap)).chain([None]).collect();
    assert_eq!(places, expected);
    assert_eq!(logged.iter().map(|logged| logged.pkts).sum::<u32>(), 20);
}

#[test]
fn the_brake_holds_for_the_rest_of_a_round_of_many_reports() {
    // Every packet of the round has left before the first loss was reported: the round trip is 40
    // ms, and three ACKs come in 3 ms. S = (r - 1) - 1/2 - 2 p F, where p F is 100 packets of which
    // 1 in 2,000 is lost: 0.05. The eighth report has S = 6.4.
    let mut sender = Sender::new(1);
    sender.deliver(2_000);
    for _ in 0..10 {
        sender.lose(1);
        sender.recover(1);
    }
    let braked = (CONGESTION, BRAKE);
    let expected = [[IGNORED; 7].as_slice(), &[braked; 3]].concat();
    assert_eq!(verdicts(&sender.logged(&["max_share=1"])), expected);
    assert_eq!(verdicts(&sender.logged(&["max_share=1", "brake=false"])), [IGNORED; 10]);
}

#[test]
fn the_guard_speaks_where_a_queue_stands() {
    // Reno's asks for a queue of one base round trip. alpha = 2 calls every loss wireless.
    for (rtt_us, refused) in [(79_000, false), (80_000, true)] {
        let mut sender = Sender::new(1);
        sender.deliver(200);
        sender.rtt_us = rtt_us;
        sender.deliver(400);
        sender.lose(1);
        let expected = if refused { (CONGESTION, GUARD) } else { IGNORED };
        assert_eq!(verdicts(&sender.logged(&["alpha=2"])), [expected], "{rtt_us} us");
        assert_eq!(verdicts(&sender.logged(&["alpha=2", "guard=false"])), [IGNORED]);
    }
}

/// What `bpf/connection.c` prints for `q`: the slow start threshold, and the sums.
fn printed(line: &str) -> Option<(u32, Vec<u64>)> {
    let mut numbers = line.strip_prefix("q ")?.split(' ');
    let ssthresh = numbers.next()?.parse().unwrap();
    Some((ssthresh, numbers.map(|number| number.parse().unwrap()).collect()))
}

/// What a program has for each `q`: the slow start threshold, and of its sums `places`.
fn asked(sender: &Sender, settings: &[&str], places: [usize; 4]) -> Vec<(u32, [u64; 4])> {
    let mut of = Algorithm::find("lc_spike").unwrap().settings();
    settings.iter().for_each(|setting| of.set(setting).unwrap());
    let output = spike().run(&of.words().unwrap(), &sender.text);
    let windows = output.lines().filter_map(printed);
    windows.map(|(ssthresh, sums)| (ssthresh, places.map(|place| sums[place]))).collect()
}

/// `reductions`, `avoided`, `timeouts` and `skipped` of `struct lc_sums`.
const EPISODES: [usize; 4] = [3, 4, 5, 11];

#[test]
fn an_episode_that_began_without_the_program_is_begun_at_the_next_ack() {
    const RECOVERY: u32 = 3;
    const LOSS: u32 = 4;
    // The low half of an address in the kernel's text, and a zero.
    for held in [0x8110_4110_u32, 0] {
        let skipped = |state: u32, settings: &[&str]| {
            let mut sender = Sender::new(1);
            sender.deliver(200);
            let first = sender.una;
            (1..=3).for_each(|n| sender.ack(first, &[(first + 1, first + 1 + n)], 1));
            write!(sender.text, "x 1 {state} {held}\nq\n").unwrap();
            sender.ack(first, &[(first + 1, first + 5)], 1);
            sender.text.push_str("q\n");
            sender.recover(1);
            sender.text.push_str("q\n");
            asked(&sender, settings, EPISODES)
        };
        // The connection opens without a threshold, and a kept episode does not end slow start.
        let kept = [(held, [0; 4]), (100, [0, 0, 0, 1]), (u32::MAX, [0, 1, 0, 1])];
        assert_eq!(skipped(RECOVERY, &[]), kept);
        let reduced = [(held, [0; 4]), (50, [1, 0, 0, 1]), (50, [1, 0, 0, 1])];
        assert_eq!(skipped(RECOVERY, &["max_run=0"]), reduced);
        let timed_out = [(held, [0; 4]), (50, [1, 0, 1, 1]), (50, [1, 0, 1, 1])];
        assert_eq!(skipped(LOSS, &[]), timed_out);
    }
}

/// In a recovery the kernel lets no more into the flight than arrives: a window that grew meanwhile
/// would be taken at its end at once.
#[test]
fn a_kept_window_does_not_grow_within_its_episode() {
    let mut sender = Sender::new(1);
    sender.deliver(200);
    sender.lose(1);
    let first = sender.una;
    (4..60).for_each(|n| sender.ack(first, &[(first + 1, first + 1 + n)], 1));
    sender.text.push_str("q\n");
    assert_eq!(asked(&sender, &[], EPISODES), [(100, [0; 4])]);
}

#[test]
fn an_episode_that_ended_without_the_program_is_over_at_the_next_ack() {
    let mut sender = Sender::new(1);
    sender.deliver(200);
    sender.lose(1);
    sender.text.push_str("q\nx 0 0 0\n");
    sender.ack(sender.una + 4, &[], 1);
    sender.text.push_str("q\n");
    let expected = [(100, [0; 4]), (u32::MAX, [0, 1, 0, 0])];
    assert_eq!(asked(&sender, &[], EPISODES), expected);
}

#[test]
fn a_dry_run_of_every_program_counts_the_same_and_has_the_window_of_its_growth() {
    // Every loss of the first half is wireless by most rules, because the round-trip time stands
    // still; then a queue stands, which the guard sees.
    let mut sender = Sender::new(1);
    sender.deliver(200);
    for lost in [1, 3, 1, 2, 5, 1, 1, 2] {
        sender.deliver(40);
        sender.lose(lost);
        sender.text.push_str("q\n");
        sender.recover(lost);
        sender.text.push_str("q\n");
    }
    sender.rtt_us = 3 * RTT_US;
    sender.deliver(400);
    sender.lose(2);
    sender.text.push_str("q\n");
    sender.recover(2);
    sender.deliver(4);
    sender.lose(1);
    sender.text.push_str("t\nq\n");
    let mut kept_windows = 0;
    for algorithm in algorithm::ALGORITHMS {
        let compiled;
        let host = if algorithm.name == "lc_spike" {
            spike()
        } else {
            compiled = Host::program(&format!("{}.bpf.c", algorithm.name));
            &compiled
        };
        let run = |dry_run| {
            let mut settings = algorithm.settings();
            settings.set_dry_run(dry_run);
            host.run(&settings.words().unwrap(), &sender.text)
        };
        let [steered, dry] = [false, true].map(run);
        let logged = |output: &str| -> Vec<String> {
            output.lines().filter(|line| printed(line).is_none()).map(str::to_owned).collect()
        };
        // WestwoodVT's rule holds in congestion avoidance only: it reads the window, which differs.
        let reads_window = algorithm.name == "lc_westwood_vt";
        assert!(reads_window || logged(&steered) == logged(&dry), "{}", algorithm.name);
        let windows =
            |output: &str| -> Vec<(u32, Vec<u64>)> { output.lines().filter_map(printed).collect() };
        let [steered, dry] = [windows(&steered), windows(&dry)];
        assert_eq!(dry.len(), 18, "{}", algorithm.name);
        let sums = |windows: &[(u32, Vec<u64>)]| -> Vec<Vec<u64>> {
            windows.iter().map(|(_, sums)| sums.clone()).collect()
        };
        assert!(reads_window || sums(&steered) == sums(&dry), "{}", algorithm.name);
        // A window of 100 packets: Reno halves it, CUBIC keeps 717 of 1024.
        let reduced = if algorithm.name.starts_with("lc_cubic") { 70 } else { 50 };
        let windows: Vec<u32> = dry.iter().map(|(ssthresh, _)| *ssthresh).collect();
        assert_eq!(windows, [reduced; 18], "{}", algorithm.name);
        kept_windows += steered.iter().filter(|(ssthresh, _)| *ssthresh > reduced).count();
    }
    // Without a dry run, the programs do keep windows here.
    assert!(kept_windows > 50, "{kept_windows}");
}
