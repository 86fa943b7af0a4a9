/* SPDX-License-Identifier: GPL-2.0-only */
/* What user space reads of a connection and of a program. src/kernel/record.rs mirrors these structs. */
#ifndef LC_RECORD_H
#define LC_RECORD_H

#include "verdict.h"

/* Sums, since the connection opened or the program was loaded. Losses are packets. */
struct lc_sums {
	u64 congestion; /* losses judged congestion */
	u64 wireless; /* losses judged wireless, and ignored */
	u64 undecided; /* losses that could not be judged */
	u64 reductions; /* of the window; in a dry run those that the rule would have made */
	u64 avoided; /* recoveries that ended without a reduction */
	u64 timeouts;
	u64 marks; /* reductions for a congestion mark (ECN) */
	u64 run_caps; /* losses wireless by rule that were congestion because of max_run */
	u64 share_caps; /* … because of max_share */
	u64 guarded; /* … because of the guard */
	u64 braked; /* … because of the brake */
	u64 skipped; /* episodes that the kernel began without the program, which made up for it */
};

/* The last judgement, and the round-trip times; ns. */
struct lc_last {
	s64 rtt; /* 0 before the first one */
	s64 rtt_min;
	s64 rtt_max;
	struct lc_judgement judgement; /* reason 0 before the first loss */
	struct lc_said said; /* its numbers if the reason is LC_GUARD or LC_BRAKE */
};

/* The two ends of a connection. */
struct lc_ends {
	u32 family; /* 2: IPv4, 10: IPv6 */
	u32 netns; /* inode number of the network namespace */
	u32 local[4]; /* address, in network order; IPv4 in the first word */
	u32 remote[4];
	u16 local_port;
	u16 remote_port;
};

/* A judgement, as log.h writes it. */
struct lc_logged {
	u64 at; /* of the ACK or the timer, CLOCK_MONOTONIC, ns */
	struct lc_ends ends;
	u32 packets; /* judged; 0 if the kernel reduced without a loss. Of a timeout: see log.h */
	u32 seq; /* of their first byte */
	u32 located; /* whether seq is known */
	struct lc_judgement judgement;
	struct lc_said said; /* its numbers if the reason is LC_GUARD or LC_BRAKE */
};

struct lc_record {
	struct lc_sums sums;
	struct lc_last last;
	u64 began; /* when the connection began to use the program; CLOCK_MONOTONIC, ns */
	u64 delivered; /* packets, since then */
	u32 mss; /* bytes */
	u32 brake_rounds; /* for so many rounds with losses the brake holds on */
};

struct lc_totals {
	struct lc_sums sums;
	u64 opened; /* connections that have used the program */
	u64 closed;
};

/* A connection, as status.bpf.c writes it. */
struct lc_row {
	u64 socket; /* the kernel's cookie: the same in every list */
	struct lc_record record;
	struct lc_ends ends;
	u32 cwnd;
	u32 ssthresh;
	u32 srtt_us;
};

#endif
