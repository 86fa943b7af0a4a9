/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flip Flop with history: were many of the last round-trip times outliers?
 *
 *	rtt > mean + 3 MR / d2:   an outlier        mean <- 9/10 mean + 1/10 rtt      (stable)
 *	else:                                       mean <- 1/10 mean + 9/10 rtt      (agile)
 *	    rtt >= mean - 3 MR / d2:                MR   <- 7/8 MR + 1/8 |rtt - previous rtt|
 *	congestion  if  more than eta of the last l round-trip times were outliers,   else wireless
 *
 * Source: Barman & Matta 2002, section 2.2 (NewReno-FF); the filter is Kim & Noble's. d2 = 1.128.
 *
 * parameter  unit      default
 * history    RTTs      10 (l)
 * eta        outliers  5
 *
 * measured, limit: outliers, and eta.
 *
 * Deviations: none. The readings are those of the crate's `FlipFlopHistory`: RTTs come from ACKs of new data, the first
 * one becomes the mean with MR half of it, and the lower limit uses the new mean. The moving range does not fall below
 * 7/256 ns, because 7/8 of it is rounded.
 */
#ifndef LC_FLIP_FLOP_H
#define LC_FLIP_FLOP_H

#include "../observe.h"
#include "../verdict.h"

struct lc_flip_flop_parameters {
	u64 history; /* 1 to 64 */
	u64 eta;
};

struct lc_flip_flop {
	s64 mean; /* << LC_MEAN_SHIFT */
	s64 moving_range; /* << LC_MEAN_SHIFT */
	s64 previous; /* << LC_MEAN_SHIFT */
	u64 marks; /* of the last l RTTs, the newest in the lowest bit */
	u64 known;
};

#define LC_FF_STABLE ((u64)(0.1 * (1 << LC_FRACTION_SHIFT) + 0.5))
#define LC_FF_AGILE ((u64)(0.9 * (1 << LC_FRACTION_SHIFT) + 0.5))
#define LC_FF_LIMIT ((u64)(3.0 / 1.128 * (1 << LC_FRACTION_SHIFT) + 0.5))
#define LC_FF_RANGE_SHIFT 3

lc_inline u32 lc_ones(u64 bits)
{
	bits -= bits >> 1 & 0x5555555555555555ULL;
	bits = (bits & 0x3333333333333333ULL) + (bits >> 2 & 0x3333333333333333ULL);
	bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (u32)(bits * 0x0101010101010101ULL >> 56);
}

/* Takes in a value; whether it is an outlier. */
lc_inline int lc_flip_flop_is_outlier(struct lc_flip_flop *ff, s64 rtt)
{
	s64 margin, old_mean = ff->mean;
	int outlier;

	if (!ff->known) {
		ff->known = 1;
		ff->mean = rtt;
		ff->moving_range = rtt >> 1;
		ff->previous = rtt;
		return 0;
	}
	margin = lc_nearest(LC_FF_LIMIT, ff->moving_range);
	outlier = old_mean + margin < rtt;
	ff->mean = lc_mean(old_mean, outlier ? LC_FF_STABLE : LC_FF_AGILE, rtt);
	if (!outlier && rtt >= ff->mean - margin) {
		s64 distance = lc_distance(rtt, ff->previous);

		ff->moving_range += (distance - ff->moving_range) >> LC_FF_RANGE_SHIFT;
	}
	ff->previous = rtt;
	return outlier;
}

lc_inline void lc_flip_flop_observe(struct lc_flip_flop *ff, const struct lc_flip_flop_parameters *p, const struct lc_ack *ack)
{
	u64 mark;

	if (ack->rtt < 0 || !ack->new_data)
		return;
	mark = lc_flip_flop_is_outlier(ff, ack->rtt << LC_MEAN_SHIFT);
	ff->marks = (ff->marks << 1 | mark) & (~0ULL >> ((64 - p->history) & 63));
}

lc_inline struct lc_judgement lc_flip_flop_judge(const struct lc_flip_flop *ff, const struct lc_flip_flop_parameters *p)
{
	u32 outliers = lc_ones(ff->marks);

	if (!ff->known)
		return lc_missing(LC_NO_SAMPLE);
	return lc_ruled(outliers <= p->eta, outliers, (s64)p->eta);
}

#endif
