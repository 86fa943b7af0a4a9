//! The named TCPs: each combines a recovery and a response.

use super::config::Config;
use super::quirks::{Quirks, SackRules, WestwoodRules};
use super::schemes::{RecoveryScheme, ResponseScheme, VegasParameters, WestwoodVtParameters};

/// A named TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Reno's recovery, additive increase and multiplicative decrease (RFC 5681).
    Reno,
    /// NewReno's recovery (RFC 6582), the same response.
    NewReno,
    /// SACK recovery (RFC 6675), the same response.
    Sack,
    /// Vegas' recovery and response (Brakmo and Peterson 1995).
    Vegas,
    /// Reno's recovery, Veno's response (Fu and Liew 2003).
    Veno,
    /// SACK recovery, CUBIC's response (RFC 9438).
    Cubic,
    /// Reno's recovery, Westwood's response (Mascolo et al. 2001). With [`WestwoodRules::Ns2In2001`], fast retransmit
    /// without fast recovery, as in the authors' ns-2 agent.
    Westwood,
    /// NewReno's recovery, Westwood's response.
    WestwoodNr,
    /// NewReno's recovery, WestwoodVT's response (Koo, Mun and Choo 2007).
    WestwoodVt,
    /// NewReno's recovery, New Jersey's response (Xu, Tian and Ansari 2005).
    NewJersey,
}

impl Variant {
    /// The recovery and response of this TCP, with the published parameters. Linux has one recovery for all.
    pub const fn parts(self, quirks: &Quirks) -> (RecoveryScheme, ResponseScheme) {
        let (recovery, response) = self.published(quirks);
        match quirks.sack {
            SackRules::Linux => (RecoveryScheme::RackTlp, response),
            SackRules::Rfc6675 | SackRules::Ns2 => (recovery, response),
        }
    }

    const fn published(self, quirks: &Quirks) -> (RecoveryScheme, ResponseScheme) {
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

    /// The same settings with another recovery and response. New Jersey enables [`Config::ecn`]; ns-2's Vegas sends
    /// packets without headers.
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
