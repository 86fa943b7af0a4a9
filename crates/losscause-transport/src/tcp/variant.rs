//! The TCPs by name: a recovery and a response.

use super::config::Config;
use super::quirks::{Quirks, WestwoodRules};
use super::response::{VegasParameters, WestwoodVtParameters};

/// A TCP that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Reno's recovery, additive increase and multiplicative decrease (RFC 5681).
    Reno,
    /// NewReno's recovery, the same response (RFC 6582).
    NewReno,
    /// Selective acknowledgements, the same response (RFC 6675).
    Sack,
    /// Vegas' recovery and response (Brakmo and Peterson 1995).
    Vegas,
    /// Reno's recovery, Veno's response (Fu and Liew 2003).
    Veno,
    /// Selective acknowledgements, CUBIC's response (RFC 9438).
    Cubic,
    /// Reno's recovery, Westwood's response (Mascolo et al. 2001); with [`WestwoodRules::Ns2In2001`], fast retransmit
    /// alone, as in its authors' agent for ns-2.
    Westwood,
    /// NewReno's recovery, Westwood's response.
    WestwoodNr,
    /// NewReno's recovery, WestwoodVT's response (Koo, Mun and Choo 2007).
    WestwoodVt,
    /// NewReno's recovery, New Jersey's response (Xu, Tian and Ansari 2005).
    NewJersey,
}

/// Which packets are sent again, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryScheme {
    /// RFC 5681: fast recovery ends with the first ACK of new data.
    Reno,
    /// Fast retransmit without fast recovery: every third duplicate ACK sends a packet again, and the window stays at
    /// cwnd.
    FastRetransmit,
    /// RFC 6582: fast recovery ends when everything is repaired, one packet per round trip.
    NewReno,
    /// RFC 6675: fast recovery ends when everything is repaired, as fast as cwnd allows; the receiver reports what it
    /// received beyond the cumulative acknowledgement (RFC 2018).
    Sack,
    /// Brakmo and Peterson 1995: every packet has its own timeout, which duplicate ACKs make the sender look at.
    Vegas,
}

/// What the window does on acknowledgements and losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseScheme {
    /// RFC 5681: one packet more per round trip, half after a loss.
    Aimd,
    /// Brakmo and Peterson 1995: the window keeps a few packets in queues.
    Vegas(VegasParameters),
    /// Fu and Liew 2003: the window loses a fifth if few packets wait, else half.
    Veno,
    /// RFC 9438: a cubic function of the time since the last loss.
    Cubic,
    /// Mascolo et al. 2001: after a loss, cwnd falls to the estimated bandwidth-delay product.
    Westwood,
    /// Koo, Mun and Choo 2007: the same if the queues are full, else no cut.
    WestwoodVt(WestwoodVtParameters),
    /// Xu, Tian and Ansari 2005: on ECN marks, cwnd becomes the estimated bandwidth-delay product. Takes
    /// [`Config::ecn`].
    NewJersey,
}

impl Variant {
    /// Its recovery and its response, with the published parameters.
    pub const fn parts(self, quirks: &Quirks) -> (RecoveryScheme, ResponseScheme) {
        match self {
            Self::Reno => (RecoveryScheme::Reno, ResponseScheme::Aimd),
            Self::NewReno => (RecoveryScheme::NewReno, ResponseScheme::Aimd),
            Self::Sack => (RecoveryScheme::Sack, ResponseScheme::Aimd),
            Self::Vegas => (RecoveryScheme::Vegas, ResponseScheme::Vegas(VegasParameters::PUBLISHED)),
            Self::Veno => (RecoveryScheme::Reno, ResponseScheme::Veno),
            Self::Cubic => (RecoveryScheme::Sack, ResponseScheme::Cubic),
            Self::Westwood if matches!(quirks.westwood, WestwoodRules::Ns2In2001) => {
                (RecoveryScheme::FastRetransmit, ResponseScheme::Westwood)
            }
            Self::Westwood => (RecoveryScheme::Reno, ResponseScheme::Westwood),
            Self::WestwoodNr => (RecoveryScheme::NewReno, ResponseScheme::Westwood),
            Self::WestwoodVt => (RecoveryScheme::NewReno, ResponseScheme::WestwoodVt(WestwoodVtParameters::PUBLISHED)),
            Self::NewJersey => (RecoveryScheme::NewReno, ResponseScheme::NewJersey),
        }
    }
}

impl Config {
    /// The same settings for another TCP.
    pub const fn with_variant(self, variant: Variant) -> Self {
        let (recovery, response) = variant.parts(&self.quirks);
        self.with_parts(recovery, response)
    }

    /// The same settings with another recovery and response. New Jersey sets [`Config::ecn`]; ns-2's Vegas has packets
    /// without headers.
    pub const fn with_parts(self, recovery: RecoveryScheme, response: ResponseScheme) -> Self {
        let ecn = self.ecn || matches!(response, ResponseScheme::NewJersey);
        let config = Self { recovery, response, ecn, ..self };
        if config.is_vegas_of_ns2() { Self { header_bytes: 0, ..config } } else { config }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reno_is_what_the_named_sets_hold() {
        for config in [Config::rfc(), Config::ns2(), Config::ns2_classic(), Config::ns2_2001()] {
            assert_eq!(config.with_variant(Variant::Reno), config);
        }
    }

    #[test]
    fn westwood_of_2001_has_fast_retransmit_alone_and_no_other_westwood_has() {
        let recovery = |config: Config, variant| config.with_variant(variant).recovery;
        assert_eq!(recovery(Config::ns2_2001(), Variant::Westwood), RecoveryScheme::FastRetransmit);
        assert_eq!(recovery(Config::ns2_2001(), Variant::WestwoodNr), RecoveryScheme::NewReno);
        assert_eq!(recovery(Config::ns2(), Variant::Westwood), RecoveryScheme::Reno);
    }

    #[test]
    fn the_vegas_of_ns2_counts_packets_without_headers_and_its_syn_is_as_long_as_any() {
        let sizes = |config: Config| (config.wire_bytes(), config.syn_bytes());
        assert_eq!(sizes(Config::ns2().with_variant(Variant::Vegas)), (1000, Some(1000)));
        assert_eq!(sizes(Config::ns2().with_variant(Variant::Sack)), (1040, Some(40)));
        assert_eq!(sizes(Config::ns2_classic().with_variant(Variant::Vegas)), (1000, None));
        assert_eq!(sizes(Config::rfc().with_variant(Variant::Vegas)), (1500, None));
    }

    #[test]
    fn every_variant_is_valid_and_none_is_another() {
        use Variant as V;
        let all = [
            V::Reno,
            V::NewReno,
            V::Sack,
            V::Vegas,
            V::Veno,
            V::Cubic,
            V::Westwood,
            V::WestwoodNr,
            V::WestwoodVt,
            V::NewJersey,
        ];
        for base in [Config::rfc(), Config::ns2(), Config::ns2_classic(), Config::ns2_2001()] {
            let configs = all.map(|variant| base.with_variant(variant));
            for (i, config) in configs.iter().enumerate() {
                assert_eq!(config.validate(), Ok(()));
                assert!(configs[..i].iter().all(|other| other != config));
            }
        }
    }
}
