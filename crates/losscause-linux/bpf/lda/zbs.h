/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ZBS: runs ZigZag, mBiaz or Spike, whichever suits the path.
 *
 *	T_avg  <- 0.875 T_avg + 0.125 T_i / packets        T_narr = T_avg / T_min
 *	Spike   if  rtt < rtt_min + 0.05 T_min             (the bottleneck is idle)
 *	ZigZag  else if T_narr < 0.875
 *	mBiaz   else if T_narr < 1.5
 *	ZigZag  else if T_narr < 2
 *	Spike   else
 *
 * ZBS begins with ZigZag. A scheme is kept for 3 s or 50 arrivals, whichever ends first.
 *
 * Source: Cen, Cosman & Voelker 2003, section VII-A.
 *
 * parameter                                    unit      default
 * rott_margin                                  T_min     0.05
 * unshared_from, ambiguous_from, shared_from   T_narr    0.875, 1.5, 2
 * t_avg_gain                                             0.125
 * lock                                         ms        3000
 * lock_pkts                                    arrivals  50
 * lock_at_start                                          1
 * and those of the base schemes
 *
 * measured, limit: those of the base scheme in use.
 *
 * Deviations: that of Spike's window (spike.h). The readings are those of the crate's `Zbs`; T_avg begins with the first
 * interval.
 */
#ifndef LC_ZBS_H
#define LC_ZBS_H

#include "biaz.h"
#include "spike.h"
#include "zigzag.h"

struct lc_zbs_parameters {
	u64 rott_margin;
	u64 unshared_from;
	u64 ambiguous_from;
	u64 shared_from;
	u64 t_avg_gain;
	u64 lock_ns;
	u64 lock_pkts;
	u64 lock_at_start;
	struct lc_biaz_parameters mbiaz;
	struct lc_spike_parameters spike;
	struct lc_zigzag_parameters zigzag;
};

enum lc_scheme { LC_ZIGZAG, LC_MBIAZ, LC_SPIKE };
enum lc_lock { LC_LOCK_BEGINS, LC_LOCKED, LC_FREE };

struct lc_zbs {
	struct lc_biaz mbiaz;
	struct lc_spike spike;
	struct lc_zigzag zigzag;
	s64 t_avg; /* << LC_MEAN_SHIFT */
	s64 locked_until;
	u32 arrivals_left;
	u32 intervals_known;
	u32 scheme;
	u32 lock;
};

lc_inline void lc_zbs_lock(struct lc_zbs *zbs, const struct lc_zbs_parameters *p, s64 now)
{
	zbs->lock = p->lock_pkts ? LC_LOCKED : LC_FREE;
	zbs->locked_until = now + (s64)p->lock_ns;
	zbs->arrivals_left = (u32)p->lock_pkts;
}

/* Whether the scheme may not change at this arrival; counts it. */
lc_inline int lc_zbs_is_locked(struct lc_zbs *zbs, const struct lc_zbs_parameters *p, s64 now)
{
	if (zbs->lock == LC_FREE)
		return 0;
	if (zbs->lock == LC_LOCK_BEGINS) {
		if (!p->lock_at_start) {
			zbs->lock = LC_FREE;
			return 0;
		}
		lc_zbs_lock(zbs, p, now);
		return 1;
	}
	if (zbs->arrivals_left)
		zbs->arrivals_left--;
	if (zbs->arrivals_left && now < zbs->locked_until)
		return 1;
	zbs->lock = LC_FREE;
	return 0;
}

/* x T_min <= T_avg */
lc_inline int lc_zbs_reaches(const struct lc_zbs *zbs, u64 x)
{
	return (s64)x * zbs->mbiaz.t_min >> (LC_FRACTION_SHIFT - LC_MEAN_SHIFT) <= zbs->t_avg;
}

lc_inline u32 lc_zbs_choose(const struct lc_zbs *zbs, const struct lc_zbs_parameters *p, s64 rtt)
{
	if (rtt - zbs->spike.rtt.seen.min < lc_ceil(p->rott_margin, zbs->mbiaz.t_min))
		return LC_SPIKE;
	if (!lc_zbs_reaches(zbs, p->unshared_from))
		return LC_ZIGZAG;
	if (!lc_zbs_reaches(zbs, p->ambiguous_from))
		return LC_MBIAZ;
	return lc_zbs_reaches(zbs, p->shared_from) ? LC_SPIKE : LC_ZIGZAG;
}

lc_inline void lc_zbs_observe(struct lc_zbs *zbs, const struct lc_zbs_parameters *p, const struct lc_arrival *arrival)
{
	u32 scheme;

	lc_biaz_observe(&zbs->mbiaz, arrival);
	lc_spike_observe(&zbs->spike, &p->spike, arrival);
	lc_zigzag_observe(&zbs->zigzag, &p->zigzag, arrival);
	if (arrival->span >= 0) {
		s64 share = ((u64)arrival->span << LC_MEAN_SHIFT) / (arrival->packets ? arrival->packets : 1);

		zbs->t_avg = zbs->intervals_known ? lc_mean(zbs->t_avg, p->t_avg_gain, share) : share;
		zbs->intervals_known = 1;
	}
	if (lc_zbs_is_locked(zbs, p, arrival->at))
		return;
	if (arrival->rott < 0 || !zbs->mbiaz.t_min || !zbs->intervals_known)
		return;
	scheme = lc_zbs_choose(zbs, p, arrival->rott);
	if (scheme != zbs->scheme) {
		zbs->scheme = scheme;
		lc_zbs_lock(zbs, p, arrival->at);
	}
}

lc_inline struct lc_judgement lc_zbs_judge(const struct lc_zbs *zbs, const struct lc_zbs_parameters *p, const struct lc_gap *gap)
{
	if (zbs->scheme == LC_MBIAZ)
		return lc_biaz_judge(&zbs->mbiaz, &p->mbiaz, gap);
	if (zbs->scheme == LC_SPIKE)
		return lc_spike_judge(&zbs->spike, &p->spike, gap);
	return lc_zigzag_judge(&zbs->zigzag, &p->zigzag, gap);
}

#endif
