/* SPDX-License-Identifier: GPL-2.0-only */
/* What an algorithm answers about a loss, and why. src/kernel/record.rs reads these numbers. */
#ifndef LC_VERDICT_H
#define LC_VERDICT_H

#include "types.h"

enum lc_verdict {
	LC_CONGESTION = 1,
	LC_WIRELESS = 2,
	LC_UNDECIDED = 3, /* handled as congestion, unless the algorithm's paper says otherwise */
};

enum lc_reason {
	LC_BY_RULE = 1, /* the algorithm's rule: `measured` was held against `limit` */
	LC_NO_SAMPLE = 2, /* the rule lacks a round-trip time, or an earlier ACK */
	LC_NO_GAP = 3, /* no SACK has shown the gap that the packet was lost in */
	LC_TIMEOUT = 4, /* the retransmission timer expired */
	LC_MARK = 5, /* the receiver echoes a congestion mark (ECN) */
	LC_NO_LOSS = 6, /* the kernel reduces without a lost packet: a probe repaired the tail, or this host's queue is full */
	LC_RUN_CAP = 7, /* wireless by rule, but max_run losses in a row were ignored */
	LC_SLOW_START = 9, /* wireless by rule, but the paper applies the rule in congestion avoidance only */
	LC_SHARE_CAP = 8, /* wireless by rule, but max_share of the recent packets were lost and ignored */
	LC_GUARD = 11, /* wireless by rule, but the queue is so long that a reduction leaves the link full */
	LC_BRAKE = 12, /* wireless by rule, but rounds lost more than independent losses explain */
};

struct lc_judgement {
	u32 verdict;
	u32 reason;
	s64 measured; /* ns, or a count: lda/ says which */
	s64 limit;
};

/* The numbers of a judgement LC_GUARD or LC_BRAKE. */
struct lc_said {
	s64 queue; /* guard: what stood, ns */
	s64 base;
	u64 lost; /* brake: packets of the round that were called wireless */
	s64 expected_1024;
	u32 keeps;
	u32 flight;
	u32 reports;
	u32 rounds_ago;
};

lc_inline struct lc_judgement lc_missing(u32 reason)
{
	struct lc_judgement judgement = {};

	judgement.verdict = LC_UNDECIDED;
	judgement.reason = reason;
	return judgement;
}

lc_inline struct lc_judgement lc_ruled(int wireless, s64 measured, s64 limit)
{
	struct lc_judgement judgement = {};

	judgement.verdict = wireless ? LC_WIRELESS : LC_CONGESTION;
	judgement.reason = LC_BY_RULE;
	judgement.measured = measured;
	judgement.limit = limit;
	return judgement;
}

#endif
