/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spike: is the round-trip time in a spike between its extremes?
 *
 *	enter the spike  if  rtt > rtt_min + alpha (rtt_max - rtt_min)
 *	leave it         if  rtt < rtt_min + beta  (rtt_max - rtt_min)
 *	a loss in a spike is congestion, any other is wireless
 *
 * Source: Cen, Cosman & Voelker 2003, section III-B; at the sender with round-trip times: Dalwadi, equations 4 to 6.
 *
 * parameter  unit           default
 * alpha      range of RTTs  1/2
 * beta       range of RTTs  1/3
 * window     ms             60,000; 0: the whole connection
 *
 * measured, limit: the RTT above its minimum, and where the state would change; both ns.
 *
 * Deviations: the extremes are those of a window. As published they hold for ever; a connection may live for days, and one
 * outlier among its RTTs would then hide every queue. The other readings are those of the crate's `Spike`: the extremes
 * include the current RTT, every ACK may change the state, and the state after the gap decides.
 */
#ifndef LC_SPIKE_H
#define LC_SPIKE_H

#include "../observe.h"
#include "../verdict.h"
#include "extremes.h"

struct lc_spike_parameters {
	u64 alpha;
	u64 beta;
	u64 window_ns;
};

struct lc_spike {
	struct lc_extremes rtt;
	u64 in_spike;
};

lc_inline void lc_spike_observe(struct lc_spike *spike, const struct lc_spike_parameters *p, const struct lc_arrival *arrival)
{
	s64 rtt = arrival->rott, above, range;

	if (rtt < 0)
		return;
	lc_extremes_observe(&spike->rtt, p->window_ns, rtt, arrival->at);
	above = rtt - spike->rtt.seen.min;
	range = spike->rtt.seen.max - spike->rtt.seen.min;
	if (!spike->in_spike && above > lc_floor(p->alpha, range))
		spike->in_spike = 1;
	else if (spike->in_spike && above < lc_ceil(p->beta, range))
		spike->in_spike = 0;
}

lc_inline struct lc_judgement lc_spike_judge(const struct lc_spike *spike, const struct lc_spike_parameters *p, const struct lc_gap *gap)
{
	s64 range = spike->rtt.seen.max - spike->rtt.seen.min;

	if (!gap)
		return lc_missing(LC_NO_GAP);
	if (gap->shown_by.rott < 0 || !spike->rtt.begun)
		return lc_missing(LC_NO_SAMPLE);
	return lc_ruled(!spike->in_spike, gap->shown_by.rott - spike->rtt.seen.min,
			spike->in_spike ? lc_ceil(p->beta, range) : lc_floor(p->alpha, range));
}

#endif
