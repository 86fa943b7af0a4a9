//! What users of a stream set, with ranges and defaults.
//!
//! ```
//! use losscause::registry::Registry;
//! use losscause_media::{ConfigError, ReceiverConfig, SenderConfig, receiver_lda};
//!
//! let registry = Registry::built_in();
//! let config =
//!     ReceiverConfig { lda: receiver_lda(&registry, "spike")?, ..ReceiverConfig::default() };
//! assert_eq!(config.validate(), Ok(()));
//! match receiver_lda(&registry, "spyke") {
//!     Err(ConfigError::UnknownLda { name, known }) => {
//!         assert!(name == "spyke" && known.contains("Spike"))
//!     }
//!     other => panic!("{other:?}"),
//! }
//! let no_queue = SenderConfig { queue_pkts: 0, ..SenderConfig::default() };
//! assert_eq!(no_queue.validate(), Err(ConfigError::QueuePkts(0)));
//! # Ok::<(), ConfigError>(())
//! ```

use losscause::registry::{LdaConfig, Registry};
use losscause::{BuiltIn, End, Span};
use losscause_transport::tfrc;

use crate::wire::TAG_BYTES;
use crate::wire::rtp::HEADER_BYTES;

/// The algorithm at a receiver unless another is named: the one that Cen, Cosman and Voelker (2003)
/// propose.
pub const DEFAULT_LDA: &str = "ZBS";

/// Bytes of IPv4 and UDP before a packet. They use links but do not count for the rate (RFC 5348,
/// section 3.1).
const IP_UDP_BYTES: u32 = 28;
/// A report on the wire: IPv4, UDP, and the packet of `wire::feedback` with number and tag.
const REPORT_BYTES: u32 = IP_UDP_BYTES + 12 + 56 + 8 + 16;

/// The smallest and the largest data packet, bytes of UDP payload.
pub(crate) const PACKET_BYTES: (u16, u16) = (128, 65_507);
const QUEUE_PKTS: (usize, usize) = (1, 65_536);
const PATIENCE: (Span, Span) = (Span::from_secs(1), Span::from_secs(3600));

/// The settings of a sender.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderConfig {
    /// Size of a full data packet, bytes of UDP payload: TFRC's segment size s. 128 to 65,507;
    /// default 1200. A smaller packet counts as a full one.
    pub packet_bytes: u16,
    /// The rate never exceeds this, bits of UDP payload per second. At least one packet per second;
    /// default 100 Mb/s.
    pub max_rate_bps: u64,
    /// Packets that may wait to be sent, 1 to 65,536; default 64.
    pub queue_pkts: usize,
    /// A peer that is silent for so long is gone, 1 s to 1 h; default 10 s.
    pub patience: Span,
}

impl Default for SenderConfig {
    fn default() -> Self {
        Self {
            packet_bytes: 1200,
            max_rate_bps: 100_000_000,
            queue_pkts: 64,
            patience: Span::from_secs(10),
        }
    }
}

impl SenderConfig {
    /// Checks every setting against its range.
    ///
    /// # Errors
    /// Names the first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_packet_bytes(self.packet_bytes)?;
        let least = 8 * u64::from(self.packet_bytes);
        if self.max_rate_bps < least {
            return Err(ConfigError::MaxRate { given: self.max_rate_bps, least });
        }
        if !(QUEUE_PKTS.0..=QUEUE_PKTS.1).contains(&self.queue_pkts) {
            return Err(ConfigError::QueuePkts(self.queue_pkts));
        }
        check_patience(self.patience)
    }

    /// Bytes of media that a packet holds.
    pub fn media_bytes(&self) -> usize {
        usize::from(self.packet_bytes).saturating_sub(HEADER_BYTES + TAG_BYTES)
    }

    pub(crate) fn tfrc(&self) -> tfrc::Config {
        tfrc::Config { max_rate_bps: Some(self.max_rate_bps), ..tfrc_config(self.packet_bytes) }
    }
}

/// The settings of a receiver.
#[derive(Clone, Debug)]
pub struct ReceiverConfig {
    /// The algorithm and its parameters; default [`DEFAULT_LDA`] with the published ones.
    pub lda: LdaConfig,
    /// A peer that is silent for so long is gone, 1 s to 1 h; default 10 s.
    pub patience: Span,
}

impl Default for ReceiverConfig {
    fn default() -> Self {
        Self { lda: BuiltIn::Zbs.config(), patience: Span::from_secs(10) }
    }
}

impl ReceiverConfig {
    /// Checks every setting against its range.
    ///
    /// # Errors
    /// Names the first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.lda.build(End::Receiver).map_err(ConfigError::Algorithm)?;
        check_patience(self.patience)
    }
}

/// The algorithm of this name with its published parameters.
///
/// # Errors
/// No algorithm that runs at receivers has the name.
pub fn receiver_lda(registry: &Registry, name: &str) -> Result<LdaConfig, ConfigError> {
    let runs = |lda: &&LdaConfig| lda.build(End::Receiver).is_ok();
    match registry.find(name).filter(runs) {
        Some(lda) => Ok(lda.clone()),
        None => {
            let known: Vec<&str> =
                registry.iter().filter(runs).map(|lda| lda.info().name).collect();
            Err(ConfigError::UnknownLda { name: name.to_owned(), known: known.join(", ") })
        }
    }
}

/// The settings of TFRC: RFC 5348's, for packets of this size.
pub(crate) fn tfrc_config(packet_bytes: u16) -> tfrc::Config {
    tfrc::Config {
        payload_bytes: u32::from(packet_bytes),
        header_bytes: IP_UDP_BYTES,
        feedback_bytes: REPORT_BYTES,
        ..tfrc::Config::rfc5348()
    }
}

/// Whether packets may have this size.
pub(crate) fn check_packet_bytes(packet_bytes: u16) -> Result<(), ConfigError> {
    let (least, most) = PACKET_BYTES;
    match (least..=most).contains(&packet_bytes) {
        true => Ok(()),
        false => Err(ConfigError::PacketBytes(packet_bytes)),
    }
}

fn check_patience(patience: Span) -> Result<(), ConfigError> {
    match (PATIENCE.0..=PATIENCE.1).contains(&patience) {
        true => Ok(()),
        false => Err(ConfigError::Patience(patience)),
    }
}

/// A setting out of range. `Display` is one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// [`SenderConfig::packet_bytes`].
    #[error("a data packet has {0} bytes, expected 128 to 65507")]
    PacketBytes(u16),
    /// [`SenderConfig::max_rate_bps`].
    #[error(
        "the largest rate is {given} b/s, expected at least one packet per second, which is {least} b/s"
    )]
    MaxRate {
        /// The setting.
        given: u64,
        /// The smallest rate allowed, bits per second.
        least: u64,
    },
    /// [`SenderConfig::queue_pkts`].
    #[error("{0} packets may wait, expected 1 to 65536")]
    QueuePkts(usize),
    /// [`SenderConfig::patience`] or [`ReceiverConfig::patience`].
    #[error("a peer is gone after {0} of silence, expected 1 s to 1 h")]
    Patience(Span),
    /// No algorithm of this name runs at receivers.
    #[error("the algorithm \"{name}\" is unknown at receivers, expected one of {known}")]
    UnknownLda {
        /// The name.
        name: String,
        /// Those there are.
        known: String,
    },
    /// [`ReceiverConfig::lda`] cannot be built.
    #[error("the algorithm cannot be used: {0}")]
    Algorithm(losscause::registry::ConfigError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_each_setting_out_of_range_is_named() {
        assert_eq!(SenderConfig::default().validate(), Ok(()));
        assert_eq!(ReceiverConfig::default().validate(), Ok(()));
        assert_eq!(ReceiverConfig::default().lda.info().name, DEFAULT_LDA);
        let error = |change: fn(&mut SenderConfig)| {
            let mut config = SenderConfig::default();
            change(&mut config);
            config.validate().unwrap_err().to_string()
        };
        assert_eq!(
            error(|c| c.packet_bytes = 127),
            "a data packet has 127 bytes, expected 128 to 65507"
        );
        assert!(error(|c| c.max_rate_bps = 9599).ends_with("which is 9600 b/s"));
        assert!(error(|c| c.queue_pkts = 0).contains("expected 1 to 65536"));
        assert!(error(|c| c.patience = Span::ZERO).contains("expected 1 s to 1 h"));
    }

    #[test]
    fn a_packet_holds_what_header_and_tag_leave() {
        assert_eq!(SenderConfig::default().media_bytes(), 1200 - 36 - 16);
    }

    #[test]
    fn an_unknown_or_a_senders_algorithm_is_refused_with_the_list() {
        let registry = Registry::built_in();
        assert_eq!(receiver_lda(&registry, "zigzag").unwrap().info().name, "ZigZag");
        for name in ["zigzog", "Vegas buffer"] {
            let error = receiver_lda(&registry, name).unwrap_err().to_string();
            assert!(
                error.contains(name) && error.contains("ZBS") && !error.contains("Vegas buffer,"),
                "{error}"
            );
        }
    }
}
