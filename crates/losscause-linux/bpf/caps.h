/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Caps: how much a wrong rule can cost.
 *
 *	max_run    at most this many losses in a row are ignored; the next one is congestion
 *	max_share  at most this share of the recent packets may be lost and ignored
 *
 * A run ends with a reduction. "Recent" are the last 256 to 512 packets delivered or lost: counted up to 512, then both
 * counts are halved. src/kernel/caps.rs has the defaults; the crate's `CapCounts` does the same in Rust.
 */
#ifndef LC_CAPS_H
#define LC_CAPS_H

#include "verdict.h"

struct lc_caps_parameters {
	u64 max_run;
	u64 max_share; /* a fraction */
};

struct lc_caps {
	u32 run; /* losses ignored since the last reduction */
	u32 packets; /* recent packets */
	u64 ignored; /* of them, lost and ignored; << LC_CAPS_SHIFT: rounded down, a halving would let one more be ignored */
};

#define LC_RECENT_PACKETS 256
#define LC_CAPS_SHIFT 30

lc_inline void lc_caps_count(struct lc_caps *caps, u32 packets)
{
	caps->packets += packets;
	/* One ACK may deliver several times as many: 32 bits have 23 more than 9. */
	for (int i = 0; i < 23 && caps->packets >= 2 * LC_RECENT_PACKETS; i++) {
		caps->packets >>= 1;
		caps->ignored >>= 1;
	}
}

/* The reason not to ignore `lost` packets, or 0; then they count as ignored. */
lc_inline u32 lc_caps_refuse(struct lc_caps *caps, const struct lc_caps_parameters *p, u32 lost)
{
	u64 packets = caps->packets > LC_RECENT_PACKETS ? caps->packets : LC_RECENT_PACKETS;
	u64 ignored = caps->ignored + ((u64)lost << LC_CAPS_SHIFT);

	if ((u64)caps->run + lost > p->max_run)
		return LC_RUN_CAP;
	if (ignored > p->max_share * packets << (LC_CAPS_SHIFT - LC_FRACTION_SHIFT))
		return LC_SHARE_CAP;
	caps->run += lost;
	caps->ignored = ignored;
	return 0;
}

/* The window is reduced. */
lc_inline void lc_caps_restart(struct lc_caps *caps)
{
	caps->run = 0;
}

#endif
