//! `[tcp]`: the settings of every TCP flow.

use schemars::JsonSchema;
use serde::Deserialize;

use losscause::Span;
use losscause_transport::tcp;

use super::super::expression::{Names, Quantity};
use super::super::reader::Reader;
use super::{Overlay, mirrored, replace};
use crate::InputError;

/// Settings of every TCP flow. Windows and thresholds count packets.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpSettings {
    /// Where every setting that is not given comes from (default: rfc).
    #[serde(default)]
    pub mode: TcpMode,
    /// Size of an acknowledgement on the wire, bytes.
    pub ack_bytes: Option<Quantity>,
    /// Size of the SYN that opens the connection, bytes; 0: no SYN.
    pub syn_bytes: Option<Quantity>,
    /// The receiver's window, packets (ns-2 `window_`).
    pub max_window_pkts: Option<Quantity>,
    /// The first congestion window, packets (ns-2 `windowInit_`).
    pub initial_window_pkts: Option<Quantity>,
    /// The first slow start threshold, packets.
    pub initial_ssthresh_pkts: Option<Quantity>,
    /// Granularity of the clock that measures round-trip times, milliseconds (ns-2 `tcpTick_`).
    pub tick_ms: Option<Quantity>,
    /// Smallest retransmission timeout, milliseconds (ns-2 `minrto_`); 0: two ticks are the only minimum.
    pub min_rto_ms: Option<Quantity>,
    /// Largest retransmission timeout, milliseconds (ns-2 `maxrto_`).
    pub max_rto_ms: Option<Quantity>,
    /// Retransmission timeout before the first round-trip time is known, milliseconds.
    pub initial_rto_ms: Option<Quantity>,
    /// Longest delay of an acknowledgement, milliseconds; 0: every packet is acknowledged at once.
    pub delayed_ack_ms: Option<Quantity>,
    /// Duplicate acknowledgements that trigger fast retransmit.
    pub dup_ack_threshold: Option<Quantity>,
    /// When fast retransmit may happen at all.
    pub fast_retransmit: Option<FastRetransmit>,
    /// What the first duplicate acknowledgements release.
    pub limited_transmit: Option<LimitedTransmit>,
    /// How a loss shrinks the window.
    pub halving: Option<Halving>,
    /// What ends the exponential back-off of the retransmission timeout.
    pub backoff_cleared: Option<BackoffCleared>,
    /// Whether fast retransmit restarts the retransmission timer.
    pub fast_retransmit_restarts_timer: Option<bool>,
    /// Whether the acknowledgement that ends fast recovery also opens the window.
    pub grow_on_recovery_exit: Option<bool>,
    /// Whether queues may mark segments instead of dropping them, and marks count as losses (RFC 3168; default false).
    pub ecn: Option<bool>,
}

/// The sets of TCP settings that have a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpMode {
    /// RFC 5681, 3042 and 6298.
    #[default]
    Rfc,
    /// `Agent/TCP/Reno` of ns-2.35.
    Ns2,
    /// ns-2 as the papers around 2000 ran it.
    Ns2Classic,
}

impl TcpSettings {
    pub(super) fn config(&self, reader: &Reader, names: &Names) -> Result<tcp::Config, InputError> {
        let mut config = match self.mode {
            TcpMode::Rfc => tcp::Config::rfc(),
            TcpMode::Ns2 => tcp::Config::ns2(),
            TcpMode::Ns2Classic => tcp::Config::ns2_classic(),
        };
        let overlay = Overlay { section: "tcp", reader, names };
        let windows = tcp::Config::LARGEST_WINDOW_PKTS;
        overlay.whole("ack_bytes", self.ack_bytes.as_ref(), 1, 65_535, &mut config.ack_bytes)?;
        overlay.whole("max_window_pkts", self.max_window_pkts.as_ref(), 1, windows, &mut config.max_window_pkts)?;
        let initial = &mut config.initial_window_pkts;
        overlay.whole("initial_window_pkts", self.initial_window_pkts.as_ref(), 1, windows, initial)?;
        overlay.whole("dup_ack_threshold", self.dup_ack_threshold.as_ref(), 1, 1000, &mut config.dup_ack_threshold)?;
        if let Some(bytes) = &self.syn_bytes {
            let bytes = reader.whole("tcp.syn_bytes", bytes, names, 0, 65_535)?;
            config.syn_bytes = (bytes > 0).then_some(bytes);
        }
        if let Some(packets) = &self.initial_ssthresh_pkts {
            config.initial_ssthresh_pkts =
                Some(reader.whole("tcp.initial_ssthresh_pkts", packets, names, 1, windows)?);
        }
        overlay.milliseconds("tick_ms", self.tick_ms.as_ref(), &mut config.tick)?;
        if let Some(minimum) = &self.min_rto_ms {
            config.min_rto = overlay.milliseconds_or_off("min_rto_ms", minimum)?.unwrap_or(Span::ZERO);
        }
        overlay.milliseconds("max_rto_ms", self.max_rto_ms.as_ref(), &mut config.max_rto)?;
        overlay.milliseconds("initial_rto_ms", self.initial_rto_ms.as_ref(), &mut config.initial_rto)?;
        if let Some(delay) = &self.delayed_ack_ms {
            config.delayed_ack = overlay.milliseconds_or_off("delayed_ack_ms", delay)?;
        }
        replace(&mut config.fast_retransmit, self.fast_retransmit);
        replace(&mut config.limited_transmit, self.limited_transmit);
        replace(&mut config.halving, self.halving);
        replace(&mut config.backoff_cleared, self.backoff_cleared);
        replace(&mut config.fast_retransmit_restarts_timer, self.fast_retransmit_restarts_timer);
        replace(&mut config.grow_on_recovery_exit, self.grow_on_recovery_exit);
        replace(&mut config.ecn, self.ecn);
        Ok(config)
    }
}

mirrored! {
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

    /// How a loss shrinks the window.
    pub enum Halving => tcp::Halving {
        /// To half of the packets in flight (RFC 5681).
        FlightSize,
        /// To half of the window (ns-2.35).
        Window,
        /// To half of the window in whole packets (ns-2 until January 2006).
        WholeWindow,
    }

    /// What ends the exponential back-off of the retransmission timeout.
    pub enum BackoffCleared => tcp::BackoffCleared {
        /// A round-trip time measured on a segment sent once (RFC 6298, ns-2).
        BySample,
        /// Any acknowledgement of new data.
        ByNewAck,
    }
}
