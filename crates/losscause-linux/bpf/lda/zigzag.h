/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ZigZag: is the round-trip time well below its mean?
 *
 *	wireless  if  n = 1 and rtt < mean - dev,      n = 2 and rtt < mean - dev/2,
 *	              n = 3 and rtt < mean,            n > 3 and rtt < mean - dev/2,      else congestion
 *	mean <- (1 - alpha) mean + alpha rtt           dev <- (1 - 2 alpha) dev + 2 alpha |rtt - mean|
 *
 * n is the number of packets lost in the gap, rtt that of the ACK before the gap was shown.
 *
 * Source: Cen, Cosman & Voelker 2003, section III-C; at the sender with round-trip times: Dalwadi, equations 1 to 3.
 *
 * parameter  unit  default
 * alpha            1/32
 * judged_by        before-gap (ZBS: after-gap)
 *
 * measured, limit: the RTT, and the limit below which it is wireless; both ns.
 *
 * Deviations: none. The readings are those of the crate's `ZigZag`: the printed rule for n > 3, the deviation from the
 * new mean, a first deviation of zero.
 */
#ifndef LC_ZIGZAG_H
#define LC_ZIGZAG_H

#include "../observe.h"
#include "../verdict.h"

struct lc_zigzag_parameters {
	u64 alpha;
	u64 after_gap; /* 1: the RTT of the ACK that shows the gap decides */
};

struct lc_zigzag {
	s64 mean; /* << LC_MEAN_SHIFT */
	s64 deviation; /* << LC_MEAN_SHIFT */
	u64 known;
};

lc_inline void lc_zigzag_observe(struct lc_zigzag *zigzag, const struct lc_zigzag_parameters *p, const struct lc_arrival *arrival)
{
	s64 rtt = arrival->rott << LC_MEAN_SHIFT;

	if (arrival->rott < 0)
		return;
	if (!zigzag->known) {
		zigzag->known = 1;
		zigzag->mean = rtt;
		zigzag->deviation = 0;
		return;
	}
	zigzag->mean = lc_mean(zigzag->mean, p->alpha, rtt);
	zigzag->deviation = lc_mean(zigzag->deviation, 2 * p->alpha, lc_distance(rtt, zigzag->mean));
}

lc_inline struct lc_judgement lc_zigzag_judge(const struct lc_zigzag *zigzag, const struct lc_zigzag_parameters *p, const struct lc_gap *gap)
{
	s64 rtt, limit = zigzag->mean;
	u32 lost;

	if (!gap)
		return lc_missing(LC_NO_GAP);
	if (gap->shown_by.rott < 0 || !zigzag->known)
		return lc_missing(LC_NO_SAMPLE);
	rtt = gap->shown_by.rott_before;
	if (p->after_gap || rtt < 0)
		rtt = gap->shown_by.rott;
	lost = gap->shown_by.missing;
	if (lost == 1)
		limit -= zigzag->deviation;
	else if (lost != 3)
		limit -= zigzag->deviation >> 1;
	return lc_ruled(rtt << LC_MEAN_SHIFT < limit, rtt, limit >> LC_MEAN_SHIFT);
}

#endif
