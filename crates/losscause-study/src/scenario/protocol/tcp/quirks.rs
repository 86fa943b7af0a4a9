//! `[tcp.quirks]`: the rules in which ns-2 and its versions differ from the RFCs.

use serde::Deserialize;

use losscause_transport::tcp::{self, Config, RecoveryScheme, ResponseScheme, SackRules};

use super::Scoped;
use crate::InputError;
use crate::scenario::expression::{Names, Quantity};
use crate::scenario::protocol::{Overlay, mirrored, replace};
use crate::scenario::reader::Reader;

/// Rules that imitate a version of ns-2. The mode sets all of them; each key here replaces one.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TcpQuirks {
    /// Size of the SYN that opens the connection, bytes; 0: no SYN. (With ns-2's Vegas every other
    /// value means as long as a data packet.) In mode `rfc` only flows with `bytes` have one by
    /// default, of 44 bytes.
    pub syn_bytes: Option<Quantity>,
    /// Granularity of the clock that measures round-trip times, milliseconds (ns-2 `tcpTick_`).
    pub tick_ms: Option<Quantity>,
    /// What the smallest retransmission timeout bounds.
    pub min_rto_of: Option<MinRtoOf>,
    /// Whether fast retransmit restarts the retransmission timer.
    pub fast_retransmit_restarts_timer: Option<bool>,
    /// When fast retransmit may happen at all (recovery reno or newreno, or ns-2's sack).
    pub fast_retransmit: Option<FastRetransmit>,
    /// What the first duplicate acknowledgements release (every recovery but vegas).
    pub limited_transmit: Option<LimitedTransmit>,
    /// Which duplicate acknowledgements from the threshold on inflate the window (recovery reno or
    /// newreno).
    pub inflation: Option<Inflation>,
    /// How a loss shrinks the window (response aimd; after a timeout, also veno and vegas).
    pub halving: Option<Halving>,
    /// Largest congestion window that acknowledgements open, packets (ns-2 `maxcwnd_`; default no
    /// limit). Packets that duplicate acknowledgements let out come on top.
    pub max_cwnd_pkts: Option<Quantity>,
    /// Whether the acknowledgement that ends fast recovery also opens the window (recovery reno,
    /// fast-retransmit or newreno).
    pub grow_on_recovery_exit: Option<bool>,
    /// Which partial acknowledgements restart the retransmission timer (recovery newreno).
    pub partial_ack_timer: Option<PartialAckTimer>,
    /// What a partial acknowledgement does to the window (recovery newreno).
    pub deflation: Option<Deflation>,
    /// What the acknowledgement that ends fast recovery does to the window (recovery newreno).
    pub recovery_exit: Option<RecoveryExit>,
}

impl TcpQuirks {
    /// Replaces the mode's rules by those that are given.
    pub(super) fn put(
        &self,
        quirks: &mut tcp::Quirks,
        reader: &Reader,
        names: &Names,
    ) -> Result<(), InputError> {
        let overlay = Overlay { section: "tcp.quirks", reader, names };
        if let Some(bytes) = &self.syn_bytes {
            let bytes = reader.whole("tcp.quirks.syn_bytes", bytes, names, 0, 65_535)?;
            quirks.syn_bytes = (bytes > 0).then_some(bytes);
        }
        if let Some(packets) = &self.max_cwnd_pkts {
            let most = tcp::Config::LARGEST_WINDOW_PKTS;
            quirks.max_cwnd_pkts =
                Some(reader.whole("tcp.quirks.max_cwnd_pkts", packets, names, 1, most)?);
        }
        overlay.milliseconds("tick_ms", self.tick_ms.as_ref(), &mut quirks.tick)?;
        replace(&mut quirks.min_rto_of, self.min_rto_of);
        replace(&mut quirks.fast_retransmit_restarts_timer, self.fast_retransmit_restarts_timer);
        if let Some(when) = self.fast_retransmit {
            quirks.fast_retransmit = Some(when.into());
        }
        replace(&mut quirks.limited_transmit, self.limited_transmit);
        replace(&mut quirks.inflation, self.inflation);
        replace(&mut quirks.halving, self.halving);
        replace(&mut quirks.grow_on_recovery_exit, self.grow_on_recovery_exit);
        replace(&mut quirks.new_reno.timer, self.partial_ack_timer);
        replace(&mut quirks.new_reno.deflation, self.deflation);
        replace(&mut quirks.new_reno.exit, self.recovery_exit);
        Ok(())
    }

    pub(super) fn scoped(&self) -> impl Iterator<Item = Scoped> {
        let scoped = |key, given, read_by, needs| Scoped { key, given, read_by, needs };
        let newreno: fn(&Config) -> bool = |config| config.recovery == RecoveryScheme::NewReno;
        let needs_newreno = "recovery \"newreno\"";
        [
            scoped(
                "tcp.quirks.fast_retransmit",
                self.fast_retransmit.is_some(),
                |config| match config.recovery {
                    RecoveryScheme::Reno | RecoveryScheme::NewReno => true,
                    RecoveryScheme::Sack => config.quirks.sack == SackRules::Ns2,
                    RecoveryScheme::FastRetransmit
                    | RecoveryScheme::Vegas
                    | RecoveryScheme::RackTlp => false,
                },
                "recovery \"reno\" or \"newreno\", or with ns-2's \"sack\"",
            ),
            scoped(
                "tcp.quirks.limited_transmit",
                self.limited_transmit.is_some(),
                |config| {
                    !matches!(config.recovery, RecoveryScheme::Vegas | RecoveryScheme::RackTlp)
                },
                "recovery \"reno\", \"fast-retransmit\", \"newreno\" or \"sack\"",
            ),
            scoped(
                "tcp.quirks.inflation",
                self.inflation.is_some(),
                |config| matches!(config.recovery, RecoveryScheme::Reno | RecoveryScheme::NewReno),
                "recovery \"reno\" or \"newreno\"",
            ),
            scoped(
                "tcp.quirks.halving",
                self.halving.is_some(),
                |config| {
                    use ResponseScheme::{Aimd, Vegas, Veno};
                    not_linux(config) && matches!(config.response, Aimd | Veno | Vegas(_))
                },
                "response \"aimd\", \"veno\" or \"vegas\"",
            ),
            scoped(
                "tcp.quirks.grow_on_recovery_exit",
                self.grow_on_recovery_exit.is_some(),
                |config| {
                    !matches!(
                        config.recovery,
                        RecoveryScheme::Sack | RecoveryScheme::Vegas | RecoveryScheme::RackTlp
                    )
                },
                "recovery \"reno\", \"fast-retransmit\" or \"newreno\"",
            ),
            scoped("tcp.quirks.min_rto_of", self.min_rto_of.is_some(), not_linux, NOT_LINUX),
            scoped(
                "tcp.quirks.fast_retransmit_restarts_timer",
                self.fast_retransmit_restarts_timer.is_some(),
                not_linux,
                NOT_LINUX,
            ),
            scoped("tcp.quirks.max_cwnd_pkts", self.max_cwnd_pkts.is_some(), not_linux, NOT_LINUX),
            scoped(
                "tcp.quirks.partial_ack_timer",
                self.partial_ack_timer.is_some(),
                newreno,
                needs_newreno,
            ),
            scoped("tcp.quirks.deflation", self.deflation.is_some(), newreno, needs_newreno),
            scoped(
                "tcp.quirks.recovery_exit",
                self.recovery_exit.is_some(),
                newreno,
                needs_newreno,
            ),
        ]
        .into_iter()
    }
}

/// Whether the rules of the RFCs and of ns-2 are read at all.
pub(super) fn not_linux(config: &Config) -> bool {
    config.quirks.sack != SackRules::Linux
}

/// The modes with [`not_linux`], in words.
pub(super) const NOT_LINUX: &str = "another mode than \"linux\"";

mirrored! {
    /// What the smallest retransmission timeout bounds.
    pub enum MinRtoOf => tcp::MinRtoOf {
        /// The estimate, before back-off (RFC 6298, ns-2 `rfc2988_`).
        Estimate,
        /// The timer, after back-off (ns-2 before March 2002).
        Timer,
    }

    /// When fast retransmit may happen at all.
    pub enum FastRetransmit => tcp::FastRetransmit {
        /// Whenever the threshold is met.
        Always,
        /// Once per window: several losses in one window cost a timeout (ns-2 `bugFix_`).
        OncePerWindow,
    }

    /// What the duplicate acknowledgements below the threshold release.
    pub enum LimitedTransmit => tcp::LimitedTransmit {
        /// Nothing.
        Off,
        /// One unsent packet each (RFC 3042).
        UnsentPacket,
        /// The next packet in line each (ns-2 `singledup_`).
        NextPacket,
    }

    /// Which duplicate acknowledgements from the threshold on inflate the window.
    pub enum Inflation => tcp::Inflation {
        /// Those of fast recovery (RFC 5681, ns-2 `exitFastRetrans_`).
        InRecovery,
        /// All (ns-2 before July 2003).
        Always,
        /// None.
        Never,
    }

    /// How a loss shrinks the window.
    pub enum Halving => tcp::Halving {
        /// To half of the packets in flight (RFC 5681).
        FlightSize,
        /// To half of the window (ns-2.35).
        Window,
        /// To half of the window in whole packets (ns-2 until January 2006).
        WholeWindow,
    }

    /// Which partial acknowledgements restart the retransmission timer.
    pub enum PartialAckTimer => tcp::PartialAckTimer {
        /// The first of a recovery (ns-2 `newreno_changes1_` 1).
        Impatient,
        /// Every one (ns-2 `newreno_changes1_` 0).
        SlowButSteady,
    }

    /// What a partial acknowledgement does to the window.
    pub enum Deflation => tcp::Deflation {
        /// Takes away what it acknowledges, but for one packet (ns-2 `partial_window_deflation_`
        /// 1).
        ByAcked,
        /// Takes away all that duplicates added (ns-2 `partial_window_deflation_` 0).
        All,
    }

    /// What the acknowledgement that ends fast recovery does to the window.
    pub enum RecoveryExit => tcp::RecoveryExit {
        /// Sets it back to what the loss left, but to one packet more than is in flight at most
        /// (ns-2 `exit_recovery_fix_` 1).
        NoBurst,
        /// Leaves it as partial acknowledgements left it (ns-2 `exit_recovery_fix_` 0).
        AsDeflated,
    }
}
