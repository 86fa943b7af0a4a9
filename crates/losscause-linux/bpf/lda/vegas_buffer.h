/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Vegas buffer: are many of the window's packets queued?
 *
 *	queued = W (1 - RTT_min / RTT)
 *	wireless  if  queued <= alpha,   congestion  if  queued >= beta,   else undecided or the last verdict
 *
 * Source: Biaz & Vaidya 1998 (the Vegas predictor); Koo et al. 2007, equations 1 to 3, with 14 and 16 packets; Fu & Liew
 * 2003, with 3 packets for both.
 *
 * parameter  unit     default
 * alpha      packets  see the programs that use it
 * beta       packets
 * between             previous or undecided
 *
 * measured, limit: packets queued, and beta; both in thousandths.
 *
 * Deviations: none. The readings are those of the crate's `VegasBuffer`: W is cwnd, a tie counts as outside, and with
 * both limits equal a tie is congestion.
 */
#ifndef LC_VEGAS_BUFFER_H
#define LC_VEGAS_BUFFER_H

#include "../observe.h"
#include "../verdict.h"

struct lc_vegas_buffer_parameters {
	u64 alpha; /* a fraction */
	u64 beta; /* a fraction */
	u64 undecided_between; /* 1: between the limits the verdict is undecided; 0: the previous one */
};

struct lc_vegas_buffer {
	s64 rtt_min; /* 0 before the first RTT */
	s64 rtt;
	u64 backlog; /* W (RTT - RTT_min): packets queued, times the RTT */
	u64 outside; /* the verdict when the estimate was last outside the limits, or LC_UNDECIDED */
};

lc_inline void lc_vegas_buffer_observe(struct lc_vegas_buffer *vegas, const struct lc_vegas_buffer_parameters *p, const struct lc_ack *ack)
{
	if (ack->rtt <= 0)
		return;
	if (!vegas->rtt_min || ack->rtt < vegas->rtt_min)
		vegas->rtt_min = ack->rtt;
	if (!vegas->outside)
		vegas->outside = LC_UNDECIDED;
	vegas->rtt = ack->rtt;
	vegas->backlog = (u64)ack->cwnd * (u64)(ack->rtt - vegas->rtt_min);
	/* queued >= beta  if  W (RTT - RTT_min) >= beta RTT */
	if (vegas->backlog >= (u64)lc_ceil(p->beta, ack->rtt))
		vegas->outside = LC_CONGESTION;
	else if (vegas->backlog <= (u64)lc_floor(p->alpha, ack->rtt))
		vegas->outside = LC_WIRELESS;
	else if (p->undecided_between)
		vegas->outside = LC_UNDECIDED;
}

/* Restarts the search for the smallest RTT; the verdict stays until the next one. */
lc_inline void lc_vegas_buffer_forget(struct lc_vegas_buffer *vegas)
{
	vegas->rtt_min = 0;
}

lc_inline struct lc_judgement lc_vegas_buffer_judge(const struct lc_vegas_buffer *vegas, const struct lc_vegas_buffer_parameters *p)
{
	struct lc_judgement judgement;
	u64 rtt_us = (u64)vegas->rtt / 1000;

	if (!vegas->outside)
		return lc_missing(LC_NO_SAMPLE);
	judgement = lc_ruled(0, rtt_us ? (s64)(vegas->backlog / rtt_us) : 0, lc_floor(p->beta, 1000));
	judgement.verdict = (u32)vegas->outside;
	return judgement;
}

#endif
