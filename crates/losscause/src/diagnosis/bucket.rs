//! Which token buckets drop what was dropped, and pass what passed.
//!
//! Equal amounts between losses ([`PolicerTest`](super::PolicerTest)) do not tell a rate where the
//! sender's own sawtooth makes them: a bucket of a few packets drops a part of every burst, however
//! fast it fills. What every packet met bounds the bucket from both sides. Of a bucket that fills
//! at a rate, the *excess* is what passed beyond that rate since the bucket was last full, or since
//! it was last empty:
//!
//! - no packet passes with more excess than the bucket holds: the largest excess is its least size;
//! - a packet is dropped where less than a packet is left: the excess at a loss, and a packet, is
//!   its largest size;
//! - behind a loss the bucket is empty: no more passes than the rate allows.
//!
//! A rate is possible where hardly any stretch between losses contradicts this.
//!
//! ```
//! use losscause::diagnosis::{BucketTest, Buckets, Passed};
//! use losscause::{Span, Time};
//!
//! // A bucket of 30 kB that fills at 240 kB/s. A burst comes every 2 s, then 250 kB/s.
//! let sends = |ms: &i64| match ms % 2_000 {
//!     0..300 => false,
//!     300..340 => true,
//!     _ => ms % 4 == 0,
//! };
//! let mut course = Vec::new();
//! let (mut tokens, mut filled) = (30_000.0_f64, 0);
//! for ms in (0..20_000).filter(sends) {
//!     tokens = (tokens + 240.0 * (ms - filled) as f64).min(30_000.0);
//!     filled = ms;
//!     let at = Time::ZERO + Span::from_millis(ms);
//!     let is_lost = tokens < 1_000.0;
//!     tokens -= if is_lost { 0.0 } else { 1_000.0 };
//!     course.push(Passed { at, bytes: 1_000, is_lost });
//! }
//! let BucketTest::Fits(buckets) = BucketTest::of(&course, 1_000) else { panic!("it is one") };
//! let rate_bps = buckets.rate_bps().expect("near one rate");
//! assert!((1_800_000..2_100_000).contains(&rate_bps), "{rate_bps}");
//! let Buckets { least_bytes, fit, stretches, .. } = buckets;
//! assert!((28_000..32_000).contains(&least_bytes), "{buckets:?}");
//! assert_eq!(fit, stretches);
//! ```

use core::array;

use crate::{Span, Time};

/// A packet on its way to where packets are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// When it was sent.
    pub at: Time,
    /// Its bytes, with all headers from IP on.
    pub bytes: u64,
    /// Whether it was dropped.
    pub is_lost: bool,
}

/// What every packet says of a token bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum BucketTest {
    /// Not every packet was seen where it was sent, or the losses are too few.
    #[default]
    NotTested,
    /// No bucket fits: packets are lost elsewhere, too. So much passed beyond the mean rate since
    /// a loss or since a bucket was full, bytes.
    NoneFits(u64),
    /// Buckets of a few packets fit at this rate, bits per second, and at any higher one: nothing
    /// tells them from another limit to bursts.
    FewPackets(u64),
    /// Larger buckets fit.
    Fits(Buckets),
}

/// The token buckets that fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buckets {
    /// The lowest rate, bits per second.
    pub least_bps: u64,
    /// The highest one; none if any faster one fits, too.
    pub most_bps: Option<u64>,
    /// What they hold at least at the middle rate, bytes.
    pub least_bytes: u64,
    /// And at most; none if it was not seen to be full.
    pub most_bytes: Option<u64>,
    /// Stretches between losses that fit the middle rate.
    pub fit: u32,
    /// All of them that tell something of it.
    pub stretches: u32,
}

/// Fewer stretches between losses fit by chance.
const FEWEST: u32 = 6;
/// Fewer packets in a stretch say nothing.
const FEWEST_PKTS: f64 = 4.0;
/// So many stretches may contradict: a packet may be lost elsewhere.
const CONTRADICT: f64 = 0.05;
/// Hosts alone delay packets by this much, so that they may meet the bucket so much later.
const HOSTS: Span = Span::from_millis(1);
/// Tokens come in steps, and clocks differ: by this share of what passes.
const TOLERANCE: f64 = 0.03;
/// A stretch tells a rate if it fills so many times what is uncertain; a shorter one only if more
/// passed, or less.
const TELLING: f64 = 8.0;
/// A bucket is told from none if it holds so many times what is uncertain.
const SHOWN: f64 = 3.0;
/// The rate is known if the highest one that fits is at most so many times the lowest: then the
/// middle is within a tenth of both.
const NARROW: f64 = 1.25;
/// Rates are tried from this share of the mean on, in fine steps up to a few times the mean, and in
/// coarse ones up to many times: a sender that losses hold down uses a small part.
const LOWEST: f64 = 0.8;
const FINE: (f64, f64) = (1.01, 2.5);
const COARSE: (f64, f64) = (1.02, 64.0);
/// So many in a row are ruled out together, if the slowest and the fastest of them tell that.
const TOGETHER: u32 = 16;

impl BucketTest {
    /// Tests the packets of a path in their order, from its first one or from a loss on; a full one
    /// has `packet_bytes`.
    pub fn of(course: &[Passed], packet_bytes: u64) -> Self {
        let Some(mean) = mean_rate(course) else { return Self::NotTested };
        let packet = packet_bytes as f64;
        let mut at_mean = Walk::new(course, [mean], packet);
        let stretches = at_mean.by_ref().count() as u32;
        let none_fits = Self::NoneFits(at_mean.largest[0] as u64);
        if stretches < FEWEST {
            return Self::NotTested;
        }
        let tried = |rate| Tried::of(course, rate, packet, stretches);
        let mut range: Option<(f64, Option<f64>)> = None;
        let mut few_packets = None;
        let mut fits_last = false;
        let mut rate = LOWEST * mean;
        // The last of the rates that were looked at together, and whether all are ruled out.
        let mut together = (0.0, false);
        let faster = |rate: f64| rate * if rate < FINE.1 * mean { FINE.0 } else { COARSE.0 };
        while rate < COARSE.1 * mean {
            if rate > together.0 {
                let last = (1..TOGETHER).fold(rate, |rate, _| faster(rate));
                together = (last, contradict(course, [rate, last], packet, stretches));
            }
            let fitting = if together.1 { None } else { tried(rate).filter(Tried::is_consistent) };
            match &fitting {
                Some(one) if one.is_shown() => {
                    range = Some((range.map_or(rate, |(least, _)| least), Some(rate)));
                }
                // A smaller bucket fits as well, however fast it fills.
                Some(_) if fits_last => {
                    range = range.map(|(least, _)| (least, None));
                    break;
                }
                Some(_) => {
                    few_packets.get_or_insert(rate);
                    if range.is_none() {
                        break;
                    }
                }
                None => {}
            }
            fits_last = fitting.is_some_and(|one| one.is_shown());
            rate = faster(rate);
        }
        let bits = |rate: f64| (8.0 * rate) as u64;
        let Some((least, most)) = range else {
            let few_packets = few_packets.filter(|rate| *rate <= (1.0 + TOLERANCE) * mean);
            return few_packets.map_or(none_fits, |rate| Self::FewPackets(bits(rate)));
        };
        let middle = tried(most.map_or(least, |most| (least + most) / 2.0));
        let Some(middle) = middle.or_else(|| tried(least)) else { return none_fits };
        Self::Fits(Buckets {
            least_bps: bits(least),
            most_bps: most.map(bits),
            least_bytes: middle.largest as u64,
            most_bytes: middle.least_at_full.map(|most| most.max(middle.largest) as u64),
            fit: middle.telling - middle.contradict,
            stretches: middle.telling,
        })
    }
}

impl Buckets {
    /// What they hold, bytes: the middle of the bounds, or the lower one if there is no other.
    pub fn bytes(&self) -> u64 {
        (self.least_bytes + self.most_bytes.unwrap_or(self.least_bytes)) / 2
    }

    /// How long a queue of what they hold takes at least, full.
    pub(super) fn as_queue(&self) -> Span {
        let fastest = self.most_bps.unwrap_or(self.least_bps) as f64 / 8.0;
        Span::from_secs_f64_rounded(self.least_bytes as f64 / fastest)
    }

    /// The rate, bits per second, if those that fit are near one.
    pub fn rate_bps(&self) -> Option<u64> {
        let is_near = |most: &u64| *most as f64 <= NARROW * self.least_bps as f64;
        self.most_bps.filter(is_near).map(|most| (self.least_bps + most) / 2)
    }
}

/// What passed from the first loss to the last one, bytes per second.
pub(super) fn mean_rate(course: &[Passed]) -> Option<f64> {
    let first = course.iter().position(|packet| packet.is_lost)?;
    let last = course.iter().rposition(|packet| packet.is_lost)?;
    let between = &course[first..=last];
    let passed = between.iter().filter(|packet| !packet.is_lost);
    let bytes: u64 = passed.map(|packet| packet.bytes).sum();
    let lasted = (course[last].at - course[first].at).as_secs_f64();
    (lasted > 0.0 && bytes > 0).then(|| bytes as f64 / lasted)
}

/// What passed between two losses, or before the first one.
struct Stretch {
    /// Bytes.
    passed: f64,
    /// More than the rate allows had passed since the loss before it, at some packet.
    is_over: bool,
    /// What passed beyond that rate since the loss before it, bytes: the bucket was never full
    /// since if that is nothing. None before the first loss.
    beyond: Option<f64>,
    /// The excess at the loss that ends it, bytes.
    excess: f64,
    /// The largest excess with which a packet has passed so far, bytes.
    largest: f64,
    /// What the rate fills in it, bytes.
    filled: f64,
}

/// The stretches of a few packets or more, at each of some rates: the excess at one waits for that
/// before it, and not for those at others.
struct Walk<'a, const RATES: usize> {
    course: core::slice::Iter<'a, Passed>,
    begun: Time,
    /// Bytes per second.
    rates: [f64; RATES],
    /// A full packet, bytes.
    packet: f64,
    /// What is uncertain in any stretch, bytes.
    uncertain: [f64; RATES],
    /// When the last packet was sent, seconds since the first one.
    at: f64,
    /// The largest excess with which a packet has passed so far, bytes.
    largest: [f64; RATES],
    /// When the last loss was.
    since: Option<f64>,
}

impl<'a, const RATES: usize> Walk<'a, RATES> {
    fn new(course: &'a [Passed], rates: [f64; RATES], packet: f64) -> Self {
        Self {
            course: course.iter(),
            begun: course.first().map_or(Time::ZERO, |packet| packet.at),
            rates,
            packet,
            uncertain: rates.map(|rate| packet + rate * HOSTS.as_secs_f64()),
            at: 0.0,
            largest: [0.0; RATES],
            since: None,
        }
    }
}

impl<const RATES: usize> Iterator for Walk<'_, RATES> {
    type Item = [Stretch; RATES];

    fn next(&mut self) -> Option<[Stretch; RATES]> {
        loop {
            let stretches = self.next_of_any_length()?;
            let is_long =
                |one: &Stretch| one.beyond.is_none() || one.passed >= FEWEST_PKTS * self.packet;
            if stretches.first().is_none_or(is_long) {
                return Some(stretches);
            }
        }
    }
}

impl<const RATES: usize> Walk<'_, RATES> {
    /// What passes until the next loss; none if there is no more.
    fn next_of_any_length(&mut self) -> Option<[Stretch; RATES]> {
        let Self { rates, begun, uncertain, since, .. } = *self;
        let (mut at, mut largest) = (self.at, self.largest);
        // Since the last loss: what passed, and whether that was too much.
        let (mut excess, mut passed, mut is_over) = ([0.0_f64; RATES], 0.0, [false; RATES]);
        let mut lost = None;
        for one in self.course.by_ref() {
            let now = (one.at - begun).as_secs_f64();
            let elapsed = now - at;
            at = now;
            for (excess, rate) in excess.iter_mut().zip(rates) {
                *excess = (*excess - rate * elapsed).max(0.0);
            }
            if one.is_lost {
                lost = Some(now);
                break;
            }
            // A signed integer takes one instruction to become a float, an unsigned one many.
            let bytes = one.bytes as i64 as f64;
            passed += bytes;
            for place in 0..RATES {
                excess[place] += bytes;
                largest[place] = largest[place].max(excess[place]);
                let filled = since.map(|since| rates[place] * (now - since));
                is_over[place] |= filled
                    .is_some_and(|filled| passed > filled + uncertain[place] + TOLERANCE * filled);
            }
        }
        (self.at, self.largest) = (at, largest);
        let now = lost?;
        self.since = lost;
        Some(array::from_fn(|place| {
            let filled = since.map(|since| rates[place] * (now - since));
            Stretch {
                passed,
                is_over: is_over[place],
                beyond: filled.map(|filled| passed - filled),
                excess: excess[place],
                largest: largest[place],
                filled: filled.unwrap_or(0.0),
            }
        }))
    }
}

impl Stretch {
    /// Whether the bucket was full in it; so it was at any higher rate.
    fn was_full(&self, packet: f64, uncertain: f64) -> bool {
        let lower = -packet - uncertain - TOLERANCE * self.filled;
        self.beyond.is_none_or(|beyond| beyond < lower)
    }
}

/// What is uncertain of a largest excess, bytes.
fn slack(uncertain: f64, largest: f64) -> f64 {
    uncertain + TOLERANCE * largest
}

fn is_impossible(contradict: u32, stretches: u32) -> bool {
    f64::from(contradict) > CONTRADICT * f64::from(stretches)
}

/// Whether too many stretches contradict each of the rates from the first to the last one.
///
/// At a higher rate there is less excess and less is over, and more stretches have been full. So
/// what is over at the last rate is over at all, and what was full at the first one was full at
/// all, with an excess between those of both.
fn contradict(course: &[Passed], [first, last]: [f64; 2], packet: f64, stretches: u32) -> bool {
    let walk = Walk::new(course, [first, last], packet);
    let uncertain = walk.uncertain;
    let is_out = |[slow, fast]: &[Stretch; 2]| {
        let at_full = slow.excess + packet;
        let is_too_full = at_full + slack(uncertain[1], fast.largest) < fast.largest;
        fast.is_over || slow.was_full(packet, uncertain[0]) && is_too_full
    };
    let mut counted = (1..).zip(walk.filter(is_out)).map(|(count, _)| count);
    counted.any(|count| is_impossible(count, stretches))
}

/// A rate, and what the packets say of it.
struct Tried {
    /// The largest excess with which a packet passed, bytes.
    largest: f64,
    /// The least excess at a loss of a bucket that had been full, and a packet, bytes; none if it
    /// was not full.
    least_at_full: Option<f64>,
    /// Stretches that tell something of this rate, and those of them that contradict it.
    telling: u32,
    contradict: u32,
    /// What of the excess is uncertain, bytes.
    slack: f64,
}

impl Tried {
    /// Of a rate in bytes per second; none if so much passes that it is too low, or if too few
    /// stretches tell something.
    fn of(course: &[Passed], rate: f64, packet: f64, stretches: u32) -> Option<Self> {
        let uncertain = packet + rate * HOSTS.as_secs_f64();
        let was_full = |stretch: &Stretch| stretch.was_full(packet, uncertain);
        // A bucket that had been full held less than has passed otherwise.
        let is_too_full = |stretch: &Stretch, largest: f64| {
            let at_full = stretch.excess + packet;
            was_full(stretch) && !stretch.is_over && at_full + slack(uncertain, largest) < largest
        };
        let (mut telling, mut over, mut too_full) = (0, 0, 0);
        let mut walk = Walk::new(course, [rate], packet);
        for [stretch] in walk.by_ref() {
            let is_long = stretch.filled >= TELLING * uncertain;
            telling += u32::from(stretch.is_over || is_long || was_full(&stretch));
            over += u32::from(stretch.is_over);
            // What was too full for the largest excess so far is so for a larger one.
            too_full += u32::from(is_too_full(&stretch, stretch.largest));
            if is_impossible(over + too_full, stretches) {
                return None;
            }
        }
        if telling < FEWEST || f64::from(over) > CONTRADICT * f64::from(telling) {
            return None;
        }
        let [largest] = walk.largest;
        let slack = slack(uncertain, largest);
        let mut tried = Self { largest, least_at_full: None, telling, contradict: over, slack };
        for [stretch] in Walk::new(course, [rate], packet) {
            if is_too_full(&stretch, largest) {
                tried.contradict += 1;
            } else if was_full(&stretch) && !stretch.is_over {
                let at_full = stretch.excess + packet;
                let least = tried.least_at_full.map_or(at_full, |least| least.min(at_full));
                tried.least_at_full = Some(least);
            }
            if !tried.is_consistent() {
                break;
            }
        }
        Some(tried)
    }

    fn is_consistent(&self) -> bool {
        f64::from(self.contradict) <= CONTRADICT * f64::from(self.telling)
    }

    /// Whether the bucket holds much more than what is uncertain.
    fn is_shown(&self) -> bool {
        self.largest >= SHOWN * self.slack
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::testing::{PACKET, air, bucket, course};

    /// The test of it.
    fn sawtooth(drops: impl FnMut(u64) -> bool) -> BucketTest {
        BucketTest::of(&course(drops), PACKET)
    }

    #[test]
    fn a_bucket_is_bounded_from_both_sides() {
        // 125 kB/s fill 6.25 kB in a round: the flight that drains 60 kB is 4.17 + 36 packets.
        let BucketTest::Fits(found) = sawtooth(bucket(125_000, 60_000)) else { panic!() };
        assert!(found.least_bps <= 1_000_000, "{found:?}");
        assert!(found.most_bps.is_none_or(|most| most >= 1_000_000), "{found:?}");
        assert!((54_000..=62_000).contains(&found.least_bytes), "{found:?}");
        assert!(found.most_bytes >= Some(found.least_bytes), "{found:?}");
        assert!(found.bytes().abs_diff(60_000) < 6_000, "{found:?}");
    }

    #[test]
    fn a_bucket_of_two_packets_shows_no_rate() {
        // Whatever it fills in a round, it holds two packets at the next one.
        for rate in [125_000, 1_250_000] {
            match sawtooth(bucket(rate, 2 * PACKET)) {
                BucketTest::Fits(buckets) => assert_eq!(buckets.rate_bps(), None, "{buckets:?}"),
                BucketTest::NoneFits(beyond) => assert!(beyond < 8 * PACKET, "{beyond}"),
                BucketTest::FewPackets(_) => {}
                BucketTest::NotTested => panic!("there are many losses"),
            }
        }
    }

    #[test]
    fn a_range_of_rates_is_one_rate_within_a_tenth() {
        let buckets = |most_bps| Buckets {
            least_bps: 1_000_000,
            most_bps,
            least_bytes: 40_000,
            most_bytes: None,
            fit: 10,
            stretches: 10,
        };
        assert_eq!(buckets(Some(1_200_000)).rate_bps(), Some(1_100_000));
        assert_eq!(buckets(Some(1_300_000)).rate_bps(), None, "too wide");
        assert_eq!(buckets(None).rate_bps(), None, "any faster one");
        assert_eq!(buckets(None).bytes(), 40_000);
        assert_eq!(Buckets { most_bytes: Some(60_000), ..buckets(None) }.bytes(), 50_000);
    }

    #[test]
    fn losses_that_choose_no_moment_fit_no_bucket() {
        for of in [50, 200] {
            let found = sawtooth(air(of, 1));
            assert!(!matches!(found, BucketTest::Fits(_)), "{found:?}");
        }
    }

    #[test]
    fn rates_that_are_ruled_out_together_are_so_one_by_one() {
        let packet = PACKET as f64;
        for (course, fewest) in [(course(air(50, 1)), 10), (course(bucket(125_000, 60_000)), 2)] {
            let mean = mean_rate(&course).expect("there are losses");
            let stretches = Walk::new(&course, [mean], packet).count() as u32;
            let mut ruled_out = 0;
            for block in 0..20 {
                let rates =
                    [0, 5, 10, 15].map(|step| 0.8 * mean * 1.02_f64.powi(16 * block + step));
                if contradict(&course, [rates[0], rates[3]], packet, stretches) {
                    ruled_out += 1;
                    for rate in rates {
                        assert!(Tried::of(&course, rate, packet, stretches).is_none(), "{rate}");
                    }
                }
            }
            assert!(ruled_out >= fewest, "{ruled_out} of 20");
        }
    }

    #[test]
    fn without_losses_nothing_is_tested() {
        assert_eq!(sawtooth(|_| false), BucketTest::NotTested);
        assert_eq!(BucketTest::of(&[], PACKET), BucketTest::NotTested);
    }
}
