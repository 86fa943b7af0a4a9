/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sift: weighs the evidence at a gap, in decibels.
 *
 *	arrival i (round-trip time r, d since the last arrival, p packets spanned):
 *	  extremes of r and the least spacing T = min d / p without a gap, over the last 20 s
 *	  least r of the last 100 ms; when the queue was last empty
 *	  mean r of the last second and the mean deviation from it
 *	  means of the spacing, of |r_i - r_(i-1)|, of the share of arrivals after a gap
 *	  every 32nd r of the last 1,024, and how often two arrivals are 0, T/2, T, … apart
 *	  losses by rounds: how much of the flight is lost now, and was in earlier rounds
 *	gap before arrival i:
 *	  the readings of that state (lc_sift_read), as whole numbers
 *	  sum = start + weight of each + weight of each table of three;
 *	        at most 0 at a gap of more than 256 packets
 *	  wireless  if  sum > margin,   else congestion
 *
 * Source: this project, docs/algorithms/sift.md; crates/losscause/src/lda/sift.rs is the reference. The weights, in
 * sift_weights.h, are those of the reference at a sender.
 *
 * parameter  unit  default
 * margin_db  dB    2.7
 *
 * measured, limit: the sum and the margin, both in tenths of a decibel.
 *
 * Deviations: none. An interval and a round-trip time are cut at 60 s here (types.h); the reference cuts means at a day.
 */
#ifndef LC_SIFT_H
#define LC_SIFT_H

#include "../observe.h"
#include "../verdict.h"
#include "sift_weights.h"

struct lc_sift_parameters {
	u64 margin; /* in tenths of a decibel */
};

#define LC_SIFT_WHOLE 65536
#define LC_SIFT_LONGEST 256 /* packets of a gap that may be noise; a longer one is an outage */
#define LC_SIFT_WARM_UP 32 /* arrivals with a round-trip time before the first answer */
#define LC_SIFT_PARTS 2 /* of the 20 s */
#define LC_SIFT_PART_NS 10000000000LL
#define LC_SIFT_LOW_NS 50000000LL
#define LC_SIFT_FIRST_ROUND_NS 100000000LL /* before a round-trip time is known */
#define LC_SIFT_EMPTY_NS 1000000LL /* a queue of less is empty */
#define LC_SIFT_LEAST_JITTER_NS 1000
#define LC_SIFT_ROUNDS 8 /* with losses, that are remembered */
#define LC_SIFT_SAMPLE 32 /* round-trip times that are kept, … */
#define LC_SIFT_EVERY 32 /* … each of so many */
#define LC_SIFT_NO_SAMPLE 0x7fffffff
#define LC_SIFT_BINS 32
#define LC_SIFT_REMEMBERED 8 /* gaps; a power of two */
#define LC_SIFT_BURST 3 /* packets between two gaps of one burst, at most */
#define LC_SIFT_DAY_NS 86400000000000LL
#define LC_SIFT_NONE (1LL << 61) /* a least value of nothing; the largest one is its negative */

/* Extremes; round-trip times since the first one. */
struct lc_sift_part {
	s64 least;
	s64 most;
	s64 spacing;
};

/* The mean of some numbers, and the mean deviation from it. In 1/16. */
struct lc_sift_spread {
	s32 mean;
	s32 deviation;
	u32 seen; /* at most the numbers that count */
};

/* The mean of the last eight numbers or so. */
struct lc_sift_mean {
	s32 mean;
	u32 seen; /* at most 8 */
};

/* The least round-trip time of the last one to two spans of some length. LC_SIFT_NONE where nothing was seen. */
struct lc_sift_least {
	s64 now;
	s64 before;
	s64 began;
};

/* The losses of a round: those whose packets left before the first of them could be reported. */
struct lc_sift_losses {
	s64 began;
	s64 length; /* 0: there were none */
	u64 arrived; /* packets that had arrived when they began */
	u32 lost;
	u32 flight;
	u32 contrast;
};

/* Losses by rounds. A round is a round-trip time, its packets a flight. */
struct lc_sift_rounds {
	struct lc_sift_losses losses;
	u64 packets; /* so far, … */
	u64 missing; /* … and those of them that were missing */
	u64 packets_before; /* the round under way */
	s64 began;
	s64 length;
	u32 flight; /* packets of the round before */
	struct lc_sift_mean shares; /* of earlier rounds with losses: lost of the flight, in 1/65536, … */
	struct lc_sift_mean contrasts; /* … the contrast at the first loss, … */
	struct lc_sift_mean lost; /* … and packets, in 1/16 */
	struct lc_sift_spread rates; /* packets per second from one round with losses to the next */
};

/* What is remembered of a gap. */
struct lc_sift_weighed {
	u32 arrival; /* the number of the one that showed it; 0: none */
	s32 sum;
};

/* Averages hold the mean times 2^shift, and -1 before the first value. */
struct lc_sift {
	s64 first; /* the first round-trip time, and the last */
	s64 last;
	struct lc_sift_part parts[LC_SIFT_PARTS];
	struct lc_sift_least low;
	struct lc_sift_rounds rounds;
	s64 level; /* the mean round-trip time of the last second, … */
	s64 deviation; /* … and the mean deviation from it */
	s64 empty; /* when the queue was last empty, or LC_UNKNOWN */
	s64 since; /* when the newest part began */
	s64 least_spacing; /* of all parts, with its reciprocal: */
	u64 reciprocal; /* 2^32 / least_spacing */
	s64 spacing; /* << 6 */
	s64 jitter; /* << 6 */
	s64 recent; /* << 5 */
	s64 before; /* the last interval, if it spans no gap */
	s64 last_gap; /* when it showed, or LC_UNKNOWN */
	u64 burst; /* packets that had arrived when the last burst of gaps began */
	s32 sample[LC_SIFT_SAMPLE]; /* in 128 ns, since the first; LC_SIFT_NO_SAMPLE where there is none yet */
	u8 pairs[LC_SIFT_BINS]; /* of arrivals with one packet between them, by halves of the least spacing */
	/* A reading at a gap, and the intervals of all. Here, not on the stack, the verifier does not follow how each came about. */
	volatile u16 reading;
	volatile u8 intervals[LC_CLUES];
	struct lc_sift_weighed weighed[LC_SIFT_REMEMBERED];
	struct lc_sift_spread between; /* bursts */
	struct lc_sift_mean evidence;
	u32 level_shift;
	u32 newest_part;
	u32 newest_weighed;
	u32 seen; /* round-trip times */
	u32 packets_before; /* those of `before`; 0: none */
	u32 pairs_total;
	u32 begun; /* whether there was an arrival */
};

_Static_assert(sizeof(struct lc_sift) <= 768, "a connection's share of memory");

/* value / unit in 1/parts, as far as 16 bits hold it. */
lc_inline u32 lc_sift_ratio(s64 value, s64 unit, u32 parts)
{
	u64 scaled;

	if (value <= 0)
		return 0;
	scaled = (u64)value * parts / (u64)(unit < 1 ? 1 : unit);
	return scaled > 65535 ? 65535 : (u32)scaled;
}

/* A number of either sign in 1/32 of `unit`, above 1,000, and not more than 999 from it. */
lc_inline u32 lc_sift_signed(s64 value, s64 unit)
{
	u32 size = lc_sift_ratio(value < 0 ? -value : value, unit, 32);

	if (size > 999)
		size = 999;
	return value < 0 ? 1000 - size : 1000 + size;
}

/* An exponential mean with gain 2^-shift of values that are not negative. */
lc_inline s64 lc_sift_average(s64 scaled, u32 shift, s64 value)
{
	return scaled < 0 ? value << shift : scaled + value - (scaled >> shift);
}

/* The mean of `seen` values of which the last is `value`. Where `seen` stops growing, an exponential mean. */
lc_inline s32 lc_sift_closer(s32 mean, s32 value, u32 seen)
{
	u32 step = value < mean ? (u32)(mean - value) / seen : (u32)(value - mean) / seen;

	return value < mean ? mean - (s32)step : mean + (s32)step;
}

/* `most` numbers count. */
lc_inline void lc_sift_spread_observe(struct lc_sift_spread *spread, u32 most, u32 packets)
{
	s32 value = packets > 1 << 25 ? 1 << 29 : (s32)packets * 16;
	s32 deviation = spread->seen ? (s32)lc_distance(value, spread->mean) : 0;

	if (spread->seen < most)
		spread->seen++;
	spread->deviation = lc_sift_closer(spread->deviation, deviation, spread->seen);
	spread->mean = lc_sift_closer(spread->mean, value, spread->seen);
}

/* The mean deviation in 1/256 of the mean; `unknown` before the second number. */
lc_inline u32 lc_sift_evenness(const struct lc_sift_spread *spread, u32 unknown)
{
	return spread->seen < 2 ? unknown : lc_sift_ratio(spread->deviation, spread->mean, 256);
}

lc_inline void lc_sift_mean_observe(struct lc_sift_mean *mean, s32 value)
{
	if (mean->seen < 8)
		mean->seen++;
	mean->mean = lc_sift_closer(mean->mean, value, mean->seen);
}

/* 1,000 and the mean of the evidence, 0 to 2,000. */
lc_inline u32 lc_sift_earlier_reading(const struct lc_sift_mean *evidence)
{
	s32 reading = 1000 + (evidence->mean >> 4);

	if (reading < 0)
		return 0;
	return reading > 2000 ? 2000 : (u32)reading;
}

/* Whether less than `length` has passed since `began`; not if the clock was set back. */
lc_inline int lc_sift_is_within(s64 now, s64 began, s64 length)
{
	return (u64)(now - began) < (u64)length;
}

lc_inline void lc_sift_least_observe(struct lc_sift_least *least, s64 now, s64 length, s64 rtt)
{
	if (least->now == LC_SIFT_NONE || !lc_sift_is_within(now, least->began, length)) {
		least->before = lc_sift_is_within(now, least->began, 2 * length) ? least->now : LC_SIFT_NONE;
		least->now = LC_SIFT_NONE;
		least->began = now;
	}
	if (rtt < least->now)
		least->now = rtt;
}

lc_inline s64 lc_sift_least(const struct lc_sift_least *least)
{
	return least->now < least->before ? least->now : least->before;
}

/* The extremes of all parts. */
lc_inline struct lc_sift_part lc_sift_window(const struct lc_sift *sift)
{
	struct lc_sift_part all = sift->parts[0];

	lc_unrolled
	for (u32 i = 1; i < LC_SIFT_PARTS; i++) {
		const struct lc_sift_part *part = &sift->parts[i];

		if (part->least < all.least)
			all.least = part->least;
		if (part->most > all.most)
			all.most = part->most;
		if (part->spacing < all.spacing)
			all.spacing = part->spacing;
	}
	return all;
}

lc_inline void lc_sift_divide_by(struct lc_sift *sift, s64 spacing)
{
	sift->least_spacing = spacing;
	sift->reciprocal = (1ULL << 32) / (u64)spacing;
}

/* Begins another part. The oldest is overwritten. */
lc_inline void lc_sift_begin_part(struct lc_sift *sift)
{
	struct lc_sift_part *part;

	sift->newest_part = (sift->newest_part + 1) % LC_SIFT_PARTS;
	part = &sift->parts[sift->newest_part % LC_SIFT_PARTS];
	part->least = LC_SIFT_NONE;
	part->most = -LC_SIFT_NONE;
	part->spacing = LC_SIFT_NONE;
}

/* The first arrival. */
lc_inline void lc_sift_begin(struct lc_sift *sift, s64 now)
{
	sift->begun = 1;
	sift->since = now;
	for (u32 i = 0; i < LC_SIFT_PARTS; i++)
		lc_sift_begin_part(sift);
	lc_sift_divide_by(sift, LC_SIFT_NONE);
	sift->spacing = sift->jitter = sift->recent = -1;
	sift->last_gap = LC_UNKNOWN;
	for (u32 i = 0; i < LC_SIFT_SAMPLE; i++)
		sift->sample[i] = LC_SIFT_NO_SAMPLE;
	sift->low.now = sift->low.before = LC_SIFT_NONE;
	sift->level_shift = 4;
	sift->empty = LC_UNKNOWN;
}

/* How long a round lasts. */
lc_inline s64 lc_sift_round(const struct lc_sift *sift)
{
	return sift->seen ? sift->last : LC_SIFT_FIRST_ROUND_NS;
}

/* The contrast of a round-trip time with the last second. */
lc_inline u32 lc_sift_contrast(const struct lc_sift *sift, s64 rtt)
{
	return lc_sift_signed(rtt - sift->level, sift->deviation < 1000 ? 1000 : sift->deviation);
}

/* The means shall follow as many packets as come in a second, or in eight rounds, if so many came in this one. */
lc_inline void lc_sift_follow(struct lc_sift *sift, u32 packets, s64 duration)
{
	u64 rounds = 1000000000ULL / (u64)(duration < 1 ? 1 : duration), followed;
	u32 shift = 4;

	if (rounds < 8)
		rounds = 8;
	followed = (u64)(packets ? packets : 1) * rounds;
	lc_unrolled
	for (u32 i = 5; i <= 14; i++)
		shift += followed >> i != 0;
	sift->level_shift = shift;
}

/* Packets of the round under way. */
lc_inline u32 lc_sift_packets_of_round(const struct lc_sift_rounds *rounds)
{
	u64 packets = rounds->packets - rounds->packets_before;

	return packets > ~0U ? ~0U : (u32)packets;
}

/* The packets of an arrival. */
lc_inline void lc_sift_round_observe(struct lc_sift *sift, const struct lc_arrival *arrival)
{
	struct lc_sift_rounds *rounds = &sift->rounds;

	if (!lc_sift_is_within(arrival->at, rounds->began, rounds->length)) {
		s64 duration = arrival->at - rounds->began, length = lc_sift_round(sift);
		u32 packets = lc_sift_packets_of_round(rounds);

		if (packets) {
			rounds->flight = packets;
			lc_sift_follow(sift, packets, duration);
		}
		rounds->packets_before = rounds->packets;
		rounds->began = arrival->at;
		rounds->length = length < 1 ? 1 : length;
	}
	rounds->packets += arrival->packets;
}

lc_inline u32 lc_sift_flight(const struct lc_sift_rounds *rounds)
{
	u32 packets = lc_sift_packets_of_round(rounds), flight = rounds->flight > packets ? rounds->flight : packets;

	return flight ? flight : 1;
}

/* Whether a loss now belongs to the losses under way. */
lc_inline int lc_sift_losses_last(const struct lc_sift_rounds *rounds, s64 now)
{
	return rounds->losses.length && lc_sift_is_within(now, rounds->losses.began, rounds->losses.length + 1);
}

/* The packets missing before an arrival belong to the losses under way, or begin others. */
lc_inline void lc_sift_losses_observe(struct lc_sift *sift, const struct lc_arrival *arrival)
{
	struct lc_sift_rounds *rounds = &sift->rounds;
	struct lc_sift_losses *losses = &rounds->losses;
	s64 length = lc_sift_round(sift);
	u64 arrived;

	rounds->missing += arrival->missing < arrival->packets ? arrival->missing : arrival->packets;
	arrived = rounds->packets - rounds->missing;
	if (lc_sift_losses_last(rounds, arrival->at)) {
		losses->lost += arrival->missing;
		if (losses->lost < arrival->missing)
			losses->lost = ~0U;
		return;
	}
	if (losses->length) {
		u64 share = ((u64)losses->lost << 16) / (losses->flight ? losses->flight : 1);
		u64 duration = (u64)(arrival->at - losses->began), rate;

		/* A clock that was set back. */
		if (arrival->at <= losses->began)
			duration = 1;
		rate = (arrived - losses->arrived) * 1000000000ULL / (duration ? duration : 1);
		lc_sift_mean_observe(&rounds->shares, share > 1 << 24 ? 1 << 24 : (s32)share);
		lc_sift_mean_observe(&rounds->contrasts, (s32)losses->contrast);
		lc_sift_mean_observe(&rounds->lost, (s32)(losses->lost > 1 << 20 ? 1 << 20 : losses->lost) * 16);
		lc_sift_spread_observe(&rounds->rates, LC_SIFT_ROUNDS, rate > 1 << 25 ? 1 << 25 : (u32)rate);
	}
	losses->arrived = arrived;
	losses->began = arrival->at;
	losses->length = length < 1 ? 1 : length;
	losses->lost = arrival->missing;
	losses->flight = lc_sift_flight(rounds);
	losses->contrast = sift->seen ? lc_sift_contrast(sift, sift->last - sift->first) : 1000;
}

/* Takes a round-trip time since the first one into what is known of the queue. */
lc_inline void lc_sift_queue_observe(struct lc_sift *sift, s64 now, s64 rtt)
{
	s64 from_mean = rtt - sift->level, least = lc_sift_window(sift).least;
	s64 empty = 2 * (sift->jitter >> 6);

	sift->level += from_mean >> sift->level_shift;
	sift->deviation += ((from_mean < 0 ? -from_mean : from_mean) - sift->deviation) >> sift->level_shift;
	lc_sift_least_observe(&sift->low, now, LC_SIFT_LOW_NS, rtt);
	if (rtt - least < (empty < LC_SIFT_EMPTY_NS ? LC_SIFT_EMPTY_NS : empty))
		sift->empty = now;
}

/* Begins the parts that are due; after a pause of more than the whole window, it begins at this arrival. */
lc_inline void lc_sift_turn(struct lc_sift *sift, s64 now)
{
	u64 ended = (u64)(now - sift->since) / LC_SIFT_PART_NS;

	if (!ended)
		return;
	sift->since = ended <= LC_SIFT_PARTS ? sift->since + (s64)ended * LC_SIFT_PART_NS : now;
	for (u32 i = 0; i < LC_SIFT_PARTS && i < ended; i++)
		lc_sift_begin_part(sift);
	lc_sift_divide_by(sift, lc_sift_window(sift).spacing);
}

/* Twice `span` over the least spacing, at most LC_SIFT_BINS - 1. It may be one too small where it is a whole number. */
lc_inline u32 lc_sift_bin(const struct lc_sift *sift, s64 span)
{
	u64 halves = 2 * (u64)span, bin;

	if (span <= 0)
		return 0;
	if (halves / 64 >= (u64)sift->least_spacing)
		return LC_SIFT_BINS - 1;
	bin = halves * sift->reciprocal >> 32;
	return bin < LC_SIFT_BINS ? (u32)bin : LC_SIFT_BINS - 1;
}

lc_inline void lc_sift_pair_observe(struct lc_sift *sift, s64 span)
{
	sift->pairs[lc_sift_bin(sift, span) % LC_SIFT_BINS]++;
	if (++sift->pairs_total < 250)
		return;
	sift->pairs_total = 0;
	for (u32 i = 0; i < LC_SIFT_BINS; i++) {
		sift->pairs[i] /= 2;
		sift->pairs_total += sift->pairs[i];
	}
}

/* The share of pairs that were so far apart, in 1/1000. */
lc_inline u32 lc_sift_pair_share(const struct lc_sift *sift, s64 span)
{
	u32 count = sift->pairs[lc_sift_bin(sift, span) % LC_SIFT_BINS];

	return count * 1000 / (sift->pairs_total ? sift->pairs_total : 1);
}

lc_inline void lc_sift_sample_observe(struct lc_sift *sift, s64 rtt)
{
	if (sift->seen % LC_SIFT_EVERY == 0)
		sift->sample[sift->seen / LC_SIFT_EVERY % LC_SIFT_SAMPLE] = (s32)(rtt >> 7);
	if (!++sift->seen)
		sift->seen = LC_SIFT_EVERY * LC_SIFT_SAMPLE;
}

/* How many of 32 are below `rtt`; in proportion while there are fewer. */
lc_inline u32 lc_sift_sample_below(const struct lc_sift *sift, s64 rtt)
{
	u32 taken = (sift->seen - 1) / LC_SIFT_EVERY + 1, below = 0;
	s64 value = rtt >> 7;

	if (taken > LC_SIFT_SAMPLE)
		taken = LC_SIFT_SAMPLE;
	for (u32 i = 0; i < LC_SIFT_SAMPLE; i++)
		below += sift->sample[i] < value;
	return below * LC_SIFT_SAMPLE / taken;
}

/* Packets that arrived since the last burst of gaps began, of so many that arrived. */
lc_inline u32 lc_sift_since_burst(const struct lc_sift *sift, u64 arrived)
{
	u64 since = arrived - sift->burst;

	return since > ~0U ? ~0U : (u32)since;
}

/* Which of its intervals a reading lies in. */
lc_inline void lc_sift_place(struct lc_sift *sift, enum lc_clue clue, u32 reading)
{
	u8 interval = 0;

	sift->reading = (u16)reading;
	reading = sift->reading;
	lc_unrolled
	for (u32 i = 0; i < LC_INTERVALS - 1; i++)
		interval += reading >= lc_sift_limits[clue][i];
	sift->intervals[clue] = interval;
}

/* The readings at the gap that this arrival shows, from what was seen before it. */
lc_inline void lc_sift_read(struct lc_sift *sift, const struct lc_arrival *arrival)
{
	const struct lc_sift_rounds *rounds = &sift->rounds;
	struct lc_sift_part window = lc_sift_window(sift);
	s64 rtt = sift->last - sift->first, above = rtt - window.least, low = lc_sift_least(&sift->low);
	s64 since = sift->last_gap < 0 ? LC_SIFT_DAY_NS : arrival->at - sift->last_gap;
	s64 empty = sift->empty < 0 ? LC_SIFT_DAY_NS : arrival->at - sift->empty;
	s64 spacing = sift->spacing < 0 ? 0 : sift->spacing >> 6;
	s64 jitter = sift->jitter < 0 ? 0 : sift->jitter >> 6;
	s64 recent = sift->recent < 0 ? 0 : sift->recent >> 5;
	s64 change = arrival->rott < 0 ? 0 : arrival->rott - sift->last;
	/* Packets that arrived beside the gap, as many as are acknowledged late. They take their time. */
	s64 arrived = arrival->packets > arrival->missing ? arrival->packets - arrival->missing - 1 : 0;
	s64 gap = arrival->span - arrived * spacing;
	u32 own = lc_sift_ratio(above, spacing, 8), since_burst = lc_sift_since_burst(sift, rounds->packets - rounds->missing);
	int last = lc_sift_losses_last(rounds, arrival->at);
	s64 lost = (last ? (s64)rounds->losses.lost : 0) + arrival->missing;
	s64 flight = last ? rounds->losses.flight : lc_sift_flight(rounds);

	if (rtt < low)
		low = rtt;
	lc_sift_place(sift, LC_POSITION, lc_sift_ratio(above, window.most - window.least, 1000));
	lc_sift_place(sift, LC_QUEUE, lc_sift_ratio(above, window.spacing, 8));
	lc_sift_place(sift, LC_RANK, lc_sift_sample_below(sift, rtt));
	lc_sift_place(sift, LC_RECENT, lc_sift_ratio(recent, LC_SIFT_WHOLE, 1000));
	lc_sift_place(sift, LC_SINCE, lc_sift_ratio(since, sift->last, 16));
	lc_sift_place(sift, LC_LENGTH, lc_sift_ratio(gap, spacing, 32));
	lc_sift_place(sift, LC_AFTER, lc_sift_signed(change, spacing));
	lc_sift_place(sift, LC_JITTER, lc_sift_ratio(jitter, spacing, 256));
	lc_sift_place(sift, LC_OWN, own);
	lc_sift_place(sift, LC_DROPPED, lc_sift_pair_share(sift, gap + window.spacing));
	lc_sift_place(sift, LC_SINCE_BURST, sift->between.seen ? lc_sift_ratio((s64)since_burst << 4, sift->between.mean, 32) : 32);
	/* Before two distances, what random losses have. */
	lc_sift_place(sift, LC_EVENNESS, lc_sift_evenness(&sift->between, 188));
	lc_sift_place(sift, LC_SHARE, lc_sift_ratio(lost, flight, 1000));
	lc_sift_place(sift, LC_SHARES, lc_sift_ratio(rounds->shares.mean, 1 << 16, 1000));
	lc_sift_place(sift, LC_QUEUED, lc_sift_ratio(128 * lost, (s64)own + 8, 1));
	lc_sift_place(sift, LC_EMPTY, lc_sift_ratio(empty, sift->last, 16));
	lc_sift_place(sift, LC_LOW, lc_sift_ratio(low - window.least, sift->first + window.least, 1000));
	lc_sift_place(sift, LC_CONTRAST, lc_sift_contrast(sift, rtt));
	lc_sift_place(sift, LC_CONTRASTS, rounds->contrasts.seen ? (u32)rounds->contrasts.mean : 1000);
	lc_sift_place(sift, LC_NOISE, lc_sift_ratio(above, jitter < LC_SIFT_LEAST_JITTER_NS ? LC_SIFT_LEAST_JITTER_NS : jitter, 8));
	lc_sift_place(sift, LC_LOST, lc_sift_ratio(rounds->lost.mean, 1, 1));
	lc_sift_place(sift, LC_RATES, lc_sift_evenness(&rounds->rates, 80));
	lc_sift_place(sift, LC_EARLIER, lc_sift_earlier_reading(&sift->evidence));
}

/* What the readings weigh: `own` without the evidence of earlier gaps, `earlier` the rest. */
struct lc_sift_weight {
	s32 own;
	s32 earlier;
};

/* The quarter of its range that a reading lies in. */
lc_inline u32 lc_sift_quarter(const struct lc_sift *sift, u32 clue)
{
	return sift->intervals[clue] / 2 % (LC_INTERVALS / 2);
}

lc_inline struct lc_sift_weight lc_sift_weigh_readings(const struct lc_sift *sift)
{
	struct lc_sift_weight weight = { .own = LC_SIFT_START };

	lc_unrolled
	for (u32 clue = 0; clue < LC_CLUES; clue++)
		*(clue == LC_EARLIER ? &weight.earlier : &weight.own) += lc_sift_single[clue][sift->intervals[clue] % LC_INTERVALS];
	lc_unrolled
	for (u32 i = 0; i < LC_TABLES; i++) {
		const u8 *clues = lc_sift_together[i];

		*(clues[2] == LC_EARLIER ? &weight.earlier : &weight.own) +=
			lc_sift_tables[i][lc_sift_quarter(sift, clues[0])][lc_sift_quarter(sift, clues[1])][lc_sift_quarter(sift, clues[2])];
	}
	return weight;
}

/* Weighs the gap before an arrival, and remembers the answer. */
lc_inline void lc_sift_weigh(struct lc_sift *sift, const struct lc_arrival *arrival)
{
	struct lc_sift_weight weight;
	struct lc_sift_weighed *weighed;

	if (sift->seen < LC_SIFT_WARM_UP)
		return;
	lc_sift_read(sift, arrival);
	weight = lc_sift_weigh_readings(sift);
	lc_sift_mean_observe(&sift->evidence, weight.own * 16);
	sift->newest_weighed++;
	weighed = &sift->weighed[sift->newest_weighed % LC_SIFT_REMEMBERED];
	weighed->arrival = arrival->number;
	weighed->sum = weight.own + weight.earlier;
	if (weighed->sum > 0 && arrival->missing > LC_SIFT_LONGEST)
		weighed->sum = 0;
}

/* A gap shows behind so many packets that arrived. */
lc_inline void lc_sift_gap_observe(struct lc_sift *sift, s64 at, u64 arrived)
{
	u32 since = lc_sift_since_burst(sift, arrived);

	if (sift->last_gap < 0) {
		sift->burst = arrived;
	} else if (since > LC_SIFT_BURST) {
		lc_sift_spread_observe(&sift->between, 32, since);
		sift->burst = arrived;
	}
	sift->last_gap = at;
}

/* Takes the time since the last arrival into the state. */
lc_inline void lc_sift_interval_observe(struct lc_sift *sift, const struct lc_arrival *arrival)
{
	s64 span = arrival->span, before = sift->before, per_packet = (s64)((u64)span / arrival->packets);
	struct lc_sift_part *part = &sift->parts[sift->newest_part % LC_SIFT_PARTS];
	u32 packets_before = sift->packets_before;

	sift->spacing = lc_sift_average(sift->spacing, 6, per_packet);
	sift->recent = lc_sift_average(sift->recent, 5, arrival->missing ? LC_SIFT_WHOLE : 0);
	if (arrival->missing) {
		sift->packets_before = 0;
		return;
	}
	/* A span of zero is a clock that was too coarse. */
	if (per_packet > 0 && per_packet < part->spacing)
		part->spacing = per_packet;
	if (per_packet > 0 && per_packet < sift->least_spacing)
		lc_sift_divide_by(sift, per_packet);
	sift->before = span;
	sift->packets_before = arrival->packets;
	if (packets_before)
		lc_sift_pair_observe(sift, (s64)(2 * (u64)(before + span) / ((u64)packets_before + arrival->packets)));
}

lc_inline void lc_sift_rtt_observe(struct lc_sift *sift, s64 rtt)
{
	struct lc_sift_part *part = &sift->parts[sift->newest_part % LC_SIFT_PARTS];
	s64 since_first;

	if (!sift->seen)
		sift->first = sift->last = rtt;
	sift->jitter = lc_sift_average(sift->jitter, 6, lc_distance(rtt, sift->last));
	sift->last = rtt;
	since_first = rtt - sift->first;
	if (since_first < part->least)
		part->least = since_first;
	if (since_first > part->most)
		part->most = since_first;
	lc_sift_sample_observe(sift, since_first);
}

lc_apart int lc_sift_arrive(struct lc_sift *sift, const struct lc_arrival *arrival)
{
	if (!sift || !arrival)
		return 0;
	if (!sift->begun)
		lc_sift_begin(sift, arrival->at);
	if (arrival->span >= 0 && arrival->missing)
		lc_sift_weigh(sift, arrival);
	lc_sift_turn(sift, arrival->at);
	if (arrival->packets) {
		lc_sift_round_observe(sift, arrival);
		if (arrival->missing) {
			if (arrival->span >= 0)
				lc_sift_gap_observe(sift, arrival->at, sift->rounds.packets - arrival->packets - sift->rounds.missing);
			lc_sift_losses_observe(sift, arrival);
		}
	}
	if (arrival->span >= 0 && arrival->packets)
		lc_sift_interval_observe(sift, arrival);
	if (arrival->rott >= 0) {
		lc_sift_rtt_observe(sift, arrival->rott);
		lc_sift_queue_observe(sift, arrival->at, sift->last - sift->first);
	}
	return 0;
}

lc_inline void lc_sift_observe(struct lc_sift *sift, const struct lc_sift_parameters *p, const struct lc_arrival *arrival)
{
	lc_sift_arrive(sift, arrival);
}

lc_inline struct lc_judgement lc_sift_judge(const struct lc_sift *sift, const struct lc_sift_parameters *p, const struct lc_gap *gap)
{
	if (!gap)
		return lc_missing(LC_NO_GAP);
	for (u32 i = 0; i < LC_SIFT_REMEMBERED; i++) {
		const struct lc_sift_weighed *weighed = &sift->weighed[i];

		if (weighed->arrival && weighed->arrival == gap->shown_by.number)
			return lc_ruled(weighed->sum > (s64)p->margin, weighed->sum, (s64)p->margin);
	}
	return lc_missing(sift->seen <= LC_SIFT_WARM_UP ? LC_NO_SAMPLE : LC_NO_GAP);
}

#endif
