//! The list of published TCPs by name: each combines a recovery and a response.

use super::config::Config;
use super::control::{ResponseScheme, VegasParameters, WestwoodVtParameters};
use super::quirks::{Quirks, SackRules, WestwoodRules};
use super::recovery::RecoveryScheme;

/// Declares the list: the name of each in scenarios, its recovery and its response, with the
/// published parameters.
macro_rules! variants {
    ($($(#[$doc:meta])+ $name:ident = $text:literal, $summary:literal, $recovery:ident, $response:expr;)+) => {
        /// A published TCP.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Variant {
            $($(#[$doc])+ $name,)+
        }

        impl Variant {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The name in scenarios.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// What it is, in one sentence or two.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$name => $summary,)+ }
            }

            const fn published(self) -> (RecoveryScheme, ResponseScheme) {
                use ResponseScheme::*;
                match self { $(Self::$name => (RecoveryScheme::$recovery, $response),)+ }
            }
        }
    };
}

variants! {
    /// Reno's recovery, additive increase and multiplicative decrease (RFC 5681).
    Reno = "reno",
        "Reno: one loss per window is repaired without a timeout; the window grows by a packet per round trip \
         and is halved.",
        Reno, Aimd;
    /// NewReno's recovery (RFC 6582), the same response.
    NewReno = "newreno", "NewReno (RFC 6582): one loss per round trip is repaired without a timeout.", NewReno, Aimd;
    /// SACK recovery (RFC 6675), the same response.
    Sack = "sack",
        "SACK (RFC 6675): the receiver reports what arrived, all losses of a window are repaired at once.",
        Sack, Aimd;
    /// Vegas' recovery and response (Brakmo and Peterson 1995).
    Vegas = "vegas", "Vegas: keeps a few packets in queues and looks at every packet's own timeout.",
        Vegas, Vegas(VegasParameters::PUBLISHED);
    /// Reno's recovery, Veno's response (Fu and Liew 2003).
    Veno = "veno", "Veno: Reno that loses a fifth instead of half while few packets wait.", Reno, Veno;
    /// SACK recovery, CUBIC's response (RFC 9438).
    Cubic = "cubic", "CUBIC (RFC 9438) over SACK.", Sack, Cubic;
    /// Reno's recovery, Westwood's response (Mascolo et al. 2001). With
    /// [`WestwoodRules::Ns2In2001`], fast retransmit without fast recovery, as in the authors' ns-2
    /// agent.
    Westwood = "westwood", "Westwood: Reno that falls to the estimated bandwidth-delay product.", Reno, Westwood;
    /// NewReno's recovery, Westwood's response.
    WestwoodNr = "westwood-nr", "Westwood over NewReno.", NewReno, Westwood;
    /// NewReno's recovery, WestwoodVT's response (Koo, Mun and Choo 2007).
    WestwoodVt = "westwood-vt", "WestwoodVT: WestwoodNR that cuts only if queues are full.",
        NewReno, WestwoodVt(WestwoodVtParameters::PUBLISHED);
    /// NewReno's recovery, New Jersey's response (Xu, Tian and Ansari 2005).
    NewJersey = "new-jersey",
        "New Jersey: NewReno that sets its window to the estimated bandwidth-delay product on ECN marks, \
         and cuts for no other loss.",
        NewReno, NewJersey;
    /// BBR, version 1, as in Linux (Cardwell et al. 2016). Only with Linux's recovery.
    Bbr = "bbr",
        "BBR (version 1): paces at the estimated bandwidth and does not answer single losses; only in mode linux.",
        RackTlp, Bbr;
}

impl Variant {
    /// The recovery and response of this TCP, with the published parameters. Linux has one recovery
    /// for all.
    pub const fn parts(self, quirks: &Quirks) -> (RecoveryScheme, ResponseScheme) {
        let (recovery, response) = self.published();
        let recovery = match (quirks.sack, self, quirks.westwood) {
            (SackRules::Linux, _, _) => RecoveryScheme::RackTlp,
            (_, Self::Westwood, WestwoodRules::Ns2In2001) => RecoveryScheme::FastRetransmit,
            _ => recovery,
        };
        (recovery, response)
    }
}

impl Config {
    /// The same settings for another TCP.
    pub const fn with_variant(self, variant: Variant) -> Self {
        let (recovery, response) = variant.parts(&self.quirks);
        self.with_parts(recovery, response)
    }

    /// The same settings with another recovery and response. New Jersey enables [`Config::ecn`];
    /// ns-2's Vegas sends packets without headers.
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
    fn westwood_of_2001_alone_has_only_fast_retransmit() {
        let recovery = |config: Config, variant| config.with_variant(variant).recovery;
        assert_eq!(recovery(Config::ns2_2001(), Variant::Westwood), RecoveryScheme::FastRetransmit);
        assert_eq!(recovery(Config::ns2_2001(), Variant::WestwoodNr), RecoveryScheme::NewReno);
        assert_eq!(recovery(Config::ns2(), Variant::Westwood), RecoveryScheme::Reno);
    }

    #[test]
    fn ns2s_vegas_counts_no_headers_and_its_syn_is_full_length() {
        let sizes = |config: Config| (config.wire_bytes(), config.syn_bytes());
        assert_eq!(sizes(Config::ns2().with_variant(Variant::Vegas)), (1000, Some(1000)));
        assert_eq!(sizes(Config::ns2().with_variant(Variant::Sack)), (1040, Some(40)));
        assert_eq!(sizes(Config::ns2_classic().with_variant(Variant::Vegas)), (1000, None));
        assert_eq!(sizes(Config::rfc().with_variant(Variant::Vegas)), (1500, None));
    }

    #[test]
    fn a_summary_is_one_line() {
        for variant in Variant::ALL {
            assert_eq!(variant.summary().lines().count(), 1, "{}", variant.name());
        }
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
