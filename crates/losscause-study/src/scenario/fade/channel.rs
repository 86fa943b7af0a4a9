//! Channel files: the physical parameters of a fading channel. `docs/channels/jakes.md` explains
//! the keys.

use std::path::Path;

use losscause::Span;
use losscause_sim::jakes::{self, Uplink};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::error::{InputError, unknown};
use crate::files::{self, Disk, LARGEST_DOCUMENT};
use crate::scenario::setting::Setting;
use crate::tools::toml_file;

const EXPECTED: &str = "a channel file in TOML (losscause docs jakes)";

/// One channel, key by key; [`jakes::Parameters`] explains them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// Size of a packet, bytes.
    pub packet_bytes: u32,
    /// Information rate of a user, bits per second.
    pub rate_bps: u64,
    /// Length of a trial, seconds.
    pub trial_s: f64,
    /// Number of trials.
    pub trials: u32,
    /// Random seed.
    pub seed: u32,
    /// Spreading gain, chips.
    pub spreading_gain: u32,
    /// Whether the spreading gain is per information bit or per coded bit.
    #[serde(with = "Unit")]
    pub chips_of: jakes::Unit,
    /// Users that send at the same time.
    pub users: u32,
    /// Paths that the receiver resolves.
    pub paths: u32,
    /// Loss of power from each path to the next, dB.
    pub path_decay_db: f64,
    /// Energy per bit over the noise power density, dB.
    pub eb_n0_db: f64,
    /// Whether `eb_n0_db` is per information bit or per coded bit.
    #[serde(with = "Unit")]
    pub energy_of: jakes::Unit,
    /// Whether that energy arrives on one path or on all paths together.
    #[serde(with = "EnergyOn")]
    pub energy_on: jakes::EnergyOn,
    /// Loss of the receiver's implementation, dB.
    pub implementation_loss_db: f64,
    /// How the users' signals are aligned in time.
    #[serde(with = "Alignment")]
    pub alignment: jakes::Alignment,
    /// Whether a user's other paths interfere with the path received.
    pub self_interference: bool,
    /// Largest Doppler shift times the duration that `doppler_per` names.
    pub doppler: f64,
    /// The duration that `doppler` is per.
    #[serde(with = "DopplerPer")]
    pub doppler_per: jakes::DopplerPer,
    /// Oscillators of the fading model.
    pub oscillators: u32,
    /// Constraint length of the convolutional code.
    pub constraint_length: u32,
    /// Whether the demodulator gives soft or hard decisions to the decoder.
    #[serde(with = "Decision")]
    pub decision: jakes::Decision,
    /// Packets per block of the interleaver.
    pub interleaver_packets: u32,
    /// Coded bits per row of the interleaver.
    pub interleaver_columns: u32,
}

/// How a file spells [`jakes::Unit`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "jakes::Unit", rename_all = "kebab-case")]
enum Unit {
    Bit,
    CodedBit,
}

/// How a file spells [`jakes::EnergyOn`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "jakes::EnergyOn", rename_all = "kebab-case")]
enum EnergyOn {
    Path,
    AllPaths,
}

/// How a file spells [`jakes::Alignment`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "jakes::Alignment", rename_all = "kebab-case")]
enum Alignment {
    Asynchronous,
    ChipsAligned,
    Synchronous,
}

/// How a file spells [`jakes::DopplerPer`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "jakes::DopplerPer", rename_all = "kebab-case")]
enum DopplerPer {
    Bit,
    CodedBit,
    Chip,
}

/// How a file spells [`jakes::Decision`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "jakes::Decision", rename_all = "kebab-case")]
enum Decision {
    Soft,
    Hard,
}

/// Most trials of a channel.
const MOST_TRIALS: u32 = 100_000;

/// Most packets in a pattern.
const MOST_PACKETS: usize = 10_000_000;

/// Most patterns in a file.
const MOST_PATTERNS: usize = 100;

/// A pattern to be made: its name and its channel, checked.
#[derive(Clone, Debug)]
pub struct Source {
    /// The pattern's name in the file: "high".
    pub name: String,
    /// The channel.
    pub channel: Channel,
    /// The simulated uplink of that channel.
    pub uplink: Uplink,
}

/// Reads a channel file from the disk and changes it by `settings`.
///
/// # Errors
/// The file cannot be read; then as [`parse`].
pub fn load(file: &Path, settings: &[Setting]) -> Result<Vec<Source>, InputError> {
    parse(
        &files::text(&Disk, file, LARGEST_DOCUMENT, EXPECTED)?,
        &file.display().to_string(),
        settings,
    )
}

/// Reads a channel from a text: the keys of [`Channel`], and a `[[pattern]]` for each pattern with
/// its `name` and the keys that differ. A setting `KEY=VALUE` holds for all patterns,
/// `pattern.NAME.KEY=VALUE` for one. `file` is what errors call the text. The patterns come in the
/// order of the file.
///
/// # Errors
/// The text is not TOML, a key is unknown or missing, a value has the wrong type or is out of
/// range, two patterns have one name, or a setting names a pattern that does not exist.
pub fn parse(text: &str, file: &str, settings: &[Setting]) -> Result<Vec<Source>, InputError> {
    let mut common = toml_file::table(text, file, EXPECTED)?;
    let patterns = patterns(common.remove("pattern"), file)?;
    for setting in settings {
        let Some(rest) = setting.key().strip_prefix("pattern.") else { continue };
        let name = rest.split('.').next().unwrap_or_default();
        if !patterns.iter().any(|(known, _)| known == name) {
            let known: Vec<&str> = patterns.iter().map(|(name, _)| name.as_str()).collect();
            return Err(option(setting, format!("the pattern {}", unknown(name, &known))));
        }
        if rest == name {
            return Err(option(
                setting,
                format!("names no key of the pattern, expected pattern.{name}.KEY=VALUE"),
            ));
        }
    }
    patterns.into_iter().map(|(name, own)| source(name, own, &common, file, settings)).collect()
}

fn option(setting: &Setting, problem: String) -> InputError {
    InputError::option(format!("--set {setting}"), problem)
}

/// Names and own keys of the patterns.
fn patterns(value: Option<Value>, file: &str) -> Result<Vec<(String, Table)>, InputError> {
    let error = |problem: &str| {
        let problem = format!("{problem}, expected a [[pattern]] with a name for each pattern");
        InputError::key(file, "pattern", problem)
    };
    let Some(value) = value else { return Err(error("is missing")) };
    let Value::Array(entries) = value else { return Err(error("is no list of tables")) };
    let mut patterns: Vec<(String, Table)> = Vec::new();
    for entry in entries {
        let Value::Table(mut own) = entry else { return Err(error("is no list of tables")) };
        let Some(Value::String(name)) = own.remove("name") else {
            return Err(error("has an entry without a name"));
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(error("has a name that is not made of letters, digits, - and _"));
        }
        if patterns.iter().any(|(known, _)| *known == name) {
            return Err(error(&format!("has two entries named \"{name}\"")));
        }
        patterns.push((name, own));
    }
    match patterns.len() {
        0 => Err(error("is empty")),
        1..=MOST_PATTERNS => Ok(patterns),
        many => {
            Err(error(&format!("has {many} entries where at most {MOST_PATTERNS} are allowed")))
        }
    }
}

fn source(
    name: String,
    own: Table,
    common: &Table,
    file: &str,
    settings: &[Setting],
) -> Result<Source, InputError> {
    let error = |key: &str, problem: String| {
        InputError::key(file, format!("pattern.{name}.{key}"), problem)
    };
    let mut merged = common.clone();
    merged.extend(own);
    for setting in settings {
        if let Some(key) = key_in(setting, &name) {
            merged.insert(key.to_owned(), setting.value().clone());
        }
    }
    let channel: Channel = toml_file::from_table(&merged, file).map_err(|wrong| match wrong {
        InputError::Key { key, problem, file } => {
            match settings.iter().rev().find(|setting| key_in(setting, &name) == Some(&key)) {
                Some(setting) => option(setting, problem),
                None => InputError::key(file, key, problem),
            }
        }
        other => other,
    })?;
    let uplink = channel.uplink().map_err(|(key, problem)| error(key, problem))?;
    Ok(Source { name, channel, uplink })
}

/// The key that `setting` changes in the pattern `name`, if it does.
fn key_in<'a>(setting: &'a Setting, name: &str) -> Option<&'a str> {
    match setting.key().strip_prefix("pattern.") {
        None => Some(setting.key()),
        Some(rest) => {
            rest.split_once('.').and_then(|(pattern, key)| (pattern == name).then_some(key))
        }
    }
}

impl Channel {
    /// The channel as lines of TOML, one per key.
    pub fn to_text(&self) -> String {
        toml::to_string(self).expect("every field is a number, a word or a truth value")
    }

    /// A hash of all parameters, in hexadecimal: FNV-1a of [`Channel::to_text`].
    pub fn fingerprint(&self) -> String {
        let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        format!("{:016x}", self.to_text().bytes().fold(0xcbf2_9ce4_8422_2325, step))
    }

    /// The simulated uplink of the channel; or the key whose value cannot be used, and why.
    pub(super) fn uplink(&self) -> Result<Uplink, (&'static str, String)> {
        if !(1..=MOST_TRIALS).contains(&self.trials) {
            return Err(("trials", format!("is {}, expected 1 to {MOST_TRIALS}", self.trials)));
        }
        let uplink = Uplink::new(self.parameters()).map_err(|wrong| match wrong.parameter {
            "trial" => ("trial_s", wrong.problem),
            key => (key, wrong.problem),
        })?;
        let packets = uplink.packets_per_trial().saturating_mul(self.trials as usize);
        if packets > MOST_PACKETS {
            return Err((
                "trials",
                format!("makes {packets} packets, expected at most {MOST_PACKETS}"),
            ));
        }
        Ok(uplink)
    }

    /// The parameters in the simulator's types.
    fn parameters(&self) -> jakes::Parameters {
        jakes::Parameters {
            packet_bytes: self.packet_bytes,
            rate_bps: self.rate_bps,
            trial: Span::from_secs_f64_rounded(self.trial_s.clamp(0.0, 1e6)),
            spreading_gain: self.spreading_gain,
            chips_of: self.chips_of,
            users: self.users,
            paths: self.paths,
            path_decay_db: self.path_decay_db,
            eb_n0_db: self.eb_n0_db,
            energy_of: self.energy_of,
            energy_on: self.energy_on,
            implementation_loss_db: self.implementation_loss_db,
            alignment: self.alignment,
            self_interference: self.self_interference,
            doppler: self.doppler,
            doppler_per: self.doppler_per,
            oscillators: self.oscillators,
            constraint_length: self.constraint_length,
            decision: self.decision,
            interleaver_packets: self.interleaver_packets,
            interleaver_columns: self.interleaver_columns,
        }
    }
}
