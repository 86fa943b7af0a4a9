/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sift: weighs the evidence at a gap, in decibels.
 *
 *	arrival i (round-trip time r, d since the last arrival, p packets spanned):
 *	  extremes of r and the least spacing T = min d / p without a gap, over the last 30 s
 *	  means of the spacing, of |r_i - r_(i-1)|, of the share of arrivals after a gap
 *	  every 32nd r of the last 1,024, and how often two arrivals are 0, T/2, T, … apart
 *	gap before arrival i:
 *	  sixteen readings of that state (lc_sift_read), as whole numbers
 *	  sum = start + weight of each + weight of each table of three
 *	  wireless  if  sum > margin,   else congestion
 *
 * Source: this project, docs/algorithms/sift.md; crates/losscause/src/lda/sift.rs is the reference. The weights, in
 * sift_weights.h, are those of the reference at a sender.
 *
 * parameter     unit               default
 * margin_db     dB                 4
 * most_ignored  share of packets   0.001: every packet earns it, up to two packets, and a lost packet that is called
 *                                  wireless costs its probability of congestion
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
	u64 most_ignored; /* in 1/LC_SIFT_WHOLE packets per packet */
};

#define LC_SIFT_WHOLE 65536
#define LC_SIFT_MOST_ALLOWANCE (2 * LC_SIFT_WHOLE)
#define LC_SIFT_WARM_UP 32 /* arrivals with a round-trip time before the first answer */
#define LC_SIFT_PARTS 4 /* of the 30 s */
#define LC_SIFT_PART_NS 7500000000LL
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

/* A number of packets from burst to burst: its mean, and the mean deviation from it. In 1/16 packet. */
struct lc_sift_spread {
	s32 mean;
	s32 deviation;
	u32 seen; /* at most 32 */
};

/* The mean of a number at the earlier gaps. */
struct lc_sift_earlier {
	s32 mean; /* in 1/16 */
	u32 seen; /* at most 8 */
};

/* What is remembered of a gap. */
struct lc_sift_weighed {
	u32 arrival; /* the number of the one that showed it; 0: none */
	s16 sum;
	u16 over_ceiling;
};

/* Averages hold the mean times 2^shift, and -1 before the first value. */
struct lc_sift {
	s64 first; /* the first round-trip time, and the last */
	s64 last;
	struct lc_sift_part parts[LC_SIFT_PARTS];
	s64 since; /* when the newest part began */
	s64 least_spacing; /* of all parts, with its reciprocal: */
	u64 reciprocal; /* 2^32 / least_spacing */
	s64 spacing; /* << 6 */
	s64 jitter; /* << 6 */
	s64 recent; /* << 5 */
	s64 before; /* the last interval, if it spans no gap */
	s64 last_gap; /* when it showed, or LC_UNKNOWN */
	s32 sample[LC_SIFT_SAMPLE]; /* in 128 ns, since the first; LC_SIFT_NO_SAMPLE where there is none yet */
	u8 pairs[LC_SIFT_BINS]; /* of arrivals with one packet between them, by halves of the least spacing */
	/* A reading at a gap, and the intervals of all. Here, not on the stack, the verifier does not follow how each came about. */
	volatile u16 reading;
	volatile u8 intervals[LC_CLUES];
	struct lc_sift_weighed weighed[LC_SIFT_REMEMBERED];
	struct lc_sift_spread between; /* bursts */
	struct lc_sift_earlier evidence;
	u32 newest_part;
	u32 newest_weighed;
	u32 seen; /* round-trip times */
	u32 packets_before; /* those of `before`; 0: none */
	u32 pairs_total;
	u32 since_burst; /* packets that arrived since the last burst began */
	u32 allowance; /* dropped packets that may still be called wireless, in 1/LC_SIFT_WHOLE */
	u32 begun; /* whether there was an arrival */
};

_Static_assert(sizeof(struct lc_sift) <= 512, "a connection's share of memory");

/* value / unit in 1/parts, as far as 16 bits hold it. */
lc_inline u32 lc_sift_ratio(s64 value, s64 unit, u32 parts)
{
	u64 scaled;

	if (value <= 0)
		return 0;
	scaled = (u64)value * parts / (u64)(unit < 1 ? 1 : unit);
	return scaled > 65535 ? 65535 : (u32)scaled;
}

/* The change of a round-trip time in 1/32 of `unit`, above 1,000; 1,000 if it is not known. */
lc_inline u32 lc_sift_change(s64 rtt, s64 before, s64 unit)
{
	u32 size;

	if (rtt < 0)
		return 1000;
	size = lc_sift_ratio((s64)lc_distance(rtt, before), unit, 32);
	if (size > 999)
		size = 999;
	return rtt < before ? 1000 - size : 1000 + size;
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

lc_inline void lc_sift_spread_observe(struct lc_sift_spread *spread, u32 packets)
{
	s32 value = packets > 1 << 25 ? 1 << 29 : (s32)packets * 16;
	s32 deviation = spread->seen ? (s32)lc_distance(value, spread->mean) : 0;

	if (spread->seen < 32)
		spread->seen++;
	spread->deviation = lc_sift_closer(spread->deviation, deviation, spread->seen);
	spread->mean = lc_sift_closer(spread->mean, value, spread->seen);
}

lc_inline void lc_sift_earlier_observe(struct lc_sift_earlier *earlier, s32 value)
{
	if (earlier->seen < 8)
		earlier->seen++;
	earlier->mean = lc_sift_closer(earlier->mean, value * 16, earlier->seen);
}

/* 1,000 and the mean, 0 to 2,000. */
lc_inline u32 lc_sift_earlier_reading(const struct lc_sift_earlier *earlier)
{
	s32 reading = 1000 + (earlier->mean >> 4);

	if (reading < 0)
		return 0;
	return reading > 2000 ? 2000 : (u32)reading;
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
	sift->allowance = LC_SIFT_MOST_ALLOWANCE;
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
	struct lc_sift_part window = lc_sift_window(sift);
	s64 rtt = sift->last - sift->first, above = rtt - window.least;
	s64 since = sift->last_gap < 0 ? LC_SIFT_DAY_NS : arrival->at - sift->last_gap;
	s64 spacing = sift->spacing < 0 ? 0 : sift->spacing >> 6;
	s64 jitter = sift->jitter < 0 ? 0 : sift->jitter >> 6;
	s64 recent = sift->recent < 0 ? 0 : sift->recent >> 5;
	/* Packets that arrived beside the gap, as many as are acknowledged late. They take their time. */
	s64 arrived = arrival->packets > arrival->missing ? arrival->packets - arrival->missing - 1 : 0;
	s64 gap = arrival->span - arrived * spacing;

	lc_sift_place(sift, LC_POSITION, lc_sift_ratio(above, window.most - window.least, 1000));
	lc_sift_place(sift, LC_QUEUE, lc_sift_ratio(above, window.spacing, 8));
	lc_sift_place(sift, LC_RANK, lc_sift_sample_below(sift, rtt));
	lc_sift_place(sift, LC_RECENT, lc_sift_ratio(recent, LC_SIFT_WHOLE, 1000));
	lc_sift_place(sift, LC_SINCE, lc_sift_ratio(since, sift->last, 16));
	lc_sift_place(sift, LC_SPACED, lc_sift_ratio(since, window.spacing, 1));
	lc_sift_place(sift, LC_LENGTH, lc_sift_ratio(gap, spacing, 32));
	lc_sift_place(sift, LC_AFTER, lc_sift_change(arrival->rott, sift->last, spacing));
	lc_sift_place(sift, LC_DROPPED, lc_sift_pair_share(sift, gap + window.spacing));
	lc_sift_place(sift, LC_JITTER, lc_sift_ratio(jitter, spacing, 256));
	lc_sift_place(sift, LC_ABOVE, lc_sift_ratio(above, 1000000, 10));
	lc_sift_place(sift, LC_OWN, lc_sift_ratio(above, spacing, 8));
	lc_sift_place(sift, LC_BASE, lc_sift_ratio(sift->first + window.least, 1000000, 1));
	lc_sift_place(sift, LC_SINCE_BURST, sift->between.seen ? lc_sift_ratio((s64)sift->since_burst << 4, sift->between.mean, 32) : 32);
	/* Before three bursts, what random losses have. */
	lc_sift_place(sift, LC_EVENNESS, sift->between.seen < 2 ? 188 : lc_sift_ratio(sift->between.deviation, sift->between.mean, 256));
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

/* The probability of congestion behind a sum, in 1/LC_SIFT_WHOLE: 1 / (1 + 2^(sum/30)), in steps of 3 dB. */
lc_inline u32 lc_sift_probably_dropped(s32 sum)
{
	u32 steps = sum < 0 ? 0 : (u32)sum / 30;

	return LC_SIFT_WHOLE / (1 + (1U << (steps > 16 ? 16 : steps)));
}

/* Whether `missing` packets that look wireless cost more than is left; if not, they are charged. */
lc_inline int lc_sift_is_over_ceiling(struct lc_sift *sift, u32 most_ignored, u32 missing, s32 sum)
{
	u64 cost = (u64)missing * lc_sift_probably_dropped(sum);

	if (cost > sift->allowance) {
		if (most_ignored < LC_SIFT_WHOLE)
			return 1;
		cost = sift->allowance;
	}
	sift->allowance -= (u32)cost;
	return 0;
}

/* Weighs the gap before an arrival, and remembers the answer. */
lc_inline void lc_sift_weigh(struct lc_sift *sift, const struct lc_arrival *arrival, u32 margin, u32 most_ignored)
{
	struct lc_sift_weight weight;
	struct lc_sift_weighed *weighed;

	if (sift->seen < LC_SIFT_WARM_UP)
		return;
	lc_sift_read(sift, arrival);
	weight = lc_sift_weigh_readings(sift);
	lc_sift_earlier_observe(&sift->evidence, weight.own);
	sift->newest_weighed++;
	weighed = &sift->weighed[sift->newest_weighed % LC_SIFT_REMEMBERED];
	weighed->arrival = arrival->number;
	weighed->sum = (s16)(weight.own + weight.earlier);
	weighed->over_ceiling = weighed->sum > (s32)margin && lc_sift_is_over_ceiling(sift, most_ignored, arrival->missing, weighed->sum);
}

/* A gap shows. */
lc_inline void lc_sift_gap_observe(struct lc_sift *sift, s64 at)
{
	if (sift->last_gap < 0) {
		sift->since_burst = 0;
	} else if (sift->since_burst > LC_SIFT_BURST) {
		lc_sift_spread_observe(&sift->between, sift->since_burst);
		sift->since_burst = 0;
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
	if (arrival->missing)
		lc_sift_gap_observe(sift, arrival->at);
	sift->since_burst += arrival->packets - arrival->missing;
	if (sift->since_burst < arrival->packets - arrival->missing)
		sift->since_burst = ~0U;
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

lc_apart int lc_sift_arrive(struct lc_sift *sift, const struct lc_arrival *arrival, u32 margin, u32 most_ignored)
{
	if (!sift || !arrival)
		return 0;
	if (!sift->begun)
		lc_sift_begin(sift, arrival->at);
	if (arrival->span >= 0 && arrival->missing)
		lc_sift_weigh(sift, arrival, margin, most_ignored);
	lc_sift_turn(sift, arrival->at);
	if (arrival->span >= 0 && arrival->packets) {
		u64 allowance = sift->allowance + (u64)most_ignored * arrival->packets;

		sift->allowance = allowance > LC_SIFT_MOST_ALLOWANCE ? LC_SIFT_MOST_ALLOWANCE : (u32)allowance;
		lc_sift_interval_observe(sift, arrival);
	}
	if (arrival->rott >= 0)
		lc_sift_rtt_observe(sift, arrival->rott);
	return 0;
}

lc_inline void lc_sift_observe(struct lc_sift *sift, const struct lc_sift_parameters *p, const struct lc_arrival *arrival)
{
	lc_sift_arrive(sift, arrival, (u32)p->margin, (u32)p->most_ignored);
}

lc_inline struct lc_judgement lc_sift_judge(const struct lc_sift *sift, const struct lc_sift_parameters *p, const struct lc_gap *gap)
{
	if (!gap)
		return lc_missing(LC_NO_GAP);
	for (u32 i = 0; i < LC_SIFT_REMEMBERED; i++) {
		const struct lc_sift_weighed *weighed = &sift->weighed[i];
		struct lc_judgement judgement;

		if (!weighed->arrival || weighed->arrival != gap->shown_by.number)
			continue;
		judgement = lc_ruled(weighed->sum > (s64)p->margin, weighed->sum, (s64)p->margin);
		if (weighed->over_ceiling) {
			judgement.verdict = LC_CONGESTION;
			judgement.reason = LC_CEILING;
		}
		return judgement;
	}
	return lc_missing(sift->seen <= LC_SIFT_WARM_UP ? LC_NO_SAMPLE : LC_NO_GAP);
}

#endif
