//! Our sender and receiver against ns-2.35's, transmission by transmission, over one link with the
//! same losses.
//!
//! `tests/ns2/link.tcl` made the recordings; the first lines of each recording state its settings.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::{Link, Pipe};
use losscause::Span;
use losscause_transport::tcp::{
    Config, Deflation, Halving, Inflation, LimitedTransmit, MinRtoOf, NewRenoRules,
    PartialAckTimer, Quirks, RecoveryExit, RecoveryScheme, Variant,
};

struct Recording {
    name: String,
    values: BTreeMap<String, String>,
    sends: Vec<(f64, f64)>,
    drops: Vec<(f64, f64)>,
    cwnd_cuts: Vec<(f64, f64)>,
}

#[test]
fn every_transmission_drop_and_window_cut_coincides_with_ns2() {
    let recordings = recordings();
    assert_eq!(recordings.len(), 48);
    for recording in recordings {
        let lost = recording.lost();
        let mut pipe =
            Pipe::new(&recording.config(), recording.link(), |i| lost.binary_search(&i).is_ok());
        pipe.run(recording.number("duration_s"));
        recording.same("transmission", &pipe.log.sends, &recording.sends);
        recording.same("queue drop", &pipe.log.drops, &recording.drops);
        recording.same("window cut", &pipe.log.cwnd_cuts, &recording.cwnd_cuts);
        let stats = pipe.sender.stats();
        assert_eq!(stats.segments_sent, recording.count("segments"), "{}", recording.name);
        assert_eq!(stats.retransmissions, recording.count("retransmissions"), "{}", recording.name);
        assert_eq!(stats.timeouts, recording.count("timeouts"), "{}", recording.name);
    }
}

#[test]
fn recordings_of_the_rules_of_2001_are_not_met_by_later_ones() {
    for recording in recordings().into_iter().filter(|r| r.name.contains("2001")) {
        let lost = recording.lost();
        let sends = |config: &Config| {
            let mut pipe = Pipe::new(config, recording.link(), |i| lost.binary_search(&i).is_ok());
            pipe.run(recording.number("duration_s"));
            pipe.log.sends
        };
        let config = recording.config();
        let same = sends(&config);
        let differs =
            |quirks| assert!(sends(&Config { quirks, ..config }) != same, "{}", recording.name);
        differs(Quirks { inflation: Inflation::InRecovery, ..config.quirks });
        differs(Quirks { min_rto_of: MinRtoOf::Estimate, ..config.quirks });
        if config.recovery != RecoveryScheme::Reno {
            for (timer, deflation) in [
                (PartialAckTimer::Impatient, Deflation::All),
                (PartialAckTimer::SlowButSteady, Deflation::ByAcked),
            ] {
                differs(Quirks {
                    new_reno: NewRenoRules { timer, deflation, ..NewRenoRules::NS2 },
                    ..config.quirks
                });
            }
        }
    }
}

#[test]
fn a_recording_is_not_met_by_other_settings() {
    let recording = recordings().into_iter().find(|r| r.name.starts_with("bursts")).unwrap();
    let lost = recording.lost();
    let sends = |config: &Config| {
        let mut pipe = Pipe::new(config, recording.link(), |i| lost.binary_search(&i).is_ok());
        pipe.run(recording.number("duration_s"));
        pipe.log.sends.len()
    };
    let config = recording.config();
    assert_eq!(sends(&config), recording.sends.len());
    assert_ne!(sends(&Config { min_rto: Span::from_millis(210), ..config }), recording.sends.len());
    let with = |quirks| sends(&Config { quirks, ..config });
    assert_ne!(
        with(Quirks { limited_transmit: LimitedTransmit::Off, ..config.quirks }),
        recording.sends.len()
    );
    assert_ne!(
        with(Quirks { grow_on_recovery_exit: false, ..config.quirks }),
        recording.sends.len()
    );
}

impl Recording {
    fn read(path: &Path) -> Self {
        let mut recording = Self {
            name: path.file_name().unwrap().to_string_lossy().into_owned(),
            values: BTreeMap::new(),
            sends: vec![],
            drops: vec![],
            cwnd_cuts: vec![],
        };
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let words: Vec<_> = line.split(' ').collect();
            let event = || (words[1].parse().unwrap(), words[2].parse().unwrap());
            match words[0] {
                "send" => recording.sends.push(event()),
                "drop" => recording.drops.push(event()),
                "cwnd" => recording.cwnd_cuts.push(event()),
                key => {
                    let (key, value) = words[1].split_once('=').unwrap_or((key, words[1]));
                    recording.values.insert(key.to_owned(), value.to_owned());
                }
            }
        }
        recording
    }

    fn config(&self) -> Config {
        let ns2 = Config::ns2().with_variant(self.variant());
        let mut config = Config {
            header_bytes: if self.flag("headers") { ns2.header_bytes } else { 0 },
            max_window_pkts: self.count("window") as u32,
            initial_window_pkts: self.count("iw") as u32,
            min_rto: self.span("minrto_s"),
            initial_rto: self.span("init_rto_s"),
            delayed_ack: self.values["sink"].ends_with("DelAck").then_some(Span::from_millis(100)),
            quirks: Quirks {
                syn_bytes: self.flag("syn").then_some(40),
                tick: self.span("tick_s"),
                tick_offset: self.span("tick_offset_s"),
                limited_transmit: if self.flag("limited") {
                    LimitedTransmit::NextPacket
                } else {
                    LimitedTransmit::Off
                },
                halving: if self.flag("precise") { Halving::Window } else { Halving::WholeWindow },
                ..ns2.quirks
            },
            ..ns2
        };
        self.put_settings(&mut config);
        config
    }

    fn variant(&self) -> Variant {
        match self.values["agent"].as_str() {
            "Reno" => Variant::Reno,
            "Newreno" => Variant::NewReno,
            "Sack1" => Variant::Sack,
            "Vegas" => Variant::Vegas,
            other => panic!("{}: there is no agent {other}", self.name),
        }
    }

    fn settings(&self) -> impl Iterator<Item = &str> {
        self.values["set"].split(',').filter(|setting| !setting.is_empty())
    }

    fn put_settings(&self, config: &mut Config) {
        let quirks = &mut config.quirks;
        for setting in self.settings() {
            match setting {
                "exitFastRetrans_:0" => quirks.inflation = Inflation::Always,
                "rfc2988_:0" => quirks.min_rto_of = MinRtoOf::Timer,
                "maxrto_:100000" => config.max_rto = Span::from_secs(100_000),
                "newreno_changes1_:0" => quirks.new_reno.timer = PartialAckTimer::SlowButSteady,
                "partial_window_deflation_:0" => quirks.new_reno.deflation = Deflation::All,
                "exit_recovery_fix_:1" => quirks.new_reno.exit = RecoveryExit::NoBurst,
                other => panic!("{}: there is no setting {other}", self.name),
            }
        }
    }

    /// ns-2 keeps the packet under transmission outside its queue, and calls a queue full one
    /// packet early: the sum is what we count.
    fn link(&self) -> Link {
        Link {
            rate_bps: self.number("rate_bps"),
            delay_s: self.number("delay_ms") * 0.001,
            queue_pkts: self.count("queue_pkts") as usize,
        }
    }

    fn lost(&self) -> Vec<u64> {
        let list = self.values["lose"].split(',');
        list.filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect()
    }

    fn same(&self, event: &str, ours: &[(f64, f64)], theirs: &[(f64, f64)]) {
        for (i, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            // ns-2 prints five decimals of a window's times and three of its size.
            let near = (ours.0 - theirs.0).abs() < 1.1e-5 && (ours.1 - theirs.1).abs() < 6e-4;
            assert!(
                near,
                "{}: {event} {i} is {ours:?}, in ns-2 {theirs:?} (seconds, number)",
                self.name
            );
        }
        assert_eq!(ours.len(), theirs.len(), "{}: number of {event}s", self.name);
    }

    fn number(&self, key: &str) -> f64 {
        self.values[key].parse().unwrap()
    }

    fn count(&self, key: &str) -> u64 {
        self.values[key].parse().unwrap()
    }

    fn span(&self, key: &str) -> Span {
        Span::from_secs_f64_rounded(self.number(key))
    }

    fn flag(&self, key: &str) -> bool {
        self.count(key) == 1
    }
}

fn recordings() -> Vec<Recording> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ns2");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    paths.iter().map(|path| Recording::read(path)).collect()
}
