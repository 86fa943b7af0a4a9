//! Files with random changes, the same ones in every run: what a fuzzer tries first.

/// A stream of numbers (SplitMix64).
pub(crate) struct Random(u64);

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
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if that is 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
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
        let part = at..(at + 1 + self.below(LONGEST_PART)).min(bytes.len());
        match self.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 if at < bytes.len() => bytes[at] = self.next() as u8,
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(part.start.min(part.end)..part.end)),
            4 => {
                let again = bytes[part.start.min(part.end)..part.end].to_vec();
                let to = self.below(bytes.len());
                bytes.splice(to..to, again);
            }
            5 => {
                let random: Vec<u8> = part.map(|_| self.next() as u8).collect();
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
                let big_endian = number.to_be_bytes();
                let number = if self.below(2) == 0 {
                    &number.to_le_bytes()[..width]
                } else {
                    &big_endian[8 - width..]
                };
                bytes.iter_mut().skip(at).zip(number).for_each(|(byte, new)| *byte = *new);
            }
            _ => self.replace_number(bytes, at),
        }
    }

    /// Writes an extreme number in place of the first one in words from `at` on.
    fn replace_number(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let Some(start) =
            bytes.iter().skip(at).position(u8::is_ascii_digit).map(|skipped| at + skipped)
        else {
            return;
        };
        let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = self.one(&EXTREME_IN_WORDS);
        bytes.splice(start..start + length, number.bytes());
    }
}
