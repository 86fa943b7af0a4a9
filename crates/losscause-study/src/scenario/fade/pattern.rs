//! Patterns of packet errors as text files: the parameters of the channel, then one line per trial.
//!
//! ```text
//! # comments
//! fingerprint = "0123456789abcdef"     of the lines that follow it
//! packet_bytes = 381                   the channel, key by key
//! …
//!                                      an empty line, then one line per trial:
//! 12 x3 x1 573                         12 packets received, two lost with 3 and 1 wrong bits, 573 received
//! ```

use std::fmt::Write;
use std::path::Path;

use super::channel::Channel;
use super::statistics::Statistics;
use crate::error::InputError;
use crate::files::{self, Disk};
use crate::tools::toml_file;

/// Which packets a channel corrupts.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// The channel.
    pub channel: Channel,
    /// Trial by trial, how many bits of each packet are wrong after decoding; 0 if it is received.
    pub trials: Vec<Vec<u32>>,
}

/// What an error says was expected in place of a file that is no pattern.
pub(crate) const PATTERN: &str = "a pattern of packet errors made by `losscause fade`";

/// Largest file that is read, bytes.
pub(crate) const LARGEST_PATTERN: u64 = 64 << 20;

impl Pattern {
    /// Reads a pattern's file from the disk.
    ///
    /// # Errors
    /// The file cannot be read; then as [`Pattern::parse`].
    pub fn load(file: &Path) -> Result<Self, InputError> {
        Self::parse(
            &files::text(&Disk, file, LARGEST_PATTERN, PATTERN)?,
            &file.display().to_string(),
        )
    }

    /// Reads a pattern from a text; `file` is what errors call it.
    ///
    /// # Errors
    /// The text is no pattern, is not complete, or its parameters are not those it was made with.
    pub fn parse(text: &str, file: &str) -> Result<Self, InputError> {
        let text = text.replace("\r\n", "\n");
        let problem = |problem: String| InputError::file(file, problem, PATTERN);
        let (head, body) =
            text.split_once("\n\n").ok_or_else(|| problem("has no trials".into()))?;
        let mut table = toml_file::table(head, file, PATTERN)?;
        let fingerprint = table.remove("fingerprint");
        let channel: Channel = toml_file::from_table(&table, file)?;
        let expected = channel.fingerprint();
        let syntax =
            |line: usize, problem: String| InputError::Syntax { file: file.into(), line, problem };
        if fingerprint.as_ref().and_then(toml::Value::as_str) != Some(expected.as_str()) {
            let line = head
                .lines()
                .position(|line| line.trim_start().starts_with("fingerprint"))
                .map_or(1, |at| at + 1);
            let problem = "the fingerprint is not that of the parameters below, so the pattern was made with others";
            return Err(syntax(line, format!("{problem}, expected \"{expected}\"")));
        }
        let uplink =
            channel.uplink().map_err(|(key, problem)| InputError::key(file, key, problem))?;
        let trials = trials(body, &channel, uplink.packets_per_trial());
        let first_line = head.lines().count() + 2;
        let trials = trials.map_err(|(index, problem)| syntax(first_line + index, problem))?;
        Ok(Self { channel, trials })
    }

    /// The pattern as a text.
    pub fn to_text(&self) -> String {
        let mut text = String::from(
            "# Which packets a fading channel corrupts, made by `losscause fade`; `losscause docs jakes` explains it.\n\
             # One line per trial: a number is so many packets received, x3 a packet lost with three wrong bits.\n",
        );
        let _ = write!(
            text,
            "fingerprint = \"{}\"\n{}\n",
            self.channel.fingerprint(),
            self.channel.to_text()
        );
        for trial in &self.trials {
            let words: Vec<String> = trial
                .chunk_by(|a, b| *a == 0 && *b == 0)
                .map(|run| if run[0] == 0 { run.len().to_string() } else { format!("x{}", run[0]) })
                .collect();
            text += &words.join(" ");
            text.push('\n');
        }
        text
    }

    /// Packets of one trial; all trials have as many.
    pub fn packets_per_trial(&self) -> usize {
        self.trials.first().map_or(0, Vec::len)
    }

    /// Whether each packet is lost, all trials one after the other.
    pub fn lost(&self) -> Vec<bool> {
        self.trials.iter().flatten().map(|&wrong| wrong > 0).collect()
    }

    /// How often and in which bursts packets are lost.
    pub fn statistics(&self) -> Statistics {
        Statistics::of(&self.trials, 8 * self.channel.packet_bytes)
    }
}

/// The trials of `channel`, one a line; or the line, counted from 0, that is wrong, and why.
fn trials(body: &str, channel: &Channel, packets: usize) -> Result<Vec<Vec<u32>>, (usize, String)> {
    let expected = channel.trials as usize;
    let mut trials = Vec::new();
    for (index, words) in body.split_inclusive('\n').enumerate() {
        if index == expected {
            return Err((
                index,
                format!("the pattern goes on, expected its end after {expected} trials"),
            ));
        }
        trials.push(trial(words, packets).map_err(|problem| (index, problem))?);
        // A line that is cut off within its last number would still be valid; the line's end shows
        // that it is complete.
        if !words.ends_with('\n') {
            return Err((index, "the line has no end, expected the complete pattern".into()));
        }
    }
    if trials.len() < expected {
        return Err((trials.len(), format!("the pattern ends here, expected {expected} trials")));
    }
    Ok(trials)
}

/// One trial of `packets` packets.
fn trial(words: &str, packets: usize) -> Result<Vec<u32>, String> {
    let mut trial = Vec::with_capacity(packets);
    for word in words.split_whitespace() {
        let (lost, digits) = word.strip_prefix('x').map_or((false, word), |digits| (true, digits));
        let number = digits.parse::<u32>().ok().filter(|&number| number > 0);
        let Some(number) = number else {
            let shown: String = word.chars().take(20).flat_map(char::escape_default).collect();
            return Err(format!(
                "\"{shown}\" is out of place, expected a number of packets, or x and a number of bits"
            ));
        };
        let room = packets - trial.len();
        let count = if lost { 1 } else { number as usize };
        if count > room {
            return Err(format!(
                "there are more than {packets} packets, the number that a trial has"
            ));
        }
        trial.extend(std::iter::repeat_n(if lost { number } else { 0 }, count));
    }
    if trial.len() < packets {
        return Err(format!("there are {} packets, expected {packets}", trial.len()));
    }
    Ok(trial)
}
