//! The programs by name, their settings, and the parameters that they are loaded with.
//!
//! An algorithm's parameters are those of [`losscause`]: its defaults, its ranges, its sentences
//! about them. This file turns them into the fixed-point numbers of `bpf/types.h`.

use losscause::filter::Lookback;
use losscause::lda::{SpikeConfig, VegasBufferConfig, ZbsConfig};
use losscause::registry::Value;
use losscause::{BuiltIn, End, LdaConfig, Safeguards, Span};

use super::{Base, Caps, KernelError, safeguards};

/// A congestion control that can be loaded.
#[derive(Debug)]
pub struct Algorithm {
    /// The algorithm's name in the kernel, at most 15 characters.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// The rule.
    rule: Rule,
}

/// The rule of an algorithm, which decides how its parameters are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Spike,
    ZigZag,
    Zbs,
    FlipFlop,
    WestwoodVt,
    Veno,
    Sift,
}

/// All of them.
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm::new(
        "lc_spike",
        "Reno; wireless if the RTT is not in a spike (Dalwadi)",
        Rule::Spike,
    ),
    Algorithm::new(
        "lc_newreno_ff",
        "Reno; wireless if few of the last RTTs were outliers (Barman)",
        Rule::FlipFlop,
    ),
    Algorithm::new(
        "lc_westwood_vt",
        "Westwood; wireless if few packets are queued (Koo)",
        Rule::WestwoodVt,
    ),
    Algorithm::new(
        "lc_zigzag",
        "Reno; wireless if the RTT is well below its mean (Cen)",
        Rule::ZigZag,
    ),
    Algorithm::new(
        "lc_zbs",
        "Reno; ZigZag, mBiaz or Spike, whichever suits the path (Cen)",
        Rule::Zbs,
    ),
    Algorithm::new(
        "lc_veno",
        "Veno, a yardstick: a smaller cut if few packets are queued (Fu)",
        Rule::Veno,
    ),
    Algorithm::new(
        "lc_cubic_spike",
        "CUBIC; wireless if the RTT is not in a spike (Dalwadi)",
        Rule::Spike,
    ),
    Algorithm::new(
        "lc_cubic_zbs",
        "CUBIC; ZigZag, mBiaz or Spike, whichever suits the path (Cen)",
        Rule::Zbs,
    ),
    Algorithm::new(
        "lc_sift",
        "Reno; wireless if 23 readings of the path together say so",
        Rule::Sift,
    ),
    Algorithm::new(
        "lc_cubic_sift",
        "CUBIC; wireless if 23 readings of the path together say so",
        Rule::Sift,
    ),
];

/// What an algorithm is loaded with.
#[derive(Clone, Debug)]
pub struct Settings {
    algorithm: &'static Algorithm,
    lda: LdaConfig,
    caps: Caps,
    safeguards: Safeguards,
    dry_run: bool,
}

impl Algorithm {
    const fn new(name: &'static str, about: &'static str, rule: Rule) -> Self {
        assert!(name.len() <= 15, "the kernel's names have at most 15 characters");
        Self { name, about, rule }
    }

    /// Finds one by its name.
    ///
    /// # Errors
    /// [`KernelError::UnknownAlgorithm`], which lists them all.
    pub fn find(name: &str) -> Result<&'static Self, KernelError> {
        ALGORITHMS.iter().find(|algorithm| algorithm.name == name).ok_or_else(|| {
            KernelError::UnknownAlgorithm {
                name: name.to_owned(),
                known: ALGORITHMS.iter().map(|algorithm| algorithm.name).collect(),
            }
        })
    }

    /// The algorithm's published parameters, with the default caps and both safeguards.
    pub fn settings(&'static self) -> Settings {
        Settings {
            algorithm: self,
            lda: self.rule.published(),
            caps: Caps::default(),
            safeguards: Safeguards::ON,
            dry_run: false,
        }
    }

    /// The kernel's congestion control whose growth it has.
    pub fn base(&self) -> Base {
        if self.name.starts_with("lc_cubic_") { Base::Cubic } else { Base::Reno }
    }

    /// The names of its settings.
    pub fn keys(&self) -> Vec<&'static str> {
        let words = self.rule.words();
        let limits = Caps::SETTINGS.map(|(key, _)| key).into_iter().chain(safeguards::SETTINGS);
        words.iter().filter_map(Word::key).chain(limits).collect()
    }
}

impl Settings {
    /// The algorithm.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// The algorithm's parameters in the crate that is the reference.
    pub fn lda(&self) -> &LdaConfig {
        &self.lda
    }

    /// In a dry run the program judges and counts losses, and the window is that of the growth
    /// alone: the kernel's Reno or CUBIC. A rule that reads the window reads that one.
    pub fn set_dry_run(&mut self, dry_run: bool) {
        self.dry_run = dry_run;
    }

    /// Changes one setting, `KEY=VALUE`.
    ///
    /// # Errors
    /// No equals sign, no such setting, or a value of the wrong kind or outside its range.
    pub fn set(&mut self, setting: &str) -> Result<(), KernelError> {
        let algorithm = self.algorithm.name;
        let Some((key, text)) = setting.split_once('=') else {
            return Err(KernelError::NoKeyValue { given: setting.to_owned() });
        };
        let value = match (text, text.parse()) {
            (_, Ok(number)) => Value::Number(number),
            ("true", _) => Value::Flag(true),
            ("false", _) => Value::Flag(false),
            _ => Value::Text(text),
        };
        let number = if let Value::Number(number) = value { number } else { f64::NAN };
        if let Some(outcome) = self.caps.set(key, number) {
            return outcome.map_err(|error| KernelError::Setting { algorithm, error });
        }
        if let Some(outcome) = safeguards::set(&mut self.safeguards, key, value) {
            return outcome.map_err(|error| KernelError::Setting { algorithm, error });
        }
        if !self.algorithm.keys().contains(&key) {
            let known = self.algorithm.keys();
            return Err(KernelError::UnknownSetting { algorithm, key: key.to_owned(), known });
        }
        self.lda.set(key, value).map_err(|error| KernelError::Setting { algorithm, error })
    }

    /// The parameters as the program reads them: `struct lc_parameters`, 64-bit numbers in the
    /// machine's byte order.
    ///
    /// # Errors
    /// A parameter lies outside its range, or beyond what fixed point holds.
    pub fn words(&self) -> Result<Vec<u64>, KernelError> {
        let algorithm = self.algorithm.name;
        self.lda.build(End::Sender).map_err(|error| KernelError::Setting { algorithm, error })?;
        let mut words = vec![
            u64::from(self.caps.max_run),
            fraction(self.caps.max_share),
            u64::from(self.safeguards.guard),
            u64::from(self.safeguards.brake),
            u64::from(self.dry_run),
        ];
        for word in self.algorithm.rule.words() {
            words.push(word.of(&self.lda).map_err(|(key, value, largest)| {
                KernelError::TooLarge { algorithm, key, value, largest }
            })?);
        }
        Ok(words)
    }
}

/// The place of `dry_run` among the words.
pub(super) const DRY_RUN_WORD: usize = 4;

/// `LC_FRACTION_SHIFT` and `LC_LARGEST_FRACTION` of `bpf/types.h`, and the longest setting in time:
/// a day.
const FRACTION_SHIFT: u32 = 18;
const LARGEST_FRACTION: f64 = 64.0;
const LONGEST_MS: f64 = 86_400_000.0;

fn fraction(value: f64) -> u64 {
    (value * f64::from(1 << FRACTION_SHIFT)).round() as u64
}

/// How one parameter becomes a number of the program.
#[derive(Clone, Copy, Debug)]
enum Word {
    /// A fraction.
    Fraction(&'static str),
    /// A fraction, one less than the setting.
    FractionAboveOne(&'static str),
    /// Milliseconds, as nanoseconds.
    Millis(&'static str),
    /// Whole parts, of which so many make one.
    Parts(&'static str, f64),
    /// A whole number.
    Count(&'static str),
    /// A flag, or whether a choice is this one.
    Is(&'static str, &'static str),
    /// As [`Word::Is`], but part of the algorithm, not a setting.
    Fixed(&'static str, &'static str),
}

impl Word {
    /// The setting, if it is one.
    fn key(&self) -> Option<&'static str> {
        match *self {
            Word::Fraction(key) | Word::FractionAboveOne(key) | Word::Millis(key) => Some(key),
            Word::Parts(key, _) | Word::Count(key) | Word::Is(key, _) => Some(key),
            Word::Fixed(..) => None,
        }
    }

    /// The number, or the key, its value and the largest value that the program can hold.
    fn of(self, lda: &LdaConfig) -> Result<u64, (&'static str, f64, f64)> {
        let number = |key| match lda.get(key) {
            Some(Value::Number(number)) => number,
            other => unreachable!("{key} is a number of this algorithm, not {other:?}"),
        };
        let at_most = |key, largest| {
            let value = number(key);
            if value <= largest { Ok(value) } else { Err((key, value, largest)) }
        };
        Ok(match self {
            Word::Fraction(key) => fraction(at_most(key, LARGEST_FRACTION)?),
            Word::FractionAboveOne(key) => fraction(at_most(key, LARGEST_FRACTION)? - 1.0),
            Word::Millis(key) => (at_most(key, LONGEST_MS)? * 1e6).round() as u64,
            Word::Parts(key, parts) => (number(key) * parts) as u64,
            Word::Count(key) => number(key) as u64,
            Word::Is(key, choice) | Word::Fixed(key, choice) => match lda.get(key) {
                Some(Value::Text(chosen)) => u64::from(chosen == choice),
                Some(Value::Flag(flag)) => u64::from(flag),
                other => {
                    unreachable!("{key} is a choice or a flag of this algorithm, not {other:?}")
                }
            },
        })
    }
}

/// Spike with extremes of the last minute. As published they hold for ever; a connection may live
/// for days, and one outlier among its round-trip times would then hide every queue.
fn spike() -> SpikeConfig {
    SpikeConfig {
        window: Lookback { time: Span::from_secs(60), pkts: 0 },
        ..SpikeConfig::default()
    }
}

impl Rule {
    /// The published parameters, but for Spike's window.
    fn published(self) -> LdaConfig {
        match self {
            Rule::Spike => LdaConfig::Spike(spike()),
            Rule::ZigZag => BuiltIn::ZigZag.config(),
            Rule::Zbs => LdaConfig::Zbs(ZbsConfig { spike: spike(), ..ZbsConfig::default() }),
            Rule::FlipFlop => BuiltIn::FlipFlop.config(),
            Rule::WestwoodVt => LdaConfig::VegasBuffer(VegasBufferConfig::westwood_vt()),
            Rule::Veno => LdaConfig::VegasBuffer(VegasBufferConfig::veno()),
            Rule::Sift => BuiltIn::Sift.config(),
        }
    }

    /// The fields of its `struct lc_lda_parameters`, in their order.
    fn words(self) -> &'static [Word] {
        match self {
            Rule::Spike => {
                &[Word::Fraction("alpha"), Word::Fraction("beta"), Word::Millis("window_ms")]
            }
            Rule::ZigZag => &[Word::Fraction("alpha"), Word::Is("judged_by", "after-gap")],
            Rule::FlipFlop => &[Word::Count("history"), Word::Count("eta")],
            Rule::Sift => &[Word::Parts("margin_db", 10.0)],
            Rule::WestwoodVt | Rule::Veno => &[
                Word::Fraction("alpha"),
                Word::Fraction("beta"),
                Word::Fixed("between", "undecided"),
            ],
            Rule::Zbs => &[
                Word::Fraction("rott_margin"),
                Word::Fraction("unshared_from"),
                Word::Fraction("ambiguous_from"),
                Word::Fraction("shared_from"),
                Word::Fraction("t_avg_gain"),
                Word::Millis("lock_ms"),
                Word::Count("lock_pkts"),
                Word::Is("lock_at_start", "true"),
                Word::FractionAboveOne("mbiaz.upper_limit"),
                Word::Fraction("spike.alpha"),
                Word::Fraction("spike.beta"),
                Word::Millis("spike.window_ms"),
                Word::Fraction("zigzag.alpha"),
                Word::Is("zigzag.judged_by", "after-gap"),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, settings: &[&str]) -> Result<Vec<u64>, String> {
        let mut loaded = Algorithm::find(name).map_err(|e| e.to_string())?.settings();
        for setting in settings {
            loaded.set(setting).map_err(|e| e.to_string())?;
        }
        loaded.words().map_err(|e| e.to_string())
    }

    #[test]
    fn parameters_become_multiples_of_2_to_the_minus_18() {
        // max_run 1000, max_share 0.1 = 26214.4 / 2^18; alpha 1/2 = 131072 / 2^18, beta 1/3 =
        // 87381.3 / 2^18.
        assert_eq!(
            with("lc_spike", &[]),
            Ok(vec![1000, 26_214, 1, 1, 0, 131_072, 87_381, 60_000_000_000])
        );
        // 1/32 = 8192 / 2^18; before-gap.
        assert_eq!(with("lc_zigzag", &[]), Ok(vec![1000, 26_214, 1, 1, 0, 8_192, 0]));
        assert_eq!(
            with("lc_zigzag", &["judged_by=after-gap", "max_run=5", "brake=false"]),
            Ok(vec![5, 26_214, 1, 0, 0, 8_192, 1])
        );
        // 14 and 16 packets; undecided between.
        assert_eq!(with("lc_westwood_vt", &[]).expect("valid")[5..], [14 << 18, 16 << 18, 1]);
        assert_eq!(with("lc_veno", &[]).expect("valid")[5..], [3 << 18, 3 << 18, 0]);
        assert_eq!(with("lc_newreno_ff", &["history=8", "eta=4"]).expect("valid")[5..], [8, 4]);
        // 2.7 dB and 6 dB in tenths.
        assert_eq!(with("lc_sift", &[]).expect("valid")[5..], [27]);
        assert_eq!(with("lc_cubic_sift", &["margin_db=6"]).expect("valid")[5..], [60]);
        let mut dry = Algorithm::find("lc_sift").expect("there is one").settings();
        dry.set_dry_run(true);
        assert_eq!(dry.words().expect("valid"), [1000, 26_214, 1, 1, 1, 27]);
    }

    #[test]
    fn what_cannot_be_set_is_refused_in_one_sentence() {
        for (name, setting, sentence) in [
            ("lc_spike", "alpha=3", "lc_spike: alpha is 3 but must be a number from 0 to 2"),
            ("lc_spike", "alpha", "--set alpha: expected KEY=VALUE"),
            ("lc_spike", "alpha=high", "lc_spike: alpha must be a number"),
            (
                "lc_spike",
                "update=at-losses",
                "lc_spike has no setting update, expected one of alpha, beta, window_ms, max_run, max_share, guard, brake",
            ),
            (
                "lc_sift",
                "margin_db=61",
                "lc_sift: margin_db is 61 but must be a number from 0 to 60",
            ),
            (
                "lc_spike",
                "max_share=2",
                "lc_spike: max_share is 2 but must be a number from 0 to 1",
            ),
            (
                "lc_spike",
                "max_run=-1",
                "lc_spike: max_run is -1 but must be a whole number from 0 to 2^32 - 1",
            ),
            (
                "lc_zbs",
                "shared_from=100",
                "lc_zbs: shared_from is 100 but must be at most 64, because the kernel computes in fixed point",
            ),
            (
                "lc_newreno_ff",
                "eta=11",
                "lc_newreno_ff: eta is 11 but must not be larger than history, which is 10",
            ),
        ] {
            assert_eq!(with(name, &[setting]), Err(sentence.to_owned()));
        }
        let unknown = Algorithm::find("lc_reno").expect_err("there is none").to_string();
        assert!(
            unknown.starts_with("there is no algorithm \"lc_reno\", expected one of lc_spike, "),
            "{unknown}"
        );
    }
}
