//! A convolutional code of rate 1/2: its encoder, and the Viterbi decoder that finds the likeliest
//! message.
//!
//! The encoder is a shift register of K bits, the newest included; each of two generators is a mask
//! of the register, and a coded bit is the parity of what its mask covers. A message is followed by
//! K - 1 zeros, which bring the register back to zero, so that the decoder knows where the path
//! through the trellis ends.
//!
//! The decoder is the classic recursion (Viterbi 1967) over soft values: add each branch's
//! correlation with what was received, compare the two paths that meet in a state, select the
//! better one, and walk back from the end.
//!
//! Generators: the codes of largest free distance for their constraint length (Larsen 1973;
//! Proakis, *Digital Communications*, table of rate 1/2 codes), in octal, the newest bit as the
//! most significant.
//!
//! Deviations: none.

/// Shortest and longest constraint length that can be decoded.
pub(crate) const CONSTRAINT_LENGTHS: std::ops::RangeInclusive<u32> = 3..=9;

/// A code of rate 1/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code {
    constraint_length: u32,
    generators: [u32; 2],
}

impl Code {
    /// The code of largest free distance with this constraint length, one of
    /// [`CONSTRAINT_LENGTHS`].
    pub(super) fn of(constraint_length: u32) -> Self {
        let generators = match constraint_length {
            3 => [0o5, 0o7],
            4 => [0o15, 0o17],
            5 => [0o23, 0o35],
            6 => [0o53, 0o75],
            7 => [0o133, 0o171],
            8 => [0o247, 0o371],
            9 => [0o561, 0o753],
            _ => unreachable!("parameters are checked before a code is made"),
        };
        Self { constraint_length, generators }
    }

    /// Zeros after a message.
    pub(super) fn tail(self) -> usize {
        self.constraint_length as usize - 1
    }

    /// Coded bits of a message of `bits` bits.
    pub(super) fn coded(self, bits: usize) -> usize {
        2 * (bits + self.tail())
    }

    /// Appends the coded bits of `message` and of the zeros after it to `coded`.
    pub(super) fn encode(self, message: &[bool], coded: &mut Vec<bool>) {
        let mut register = 0_u32;
        for bit in message.iter().copied().chain(std::iter::repeat_n(false, self.tail())) {
            register = register >> 1 | u32::from(bit) << self.tail();
            coded.extend(self.outputs(register));
        }
    }

    fn outputs(self, register: u32) -> [bool; 2] {
        self.generators.map(|generator| (register & generator).count_ones() % 2 == 1)
    }
}

/// A decoder with its memory, for messages of one code.
#[derive(Clone, Debug)]
pub(super) struct Viterbi {
    code: Code,
    /// Which of the two predecessors each state's survivor came from, step by step.
    came_from: Vec<u8>,
}

/// Largest magnitude of a received value. Metrics are 16 bits wide and compared modulo 2^16: two
/// states' metrics differ by at most what K - 1 steps can add, 8 * 4 * 127 for the longest code.
pub(super) const LARGEST: i16 = 127;

/// How much worse than state 0 the others start: more than any path can gain on another before all
/// states are reached.
const HANDICAP: i16 = 8 * 4 * LARGEST;

impl Viterbi {
    pub(super) fn new(code: Code) -> Self {
        Self { code, came_from: Vec::new() }
    }

    /// The likeliest message, given a value for each of its coded bits: positive for 0, negative
    /// for 1, the magnitude saying how surely; at most [`LARGEST`]. `message` is overwritten, and
    /// its length says how long the message is.
    pub(super) fn decode(&mut self, received: &[i16], message: &mut [bool]) {
        debug_assert_eq!(received.len(), self.code.coded(message.len()));
        // The states that a step leaves from, halved: a constant each, so that the inner loop is
        // vectorised.
        match self.code.constraint_length {
            3 => self.forward::<2>(received),
            4 => self.forward::<4>(received),
            5 => self.forward::<8>(received),
            6 => self.forward::<16>(received),
            7 => self.forward::<32>(received),
            8 => self.forward::<64>(received),
            _ => self.forward::<128>(received),
        }
        self.walk_back(message);
    }

    /// Follows all paths. A state is the register without its oldest bit, the newest as its most
    /// significant bit: states 2i and 2i + 1 lead to i (a zero came in) and to i + HALF (a one).
    fn forward<const HALF: usize>(&mut self, received: &[i16]) {
        // Correlation's signs on the branch from state 2i with a zero. Both generators of these
        // codes cover the oldest and the newest bit, so each of the two turns both signs around.
        let sign = |generator: usize| {
            std::array::from_fn(
                |i| if self.code.outputs(2 * i as u32)[generator] { -1_i16 } else { 1 },
            )
        };
        let signs: [[i16; HALF]; 2] = [sign(0), sign(1)];
        self.came_from.clear();
        self.came_from.resize(received.len() / 2 * 2 * HALF, 0);
        // Metrics of even and odd states apart.
        let mut even = [-HANDICAP; HALF];
        let mut odd = [-HANDICAP; HALF];
        even[0] = 0;
        for (pair, came_from) in
            received.chunks_exact(2).zip(self.came_from.chunks_exact_mut(2 * HALF))
        {
            let mut zero = [0_i16; HALF];
            let mut one = [0_i16; HALF];
            let (from_zero, from_one) = came_from.split_at_mut(HALF);
            for i in 0..HALF {
                let branch = (signs[0][i] * pair[0]).wrapping_add(signs[1][i] * pair[1]);
                let plus = even[i].wrapping_add(branch);
                let minus = odd[i].wrapping_sub(branch);
                let better = minus.wrapping_sub(plus);
                zero[i] = plus.wrapping_add(better.max(0));
                from_zero[i] = u8::from(better > 0);
                let minus = even[i].wrapping_sub(branch);
                let plus = odd[i].wrapping_add(branch);
                let better = plus.wrapping_sub(minus);
                one[i] = minus.wrapping_add(better.max(0));
                from_one[i] = u8::from(better > 0);
            }
            // States 0 to HALF are those a zero led to.
            for i in 0..HALF / 2 {
                even[i] = zero[2 * i];
                odd[i] = zero[2 * i + 1];
                even[HALF / 2 + i] = one[2 * i];
                odd[HALF / 2 + i] = one[2 * i + 1];
            }
        }
    }

    /// From state 0 at the end back to the start.
    fn walk_back(&self, message: &mut [bool]) {
        let states = 1 << self.code.tail();
        let mut state = 0;
        for (step, came_from) in self.came_from.chunks_exact(states).enumerate().rev() {
            if let Some(bit) = message.get_mut(step) {
                *bit = state >= states / 2;
            }
            state = 2 * (state % (states / 2)) + usize::from(came_from[state]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::normal::Normal;
    use crate::rng::Stream;

    fn bits(text: &str) -> Vec<bool> {
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c == '1').collect()
    }

    fn encoded(code: Code, message: &[bool]) -> Vec<bool> {
        let mut coded = Vec::new();
        code.encode(message, &mut coded);
        coded
    }

    /// What arrives of coded bits if nothing happens to them.
    fn clean(coded: &[bool]) -> Vec<i16> {
        coded.iter().map(|&bit| if bit { -1 } else { 1 }).collect()
    }

    fn decoded(code: Code, received: &[i16]) -> Vec<bool> {
        let mut message = vec![false; received.len() / 2 - code.tail()];
        Viterbi::new(code).decode(received, &mut message);
        message
    }

    #[test]
    fn the_encoder_gives_what_paper_and_pencil_give() {
        // Generators 101 and 111; registers (newest bit first) 100, 010, 101, 110, then 011 and 001
        // for the zeros.
        let coded = encoded(Code::of(3), &bits("1011"));
        assert_eq!(coded, bits("11 01 00 10 10 11"));
        // A single one gives the generators' own bits, one pair per place: 1011011 and 1111001.
        assert_eq!(encoded(Code::of(7), &bits("1")), bits("11 01 11 11 00 10 11"));
    }

    #[test]
    fn every_code_has_its_published_free_distance() {
        for (constraint_length, distance) in
            [(3, 5), (4, 6), (5, 7), (6, 8), (7, 10), (8, 10), (9, 12)]
        {
            let code = Code::of(constraint_length);
            let weight = |message: u32| {
                let bits: Vec<bool> = (0..12).map(|place| message >> place & 1 == 1).collect();
                encoded(code, &bits).iter().filter(|&&bit| bit).count()
            };
            assert_eq!((1..1 << 12).map(weight).min(), Some(distance), "{constraint_length}");
        }
    }

    #[test]
    fn fewer_errors_than_half_the_free_distance_are_corrected() {
        for (constraint_length, errors) in [(3, 2), (4, 2), (5, 3), (6, 3), (7, 4), (8, 4), (9, 5)]
        {
            let code = Code::of(constraint_length);
            let message = bits("1101001110101111000010100110");
            let sent = clean(&encoded(code, &message));
            for first in 0..sent.len() - errors {
                let mut received = sent.clone();
                received[first..first + errors].iter_mut().for_each(|value| *value = -*value);
                assert_eq!(decoded(code, &received), message, "{constraint_length}, from {first}");
            }
        }
    }

    #[test]
    fn a_code_word_near_the_free_distance_misleads_the_decoder() {
        // Six errors that lead from the zero word towards a code word of weight ten.
        let code = Code::of(7);
        let wrong = bits("10100000000000");
        let mut received = vec![1; code.coded(wrong.len())];
        let towards = encoded(code, &wrong);
        let weight = towards.iter().filter(|&&bit| bit).count();
        let places = towards.iter().enumerate().filter(|(_, bit)| **bit).map(|(place, _)| place);
        places.take(weight / 2 + 1).for_each(|place| received[place] = -1);
        assert!(decoded(code, &received).contains(&true));
    }

    /// Share of wrong bits after soft decoding in white noise, with this energy per information bit
    /// over noise density.
    fn bit_error_rate(constraint_length: u32, eb_n0_db: f64) -> f64 {
        let code = Code::of(constraint_length);
        let ratio = 0.5 * 10.0_f64.powf(eb_n0_db / 10.0);
        let mut data = Stream::new(5, "data");
        let mut noise = Normal::new(Stream::new(5, "noise"));
        let mut wrong = 0;
        let mut sent = 0;
        while sent < 1_000_000 {
            let message: Vec<bool> = (0..2000).map(|_| data.uniform() < 0.5).collect();
            let mut value = |&bit: &bool| {
                let received =
                    if bit { -ratio } else { ratio } + (0.5 * ratio).sqrt() * noise.draw();
                (24.0 * received).clamp(-127.0, 127.0).round() as i16
            };
            let received: Vec<i16> = encoded(code, &message).iter().map(&mut value).collect();
            wrong += decoded(code, &received).iter().zip(&message).filter(|(a, b)| a != b).count();
            sent += message.len();
        }
        wrong as f64 / f64::from(sent as u32)
    }

    #[test]
    fn soft_decoding_of_the_standard_code_has_the_known_error_rate() {
        // K = 7 at 3 dB. The code's spectrum is 36, 211, 1404, 11633, 77433 wrong bits at distances
        // 10, 12, 14, 16, 18 (Odenwalder 1970), each weighted with Q(sqrt(2 d E_s/N0)): 1.4e-4 from
        // the free distance alone, which prevails, and 5.1e-4 from all five, counting twice what
        // two of them mislead together.
        let found = bit_error_rate(7, 3.0);
        assert!((1.4e-4..5.1e-4).contains(&found), "{found}");
    }

    proptest! {
        #[test]
        fn what_arrives_clean_is_decoded(
            message in proptest::collection::vec(any::<bool>(), 1..300),
            constraint_length in CONSTRAINT_LENGTHS,
            strength in 1..=LARGEST,
        ) {
            let code = Code::of(constraint_length);
            let received: Vec<i16> = clean(&encoded(code, &message)).iter().map(|value| value * strength).collect();
            prop_assert_eq!(decoded(code, &received), message);
        }

        #[test]
        fn no_other_message_is_likelier_than_the_decoded_one(
            values in proptest::collection::vec(-LARGEST..=LARGEST, 26..=26),
            constraint_length in 3..=7_u32,
        ) {
            let code = Code::of(constraint_length);
            let bits = 13 - code.tail();
            let likelihood = |message: &[bool]| -> i32 {
                let coded = encoded(code, message);
                coded.iter().zip(&values).map(|(&bit, &value)| i32::from(if bit { -value } else { value })).sum()
            };
            let best = (0..1_u32 << bits)
                .map(|word| likelihood(&(0..bits).map(|place| word >> place & 1 == 1).collect::<Vec<_>>()))
                .max();
            prop_assert_eq!(Some(likelihood(&decoded(code, &values))), best);
        }
    }
}
