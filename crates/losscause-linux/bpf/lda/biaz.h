/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mBiaz: did the ACK after the gap come exactly when the lost packets' transmission times predict?
 *
 *	wireless  if  (n + 1) T_min <= T_i < (n + k) T_min,   else congestion
 *
 * T_i is the time between the two ACKs around the gap of n packets, T_min the smallest time between two arrivals.
 *
 * Source: Cen, Cosman & Voelker 2003, section III-A. A base scheme of ZBS.
 *
 * parameter    unit   default
 * upper_limit  T_min  1.25 (k)
 *
 * measured, limit: T_i, and the upper limit if T_i is not below it, else the lower one; both ns.
 *
 * Deviations: none. The readings are those of the crate's `Biaz`: an interval across a gap may lower T_min but is never
 * its first value; an ACK of several packets counts with each packet's share.
 */
#ifndef LC_BIAZ_H
#define LC_BIAZ_H

#include "../observe.h"
#include "../verdict.h"

struct lc_biaz_parameters {
	u64 width; /* k - 1, a fraction */
};

struct lc_biaz {
	s64 t_min; /* ns; 0 before the first interval */
};

lc_inline void lc_biaz_observe(struct lc_biaz *biaz, const struct lc_arrival *arrival)
{
	u32 arrived = arrival->packets - arrival->missing;
	s64 share;

	if (arrival->span < 0 || (arrival->missing && !biaz->t_min))
		return;
	share = arrived > 1 ? (s64)((u64)arrival->span / arrived) : arrival->span;
	if (share > 0 && (!biaz->t_min || share < biaz->t_min))
		biaz->t_min = share;
}

lc_inline struct lc_judgement lc_biaz_judge(const struct lc_biaz *biaz, const struct lc_biaz_parameters *p, const struct lc_gap *gap)
{
	s64 span, at_least, below;

	if (!gap)
		return lc_missing(LC_NO_GAP);
	span = gap->shown_by.span;
	if (span < 0 || !biaz->t_min)
		return lc_missing(LC_NO_SAMPLE);
	at_least = biaz->t_min * (s64)gap->shown_by.packets;
	below = at_least + lc_ceil(p->width, biaz->t_min);
	return lc_ruled(at_least <= span && span < below, span, span < below ? at_least : below);
}

#endif
