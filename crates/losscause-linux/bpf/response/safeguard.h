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
 * The base is the least round-trip time of the last 10 to 20 s that two round trips support; what stands above it the least of
 * the last 50 to 100 ms. If what left behind the reduction delivers less by more than half of the share 1 - b and two packets, and
 * the round-trip time stays within an eighth of it, the path has become longer: the base is learned anew.
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

#include "../verdict.h"

struct lc_safeguard_parameters {
	u64 guard; /* 1: on */
	u64 brake;
};

enum lc_safeguard { LC_NEITHER, LC_GUARD_SPEAKS, LC_BRAKE_SPEAKS };

/* What a response keeps of its window, in 1/1024. */
#define LC_KEEPS_HALF 512 /* Reno (RFC 5681, section 3.1, equation 4) */
#define LC_KEEPS_CUBIC 717 /* CUBIC (RFC 9438, section 4.6), as Linux rounds it */
#define LC_KEEPS_NO_FIXED_SHARE 0 /* the guard is silent */

#define LC_BASE_BUCKET_NS 10000000000LL
#define LC_STANDING_BUCKET_NS 50000000LL
#define LC_GRAIN 2 /* packets of one ACK */
#define LC_HELD_ROUNDS 20
#define LC_LEAST_LOST 4
#define LC_LEAST_REPORTS 3
#define LC_LEAST_SURPLUS_1024 (6 * 1024)
#define LC_MOST_SURPLUS_1024 (8 * 1024)
#define LC_MOST_RISE_1024 (3 * 1024)
#define LC_COUNTED_SHIFT 13 /* counts are halved when they reach 2^13 */

/* The least round-trip time, when its ACK came, and the least one of another round trip; 0 where there was none. */
struct lc_supported {
	s64 least;
	s64 acked;
	s64 second;
};

/* What was seen in two adjacent buckets; 0 where there was nothing. */
struct lc_base {
	s64 began; /* the present bucket */
	struct lc_supported present;
	struct lc_supported before;
};

struct lc_standing {
	s64 began;
	s64 present;
	s64 before;
};

/* Checks in the two round trips after the guard spoke whether the link stayed full. */
struct lc_check {
	s64 began;
	s64 rtt; /* what stood before; 0: no check */
	u64 delivered; /* packets, in the first round trip */
	u64 delivered_behind; /* in the second */
	u64 keeps;
};

struct lc_round {
	s64 began; /* when the first loss was reported */
	s64 expected_1024; /* losses, if they are independent */
	s64 surplus_before_1024; /* S' */
	u64 lost; /* packets */
	u64 wireless; /* of them */
	u32 flight; /* packets not acknowledged then */
	u32 reports; /* of wireless ones */
	u32 held; /* whether the brake holds on from a round before */
	u32 begun; /* 0 before the first loss */
};

/* One connection. */
struct lc_watch {
	struct lc_base base;
	struct lc_standing standing;
	struct lc_check check;
	s64 rtt; /* the newest */
	struct lc_round round;
	struct lc_said held_by; /* the round that made the brake hold */
	struct lc_said said; /* the last time that one spoke */
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

/* How many buckets of `ns` lie between the one that began at `began` and `at`; 2 if more, or if the clock was set back. */
lc_inline u32 lc_buckets_passed(s64 began, s64 ns, s64 at)
{
	s64 age = at - began;

	if (age < 0 || age >= 2 * ns)
		return 2;
	return age >= ns;
}

lc_inline void lc_support(struct lc_supported *seen, s64 acked, s64 rtt)
{
	int other = acked - rtt >= seen->acked;

	if (!seen->least || rtt < seen->least) {
		if (seen->least && other)
			seen->second = seen->least;
		seen->least = rtt;
		seen->acked = acked;
	} else if (other && (!seen->second || rtt < seen->second)) {
		seen->second = rtt;
	}
}

lc_inline void lc_base_observe(struct lc_base *base, s64 at, s64 rtt)
{
	const struct lc_supported none = {};
	u32 passed = base->present.least ? lc_buckets_passed(base->began, LC_BASE_BUCKET_NS, at) : 2;

	if (passed) {
		base->before = passed == 1 ? base->present : none;
		base->began = passed == 1 ? base->began + LC_BASE_BUCKET_NS : at;
		base->present = none;
	}
	lc_support(&base->present, at, rtt);
}

lc_inline void lc_standing_observe(struct lc_standing *standing, s64 at, s64 rtt)
{
	u32 passed = standing->present ? lc_buckets_passed(standing->began, LC_STANDING_BUCKET_NS, at) : 2;

	if (passed) {
		standing->before = passed == 1 ? standing->present : 0;
		standing->began = passed == 1 ? standing->began + LC_STANDING_BUCKET_NS : at;
		standing->present = 0;
	}
	if (!standing->present || rtt < standing->present)
		standing->present = rtt;
}

/* The least of the base that another round trip supports; 0 if none does. */
lc_inline s64 lc_base_at(const struct lc_base *base, s64 at)
{
	const struct lc_supported *one = &base->present, *other = &base->before;
	u32 passed = lc_buckets_passed(base->began, LC_BASE_BUCKET_NS, at);
	s64 second;

	if (passed == 2)
		return 0;
	if (passed == 1 || !other->least)
		return one->second;
	second = one->least > other->least ? one->least : other->least;
	if (one->second && one->second < second)
		second = one->second;
	if (other->second && other->second < second)
		second = other->second;
	return second;
}

/* The least of the last 50 to 100 ms; 0 if a half has none. */
lc_inline s64 lc_standing_at(const struct lc_standing *standing, s64 at)
{
	if (!standing->before || lc_buckets_passed(standing->began, LC_STANDING_BUCKET_NS, at))
		return 0;
	return standing->present < standing->before ? standing->present : standing->before;
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

/* Goes on with a check at an ACK. */
lc_inline void lc_watch_check(struct lc_watch *watch, s64 at, u32 delivered)
{
	const struct lc_base none = {};
	struct lc_check *check = &watch->check;
	s64 elapsed = at - check->began, rtt, moved;

	if (elapsed >= 0 && elapsed < check->rtt) {
		check->delivered += delivered;
		return;
	}
	if (elapsed >= 0 && elapsed < 2 * check->rtt) {
		check->delivered_behind += delivered;
		return;
	}
	rtt = lc_standing_at(&watch->standing, at);
	moved = lc_distance(rtt, check->rtt);
	if (rtt && (check->delivered_behind + LC_GRAIN) * 2 * 1024 < check->delivered * (1024 + check->keeps) &&
	    moved * 8 * 1024 < check->rtt * (s64)(1024 - check->keeps))
		watch->base = none;
	check->rtt = 0;
}

/* Takes in an ACK of `delivered` packets; `rtt` is LC_UNKNOWN or more than 0. */
lc_inline void lc_watch_ack(struct lc_watch *watch, s64 at, s64 rtt, u32 delivered)
{
	lc_watch_count(watch, delivered, 0);
	if (rtt > 0) {
		watch->rtt = rtt;
		lc_base_observe(&watch->base, at, rtt);
		lc_standing_observe(&watch->standing, at, rtt);
	}
	if (watch->check.rtt)
		lc_watch_check(watch, at, delivered);
}

/* Whether the link stays full after a reduction to `keeps` of 1024. */
lc_inline int lc_guard(struct lc_watch *watch, s64 at, u32 keeps)
{
	const struct lc_said none = {};
	const struct lc_check new_check = {};
	s64 base = lc_base_at(&watch->base, at), standing = lc_standing_at(&watch->standing, at);

	/* At most 2^36 ns times 2^10. */
	if (!keeps || !base || !standing || (standing - base) * (s64)keeps < base * (s64)(1024 - keeps))
		return 0;
	watch->said = none;
	watch->said.queue = standing - base;
	watch->said.base = base;
	watch->said.keeps = keeps;
	if (!watch->check.rtt) {
		watch->check = new_check;
		watch->check.began = at;
		watch->check.rtt = standing;
		watch->check.keeps = keeps;
	}
	return 1;
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
	round->held = watch->held_rounds != 0;
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

/* Counts a report to its round; whether the brake holds, and by which round. */
lc_inline int lc_brake(struct lc_watch *watch, const struct lc_report *report, struct lc_said *by)
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
	by->lost = round->wireless;
	by->expected_1024 = round->expected_1024;
	by->flight = round->flight;
	by->reports = round->reports;
	if ((lc_round_is_large(round, round->wireless) && round->reports >= LC_LEAST_REPORTS &&
	     (s64)round->wireless * 1024 >= 3 * round->expected_1024 + LC_LEAST_LOST * 1024) ||
	    lc_left_1024(round) >= LC_LEAST_SURPLUS_1024) {
		watch->held_rounds = LC_HELD_ROUNDS;
		watch->held_by = *by;
	} else if (round->surplus_before_1024 + lc_rise_1024(round) < LC_LEAST_SURPLUS_1024) {
		*by = watch->held_by;
		by->rounds_ago = LC_HELD_ROUNDS - watch->held_rounds;
		return round->held != 0;
	}
	return 1;
}

/* Losses were reported; which safeguard makes them congestion although the rule calls them wireless. watch->said has its numbers. */
lc_apart u32 lc_watch_loss(struct lc_watch *watch, const struct lc_report *report, u32 guard, u32 brake, u32 keeps)
{
	struct lc_said by = {};
	int braked;

	if (!watch || !report)
		return LC_NEITHER;
	braked = lc_brake(watch, report, &by);
	if (!report->wireless)
		return LC_NEITHER;
	if (guard && lc_guard(watch, report->at, keeps))
		return LC_GUARD_SPEAKS;
	if (!brake || !braked)
		return LC_NEITHER;
	watch->said = by;
	return LC_BRAKE_SPEAKS;
}

#endif
