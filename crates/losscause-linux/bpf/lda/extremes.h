/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The smallest and the largest round-trip time of a window, or of the whole connection.
 *
 * The window has LC_PARTS equal parts. Each completed part keeps its extremes; when a part ends, the oldest is dropped. The
 * result covers the last 3/4 to all of the window. The same as `Lookback` of the crate, for windows of time.
 */
#ifndef LC_EXTREMES_H
#define LC_EXTREMES_H

#include "../types.h"

#define LC_PARTS 4
#define LC_COMPLETED (LC_PARTS - 1)

/* Extremes of some RTTs; none if max < 0. */
struct lc_range {
	s64 min;
	s64 max;
};

struct lc_extremes {
	struct lc_range seen; /* within the window */
	struct lc_range completed[LC_COMPLETED];
	struct lc_range present; /* the part that has not ended */
	s64 since; /* when it began; 0 before the first RTT */
	u32 oldest; /* of `completed` */
	u32 begun; /* whether there was an RTT */
};

lc_inline void lc_include(struct lc_range *range, s64 min, s64 max)
{
	if (max < 0)
		return;
	if (range->max < 0) {
		range->min = min;
		range->max = max;
		return;
	}
	if (min < range->min)
		range->min = min;
	if (max > range->max)
		range->max = max;
}

lc_inline void lc_extremes_observe(struct lc_extremes *extremes, u64 window_ns, s64 rtt, s64 now)
{
	s64 part = (s64)(window_ns / LC_PARTS);
	u32 ended = 0;

	if (!extremes->begun) {
		extremes->begun = 1;
		extremes->since = now;
		extremes->seen.max = extremes->present.max = -1;
		for (u32 i = 0; i < LC_COMPLETED; i++)
			extremes->completed[i].max = -1;
	}
	if (!window_ns) {
		lc_include(&extremes->seen, rtt, rtt);
		return;
	}
	for (u32 i = 0; i <= LC_PARTS && now - extremes->since >= part; i++) {
		if (i == LC_PARTS) {
			/* Everything is dropped; the next part begins here. */
			extremes->since = now;
			break;
		}
		extremes->since += part;
		ended++;
		if (extremes->oldest < LC_COMPLETED)
			extremes->completed[extremes->oldest] = extremes->present;
		extremes->oldest = extremes->oldest + 1 < LC_COMPLETED ? extremes->oldest + 1 : 0;
		extremes->present.max = -1;
	}
	if (ended) {
		extremes->seen.max = -1;
		for (u32 i = 0; i < LC_COMPLETED; i++)
			lc_include(&extremes->seen, extremes->completed[i].min, extremes->completed[i].max);
	}
	lc_include(&extremes->present, rtt, rtt);
	lc_include(&extremes->seen, rtt, rtt);
}

#endif
