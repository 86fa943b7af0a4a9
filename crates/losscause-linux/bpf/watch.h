/* SPDX-License-Identifier: GPL-2.0-only */
/* What `watch` hands to user space. src/watch/record.rs mirrors these structs. */
#ifndef LC_WATCH_H
#define LC_WATCH_H

#include "record.h"

enum lc_seen_kind { LC_SEEN_OPEN = 1, LC_SEEN_SAMPLES, LC_SEEN_AGAIN, LC_SEEN_CLOSE };

/* Every record begins with it. */
struct lc_seen {
	u32 kind; /* enum lc_seen_kind */
	u32 count; /* of samples; else 0 */
	u64 socket; /* the kernel's cookie, as `ss -e` shows it */
	u64 at; /* CLOCK_MONOTONIC, ns; of samples: of the newest one */
};

/* A connection shows for the first time. */
struct lc_seen_open {
	struct lc_seen seen;
	u64 cgroup; /* the number of its control group */
	struct lc_ends ends;
	char control[16]; /* the name of its congestion control */
};

/* What the acknowledgement at `at_us` left. Times are us, the low 32 bits. */
struct lc_sample {
	u32 at_us;
	u32 since_us; /* of the first acknowledgement after the last sample: this one, or one that is none */
	u32 rtt_us; /* of the packet that it acknowledged last; 0 if it shows no new one */
	u32 sent_us; /* when the newest packet that has arrived was sent, by time of sending … */
	u32 sent_end; /* … and the byte behind it */
	u32 next; /* behind the newest byte sent, when the next acknowledgement came */
	u32 next_before; /* the same, when this one came, if `since_us` is that of another one */
	u32 una; /* everything before is acknowledged */
	u32 delivered; /* packets, in all */
	u32 newly; /* packets that this acknowledgement alone delivered, not those before it that are no samples */
	u32 flight; /* packets that are sent, not acknowledged and not known to be lost */
	u32 sacked; /* packets acknowledged beyond una */
	u32 dsacks; /* packets that the receiver reports to have got twice, in all */
};

#define LC_SAMPLES 8

/* Samples of one connection, and its state now. */
struct lc_seen_samples {
	struct lc_seen seen;
	u32 mss; /* bytes of data in a full packet */
	u32 header; /* bytes of the TCP header, options included */
	u32 sent; /* packets with data, sent again included, in all */
	u32 srtt_us;
	u32 cwnd;
	u32 unused;
	struct lc_sample samples[LC_SAMPLES];
};

/* Data are sent again. */
struct lc_seen_again {
	struct lc_seen seen;
	u32 seq;
	u32 end_seq;
	u32 flight; /* as of a sample, without these data */
	u32 unused;
};

/* A process that has a connection open. */
struct lc_holder {
	u64 socket;
	u32 process;
	char name[16];
};

#endif
