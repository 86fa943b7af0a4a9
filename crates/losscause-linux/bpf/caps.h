/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Caps: how much a wrong rule can cost.
 *
 *	max_run    at most this many losses in a row are ignored; the next one is congestion
 *	max_share  at most this share of the recent packets may be lost and ignored
 *
 * A run ends with a reduction. "Recent" are the last 256 to 512 packets delivered or lost. src/kernel/caps.rs has the
 * defaults.
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
	u32 ignored; /* of them, lost and ignored */
};

#define LC_RECENT_PACKETS 256

lc_inline void lc_caps_count(struct lc_caps *caps, u32 packets)
{
	caps->packets += packets;
	if (caps->packets >= 2 * LC_RECENT_PACKETS) {
		caps->packets >>= 1;
		caps->ignored >>= 1;
	}
}

/* The reason not to ignore `lost` packets, or 0; then they count as ignored. */
lc_inline u32 lc_caps_refuse(struct lc_caps *caps, const struct lc_caps_parameters *p, u32 lost)
{
	u32 packets = caps->packets > LC_RECENT_PACKETS ? caps->packets : LC_RECENT_PACKETS;

	if (caps->run + lost > p->max_run)
		return LC_RUN_CAP;
	if (caps->ignored + lost > lc_floor(p->max_share, packets))
		return LC_SHARE_CAP;
	caps->run += lost;
	caps->ignored += lost;
	return 0;
}

/* The window is reduced. */
lc_inline void lc_caps_restart(struct lc_caps *caps)
{
	caps->run = 0;
}

#endif
