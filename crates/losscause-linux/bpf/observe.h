/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a sender observes: ACKs, and the gaps that they show.
 *
 * An ACK that advances the newest known arrival is an arrival, as at a receiver: its round-trip time takes the place of
 * the trip time, the time between two such ACKs that of the time between two packets. The crate's `AtSender` does the
 * same in Rust.
 *
 * SACK shows a gap before the kernel declares its packets lost. A gap therefore waits until then, with the arrival that
 * showed it. The kernel says how many packets it declares lost, not which; it declares the oldest first, so they are
 * taken from the oldest waiting gap. A packet beyond all waiting gaps is a retransmission that was lost too; it counts
 * to the newest gap.
 */
#ifndef LC_OBSERVE_H
#define LC_OBSERVE_H

#include "types.h"

#define LC_SACK_BLOCKS 4

/* Missing packets next to each other, which an ACK shows for the first time. */
struct lc_hole {
	u32 seq; /* of the first byte */
	u32 end_seq; /* of the byte behind the last */
	u32 packets;
};

/* An ACK. */
struct lc_ack {
	s64 at; /* when it came, ns */
	s64 rtt; /* of the newest packet that it acknowledges, ns; or LC_UNKNOWN */
	u32 new_data; /* whether it acknowledges anything for the first time */
	u32 spanned; /* packets by which it advances the newest known arrival; 0 if it only fills older gaps */
	u32 missing; /* how many of them are missing */
	u32 cwnd; /* the congestion window before it, packets */
	struct lc_hole holes[LC_SACK_BLOCKS]; /* where they are missing; those without packets are unused */
};

/* An arrival, as a receiver's algorithm sees it. */
struct lc_arrival {
	s64 at;
	s64 rott; /* the round-trip time, ns, or LC_UNKNOWN */
	s64 rott_before; /* that of the arrival before it */
	s64 span; /* since the arrival before it, ns; LC_UNKNOWN for the first one */
	u32 packets; /* spanned */
	u32 missing;
	u32 number; /* 1 for the first one */
};

/* A gap, with the arrival that showed it. An arrival that shows several holes makes several gaps. */
struct lc_gap {
	struct lc_arrival shown_by;
	u32 seq; /* of the first byte that is not declared lost yet */
	u32 end_seq; /* of the byte behind the gap */
	u32 waiting; /* its packets that are not declared lost yet */
};

#define LC_GAPS 16 /* a power of two */

struct lc_gaps {
	struct lc_gap ring[LC_GAPS];
	u32 newest; /* gaps shown so far; the newest is ring[(newest - 1) % LC_GAPS] */
	u32 waiting; /* packets of all remembered gaps that are not declared lost yet */
	u32 arrivals; /* so far; 1 follows the largest number */
	s64 last_at;
	s64 last_rtt;
};

/* Remembers a gap, and forgets the oldest. */
lc_inline void lc_show(struct lc_gaps *gaps, const struct lc_arrival *arrival, const struct lc_hole *hole)
{
	struct lc_gap *gap = &gaps->ring[gaps->newest % LC_GAPS];

	gaps->waiting += hole->packets - gap->waiting;
	gap->shown_by = *arrival;
	gap->seq = hole->seq;
	gap->end_seq = hole->end_seq;
	gap->waiting = hole->packets;
	gaps->newest++;
}

/* Takes in an ACK that spans packets. */
lc_inline struct lc_arrival lc_arrive(struct lc_gaps *gaps, const struct lc_ack *ack)
{
	struct lc_arrival arrival = {};

	arrival.at = ack->at;
	arrival.rott = ack->rtt;
	arrival.packets = ack->spanned;
	arrival.missing = ack->missing;
	arrival.span = gaps->arrivals ? lc_bounded(ack->at - gaps->last_at) : LC_UNKNOWN;
	arrival.rott_before = gaps->arrivals ? gaps->last_rtt : LC_UNKNOWN;
	if (!++gaps->arrivals)
		gaps->arrivals = 1;
	arrival.number = gaps->arrivals;
	gaps->last_at = ack->at;
	gaps->last_rtt = ack->rtt;
	if (arrival.missing)
		for (u32 i = 0; i < LC_SACK_BLOCKS; i++)
			if (ack->holes[i].packets)
				lc_show(gaps, &arrival, &ack->holes[i]);
	return arrival;
}

/* Everything before `una` has arrived: what waited there was only reordered. */
lc_inline void lc_fill(struct lc_gaps *gaps, u32 una)
{
	if (!gaps->waiting)
		return;
	for (u32 i = 0; i < LC_GAPS; i++) {
		struct lc_gap *gap = &gaps->ring[i];

		if (gap->waiting && (s32)(una - gap->end_seq) >= 0) {
			gaps->waiting -= gap->waiting;
			gap->waiting = 0;
		}
	}
}

/*
 * The i-th oldest remembered gap, i < LC_GAPS, and in `take` how many of `lost` packets fall into it. NULL if none do.
 */
lc_inline struct lc_gap *lc_take(struct lc_gaps *gaps, u32 i, u32 lost, u32 *take)
{
	struct lc_gap *gap = &gaps->ring[(gaps->newest + i) % LC_GAPS];

	if (!gap->waiting || !lost)
		return 0;
	*take = gap->waiting < lost ? gap->waiting : lost;
	gap->waiting -= *take;
	gaps->waiting -= *take;
	return gap;
}

/* The newest gap, for packets beyond all waiting gaps; NULL if there was none. */
lc_inline struct lc_gap *lc_newest(struct lc_gaps *gaps)
{
	return gaps->newest ? &gaps->ring[(gaps->newest - 1) % LC_GAPS] : 0;
}

#endif
