/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Guard and brake: when the window is reduced although the rule calls a loss wireless.
 *
 *	guard   a queue stands, and holds at least base (1 - b)/b: what a reduction to the share b of the window leaves still
 *	        fills the link
 *	brake   rounds lost more than independent losses explain. A round: the losses whose packets left before the first of
 *	        them was reported. F packets in flight, n lost and called wireless in r reports, p the share lost before:
 *	          large part  n > F/4,  n >= 4 + 3 p F,  r >= 3
 *	          sum         S >= 6,   S = S' + a,  a = (r - 1) - 2 p F - 1/2
 *	        S' is what the rounds before left: from 0 to 8, and of each round at most 3. Holds for 20 rounds more if a large
 *	        part was lost, or if S >= 6 although this round, as well, counts for at most 3.
 *
 * The base is the least round-trip time of the last 10 to 20 s, what stands above it the least of the last 50 to 100 ms.
 *
 * Source: this project; crates/losscause/src/safeguard.rs is the reference, and says why.
 *
 * parameter  unit  default
 * guard            1
 * brake            1
 *
 * Deviations: a round-trip time ends at 60 s (types.h).
 */
#ifndef LC_SAFEGUARD_H
#define LC_SAFEGUARD_H

#include "../types.h"

struct lc_safeguard_parameters {
	u64 guard; /* 1: on */
	u64 brake;
};

enum lc_safeguard { LC_NEITHER, LC_GUARD_SPEAKS, LC_BRAKE_SPEAKS };

/* What a response keeps of its window, in 1/1024. */
#define LC_KEEPS_HALF 512 /* Reno (RFC 5681, section 3.1, equation 4) */
#define LC_KEEPS_CUBIC 717 /* CUBIC (RFC 9438, section 4.6), as Linux rounds it */
#define LC_KEEPS_NO_FIXED_SHARE 0 /* the guard is silent */

#define LC_BASE_BUCKET_NS 10000000000ULL
#define LC_STANDING_BUCKET_NS 50000000ULL
#define LC_HELD_ROUNDS 20
#define LC_LEAST_LOST 4
#define LC_LEAST_REPORTS 3
#define LC_LEAST_SURPLUS_1024 (6 * 1024)
#define LC_MOST_SURPLUS_1024 (8 * 1024)
#define LC_MOST_RISE_1024 (3 * 1024)
#define LC_COUNTED_SHIFT 13 /* counts are halved when they reach 2^13 */

/* The least round-trip time of two adjacent buckets; 0 where there was none. */
struct lc_least {
	u64 number; /* of the present bucket */
	s64 present;
	s64 before;
};

struct lc_round {
	s64 began; /* when the first loss was reported */
	s64 expected_1024; /* losses, if they are independent */
	s64 surplus_before_1024; /* S' */
	u64 lost; /* packets */
	u64 wireless; /* of them */
	u32 flight; /* packets not acknowledged then */
	u32 reports; /* of wireless ones */
	u32 braked;
	u32 begun; /* 0 before the first loss */
};

/* One connection. */
struct lc_watch {
	struct lc_least base;
	struct lc_least standing;
	s64 rtt; /* the newest */
	struct lc_round round;
	u32 counted; /* packets acknowledged or lost */
	u32 counted_lost;
	u32 held_rounds;
};

/* A report of lost packets. */
struct lc_report {
	s64 at;
	s64 sent_at; /* when the newest of them left, or LC_NOT_SENT_AT */
	u32 lost;
	u32 flight; /* packets not acknowledged, lost ones included */
	u32 wireless; /* whether the rule calls them so */
};

#define LC_NOT_SENT_AT ((s64)(1ULL << 63))

/* The buckets as they are at `at`. After a silence, or if the clock was set back, they are empty. */
lc_inline void lc_least_move(struct lc_least *least, u64 bucket_ns, s64 at)
{
	u64 number = (u64)at / bucket_ns;

	if (number == least->number)
		return;
	least->before = number == least->number + 1 ? least->present : 0;
	least->present = 0;
	least->number = number;
}

lc_inline void lc_least_observe(struct lc_least *least, u64 bucket_ns, s64 at, s64 rtt)
{
	lc_least_move(least, bucket_ns, at);
	if (!least->present || rtt < least->present)
		least->present = rtt;
}

/* The least of the buckets that have one; 0 if none has. */
lc_inline s64 lc_least_of_any(const struct lc_least *least)
{
	if (!least->before || (least->present && least->present < least->before))
		return least->present;
	return least->before;
}

/* The least of both buckets; 0 if one of them has none. */
lc_inline s64 lc_least_of_both(const struct lc_least *least)
{
	return least->present && least->before ? lc_least_of_any(least) : 0;
}

/* How often `count` is to be halved to be less than 2^LC_COUNTED_SHIFT. */
lc_inline u32 lc_halvings(u64 count)
{
	u64 above = count >> LC_COUNTED_SHIFT;
	u32 times = 0;

	for (u32 step = 32; step; step >>= 1) {
		if (above >> step) {
			above >>= step;
			times += step;
		}
	}
	return times + (above != 0);
}

lc_inline void lc_watch_count(struct lc_watch *watch, u64 packets, u64 lost)
{
	u64 counted = watch->counted + packets, counted_lost = watch->counted_lost + lost;

	if (counted >> LC_COUNTED_SHIFT) {
		u32 times = lc_halvings(counted) & 63;

		counted >>= times;
		counted_lost >>= times;
	}
	watch->counted = (u32)counted;
	watch->counted_lost = (u32)counted_lost;
}

/* Takes in an ACK of `delivered` packets; `rtt` is LC_UNKNOWN or more than 0. */
lc_inline void lc_watch_ack(struct lc_watch *watch, s64 at, s64 rtt, u32 delivered)
{
	lc_watch_count(watch, delivered, 0);
	if (rtt <= 0)
		return;
	watch->rtt = rtt;
	lc_least_observe(&watch->base, LC_BASE_BUCKET_NS, at, rtt);
	lc_least_observe(&watch->standing, LC_STANDING_BUCKET_NS, at, rtt);
}

/* Whether the link stays full after a reduction to `keeps` of 1024. */
lc_inline int lc_reduction_is_free(struct lc_watch *watch, s64 at, u32 keeps)
{
	s64 base, standing;

	lc_least_move(&watch->base, LC_BASE_BUCKET_NS, at);
	lc_least_move(&watch->standing, LC_STANDING_BUCKET_NS, at);
	base = lc_least_of_any(&watch->base);
	standing = lc_least_of_both(&watch->standing);
	/* At most 2^36 ns times 2^10. */
	return keeps && base && standing && (standing - base) * (s64)keeps >= base * (s64)(1024 - keeps);
}

lc_inline int lc_round_is_large(const struct lc_round *round, u64 packets)
{
	return packets >= LC_LEAST_LOST && packets > round->flight / 4;
}

/* What the round adds to the sum S. */
lc_inline s64 lc_rise_1024(const struct lc_round *round)
{
	s64 further = round->reports ? (s64)round->reports - 1 : 0;

	return further * 1024 - (2 * round->expected_1024 + 512);
}

/* What it leaves to the next ones, before its limits. */
lc_inline s64 lc_left_1024(const struct lc_round *round)
{
	s64 rise = lc_rise_1024(round);

	return round->surplus_before_1024 + (rise > LC_MOST_RISE_1024 ? LC_MOST_RISE_1024 : rise);
}

lc_inline void lc_next_round(struct lc_watch *watch, const struct lc_report *report)
{
	struct lc_round *round = &watch->round;
	s64 left = 0;

	if (round->begun) {
		left = lc_left_1024(round);
		if (!lc_round_is_large(round, round->lost))
			lc_watch_count(watch, round->lost, round->lost);
	}
	if (left < 0)
		left = 0;
	round->surplus_before_1024 = left > LC_MOST_SURPLUS_1024 ? LC_MOST_SURPLUS_1024 : left;
	round->braked = watch->held_rounds != 0;
	if (watch->held_rounds)
		watch->held_rounds--;
	round->begun = 1;
	round->began = report->at;
	round->flight = report->flight;
	/* At most 2^13 lost, 2^32 in flight: 55 bits. */
	round->expected_1024 = (s64)(((u64)watch->counted_lost + 1) * report->flight * 1024 / (watch->counted ? watch->counted : 1));
	round->lost = 0;
	round->wireless = 0;
	round->reports = 0;
}

/* Counts a report to its round; whether the brake holds. */
lc_inline int lc_brake(struct lc_watch *watch, const struct lc_report *report)
{
	struct lc_round *round = &watch->round;
	s64 sent_at = report->sent_at == LC_NOT_SENT_AT ? report->at - watch->rtt : report->sent_at;

	if (!round->begun || sent_at > round->began || round->began > report->at)
		lc_next_round(watch, report);
	round->lost += report->lost;
	if (report->wireless) {
		round->wireless += report->lost;
		round->reports++;
	}
	if ((lc_round_is_large(round, round->wireless) && round->reports >= LC_LEAST_REPORTS &&
	     (s64)round->wireless * 1024 >= 3 * round->expected_1024 + LC_LEAST_LOST * 1024) ||
	    lc_left_1024(round) >= LC_LEAST_SURPLUS_1024) {
		round->braked = 1;
		watch->held_rounds = LC_HELD_ROUNDS;
	} else if (round->surplus_before_1024 + lc_rise_1024(round) >= LC_LEAST_SURPLUS_1024) {
		round->braked = 1;
	}
	return round->braked != 0;
}

/* Losses were reported; which safeguard makes them congestion although the rule calls them wireless. */
lc_apart u32 lc_watch_loss(struct lc_watch *watch, const struct lc_report *report, u32 guard, u32 brake, u32 keeps)
{
	int braked;

	if (!watch || !report)
		return LC_NEITHER;
	braked = lc_brake(watch, report);
	if (!report->wireless)
		return LC_NEITHER;
	if (guard && lc_reduction_is_free(watch, report->at, keeps))
		return LC_GUARD_SPEAKS;
	return brake && braked ? LC_BRAKE_SPEAKS : LC_NEITHER;
}

#endif
