//! Files with random changes, the same ones in every run: what a fuzzer tries first.

use losscause_sim::rng::Stream;

/// A stream of random changes.
pub(crate) struct Random(Stream);

/// Numbers that lengths, counts and times are not made for.
const EXTREME: [u64; 8] = [0, 1, 0x7f, 0xff, 0x7fff_ffff, 0xffff_ffff, i64::MAX as u64, u64::MAX];
const EXTREME_IN_WORDS: [&str; 8] =
    ["0", "-1", "1e308", "1e-308", "nan", "inf", "18446744073709551616", "0.1"];
/// Most changes of a file.
const MOST_CHANGES: usize = 4;
/// Longest part that is repeated, removed or inserted, bytes.
const LONGEST_PART: usize = 64;

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Stream::new(seed, "changes"))
    }

    /// A number below `end`; 0 if that is 0.
    fn below(&mut self, end: usize) -> usize {
        self.0.below(end.max(1) as u64) as usize
    }

    fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }

    /// One of `files`, changed.
    pub(crate) fn changed(&mut self, files: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = files[self.below(files.len())].clone();
        for _ in 0..=self.below(MOST_CHANGES) {
            self.change(&mut bytes, files);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, files: &[Vec<u8>]) {
        let at = self.below(bytes.len());
        let end = (at + 1 + self.below(LONGEST_PART)).min(bytes.len());
        match self.below(9) {
            0 if at < end => bytes[at] ^= 1 << self.below(8),
            1 if at < end => bytes[at] = self.byte(),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let again = bytes[at..end].to_vec();
                let to = self.below(bytes.len());
                bytes.splice(to..to, again);
            }
            5 => {
                let random: Vec<u8> = (at..end).map(|_| self.byte()).collect();
                bytes.splice(at..at, random);
            }
            6 => {
                let other = &files[self.below(files.len())];
                bytes.truncate(at);
                bytes.extend(&other[self.below(other.len())..]);
            }
            7 => {
                let number = EXTREME[self.below(EXTREME.len())];
                let width = [1, 2, 4, 8][self.below(4)];
                let [little, big] = [number.to_le_bytes(), number.to_be_bytes()];
                let number = if self.below(2) == 0 { &little[..width] } else { &big[8 - width..] };
                bytes.iter_mut().skip(at).zip(number).for_each(|(byte, new)| *byte = *new);
            }
            _ => self.replace_number(bytes, at),
        }
    }

    /// Writes an extreme number in place of the first one in words from `at` on.
    fn replace_number(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let Some(skipped) = bytes[at..].iter().position(u8::is_ascii_digit) else { return };
        let start = at + skipped;
        let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = EXTREME_IN_WORDS[self.below(EXTREME_IN_WORDS.len())];
        bytes.splice(start..start + length, number.bytes());
    }
}
