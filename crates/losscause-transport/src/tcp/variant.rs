//! The TCPs by name: a recovery, a response, and the settings that go with them.

use super::config::{
    Config, FastRetransmit, Inflation, NewRenoRules, RecoveryScheme, ResponseScheme, SackOption, VegasParameters,
    VegasRules, WestwoodRules, WestwoodVtParameters,
};

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
    /// Reno's recovery, Westwood's response (Mascolo et al. 2001); by the rules of 2001, fast retransmit alone, as in its authors'
    /// agent for ns-2.
    Westwood,
    /// NewReno's recovery, Westwood's response.
    WestwoodNr,
    /// NewReno's recovery, WestwoodVT's response (Koo, Mun and Choo 2007).
    WestwoodVt,
    /// NewReno's recovery, New Jersey's response (Xu, Tian and Ansari 2005).
    NewJersey,
}

/// A loss recovery by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryName {
    /// [`RecoveryScheme::Reno`].
    Reno,
    /// The same on every third duplicate ACK, and with no window beyond cwnd meanwhile: no fast recovery.
    FastRetransmit,
    /// [`RecoveryScheme::NewReno`].
    NewReno,
    /// [`RecoveryScheme::Sack`], or [`RecoveryScheme::Sack1`] in ns-2.
    Sack,
    /// [`RecoveryScheme::Vegas`].
    Vegas,
}

/// A response by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseName {
    /// [`ResponseScheme::Aimd`].
    Aimd,
    /// [`ResponseScheme::Vegas`].
    Vegas,
    /// [`ResponseScheme::Veno`].
    Veno,
    /// [`ResponseScheme::Cubic`].
    Cubic,
    /// [`ResponseScheme::Westwood`].
    Westwood,
    /// [`ResponseScheme::WestwoodVt`].
    WestwoodVt,
    /// [`ResponseScheme::NewJersey`].
    NewJersey,
}

/// Whose rules to follow where RFCs and papers differ from ns-2.35.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Those of the RFC or the paper.
    Published,
    /// Those of ns-2.35.
    Ns2,
    /// Those of ns-2 in 2001, where they were others.
    Ns2In2001,
}

impl Variant {
    /// What it sends again, and what its window does.
    pub const fn parts(self, rules: Rules) -> (RecoveryName, ResponseName) {
        match self {
            Self::Westwood if matches!(rules, Rules::Ns2In2001) => {
                (RecoveryName::FastRetransmit, ResponseName::Westwood)
            }
            Self::Reno => (RecoveryName::Reno, ResponseName::Aimd),
            Self::NewReno => (RecoveryName::NewReno, ResponseName::Aimd),
            Self::Sack => (RecoveryName::Sack, ResponseName::Aimd),
            Self::Vegas => (RecoveryName::Vegas, ResponseName::Vegas),
            Self::Veno => (RecoveryName::Reno, ResponseName::Veno),
            Self::Cubic => (RecoveryName::Sack, ResponseName::Cubic),
            Self::Westwood => (RecoveryName::Reno, ResponseName::Westwood),
            Self::WestwoodNr => (RecoveryName::NewReno, ResponseName::Westwood),
            Self::WestwoodVt => (RecoveryName::NewReno, ResponseName::WestwoodVt),
            Self::NewJersey => (RecoveryName::NewReno, ResponseName::NewJersey),
        }
    }
}

impl Config {
    /// The same settings for another TCP. Of Veno, CUBIC, the Westwoods and New Jersey ns-2.35 has no agents of this kind: their responses are
    /// the published ones, over ns-2's recoveries.
    pub const fn with_variant(self, variant: Variant, rules: Rules) -> Self {
        let (recovery, response) = variant.parts(rules);
        self.with_recovery(recovery, rules).with_response(response, rules)
    }

    /// The same settings with another recovery; for ns-2's Vegas packets without headers, the SYN as long as any, as there.
    pub const fn with_recovery(self, recovery: RecoveryName, rules: Rules) -> Self {
        use RecoveryName as R;
        let mut config = self;
        config.sack = None;
        config.recovery = match (recovery, rules) {
            (R::Reno, _) => RecoveryScheme::Reno,
            (R::FastRetransmit, _) => {
                config.fast_retransmit = FastRetransmit::Always;
                config.inflation = Inflation::Never;
                RecoveryScheme::Reno
            }
            (R::NewReno, Rules::Published) => {
                config.fast_retransmit = FastRetransmit::AfterRecovery;
                RecoveryScheme::NewReno(NewRenoRules::RFC)
            }
            (R::NewReno, Rules::Ns2) => RecoveryScheme::NewReno(NewRenoRules::NS2),
            (R::NewReno, Rules::Ns2In2001) => RecoveryScheme::NewReno(NewRenoRules::NS2_2001),
            (R::Sack, Rules::Published) => {
                config.sack = Some(SackOption { fixed_bytes: 4 });
                RecoveryScheme::Sack
            }
            (R::Sack, Rules::Ns2 | Rules::Ns2In2001) => {
                config.sack = Some(SackOption { fixed_bytes: 0 });
                config.grow_on_recovery_exit = false;
                RecoveryScheme::Sack1
            }
            (R::Vegas, Rules::Published) => RecoveryScheme::Vegas(VegasRules::Published),
            (R::Vegas, Rules::Ns2 | Rules::Ns2In2001) => {
                config.header_bytes = 0;
                if config.syn_bytes.is_some() {
                    config.syn_bytes = Some(config.payload_bytes);
                }
                RecoveryScheme::Vegas(VegasRules::Ns2)
            }
        };
        config
    }

    /// The same settings with another response.
    pub const fn with_response(self, response: ResponseName, rules: Rules) -> Self {
        let (vegas, westwood) = match rules {
            Rules::Published => (VegasRules::Published, WestwoodRules::Published),
            Rules::Ns2 => (VegasRules::Ns2, WestwoodRules::Ns2),
            Rules::Ns2In2001 => (VegasRules::Ns2, WestwoodRules::Ns2In2001),
        };
        let response = match response {
            ResponseName::Aimd => ResponseScheme::Aimd,
            ResponseName::Vegas => ResponseScheme::Vegas(VegasParameters::new(vegas)),
            ResponseName::Veno => ResponseScheme::Veno,
            ResponseName::Cubic => ResponseScheme::Cubic,
            ResponseName::Westwood => ResponseScheme::Westwood(westwood),
            ResponseName::WestwoodVt => ResponseScheme::WestwoodVt(WestwoodVtParameters::new(westwood)),
            ResponseName::NewJersey => ResponseScheme::NewJersey,
        };
        // New Jersey lives on marks.
        let ecn = self.ecn || matches!(response, ResponseScheme::NewJersey);
        Self { response, ecn, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reno_is_what_the_named_sets_hold() {
        assert_eq!(Config::rfc().with_variant(Variant::Reno, Rules::Published), Config::rfc());
        assert_eq!(Config::ns2().with_variant(Variant::Reno, Rules::Ns2), Config::ns2());
    }

    #[test]
    fn westwood_of_2001_has_fast_retransmit_alone_and_the_one_over_newreno_has_not() {
        let config = |variant| Config::ns2_2001().with_variant(variant, Rules::Ns2In2001);
        let (alone, over_newreno) = (config(Variant::Westwood), config(Variant::WestwoodNr));
        assert_eq!((alone.fast_retransmit, alone.inflation), (FastRetransmit::Always, Inflation::Never));
        assert_eq!(
            (over_newreno.fast_retransmit, over_newreno.inflation),
            (FastRetransmit::OncePerWindow, Inflation::Always)
        );
        assert_eq!(alone.response, over_newreno.response);
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
        let sets =
            [(Config::rfc(), Rules::Published), (Config::ns2(), Rules::Ns2), (Config::ns2_2001(), Rules::Ns2In2001)];
        for (base, rules) in sets {
            let configs = all.map(|variant| base.with_variant(variant, rules));
            for (i, config) in configs.iter().enumerate() {
                assert_eq!(config.validate(), Ok(()));
                assert!(configs[..i].iter().all(|other| other != config));
            }
        }
    }
}
