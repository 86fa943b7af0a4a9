/* SPDX-License-Identifier: GPL-2.0-only */
/* Which connections a program is for. src/filter.rs writes these structs. */
#ifndef LC_FILTER_H
#define LC_FILTER_H

#include "ends.h"

#define LC_FILTERS 8

/* A prefix of addresses; IPv4 in the first word. */
struct lc_prefix {
	u32 family; /* 0: none */
	u32 address[4];
	u32 mask[4];
};

struct lc_filters {
	struct lc_prefix prefixes[LC_FILTERS]; /* of the peer; all if there is none */
	u32 ports[LC_FILTERS]; /* of either end; 0: none; all if there is none */
};

/* Written by the loader. */
struct lc_filters lc_filters SEC(".rodata.filters");

lc_inline int lc_is_in(const struct lc_prefix *prefix, const struct lc_ends *ends)
{
	u32 differs = prefix->family ^ ends->family;

	lc_unrolled
	for (int i = 0; i < 4; i++)
		differs |= (prefix->address[i] ^ ends->remote[i]) & prefix->mask[i];
	return !differs;
}

/* An IPv4 peer of a socket for both is one of IPv4. */
lc_inline void lc_as_ipv4(struct lc_ends *ends)
{
	if (ends->family != LC_AF_INET6 || ends->remote[0] || ends->remote[1] || ends->remote[2] != __builtin_bswap32(0xffff))
		return;
	ends->family = 2;
	ends->remote[0] = ends->remote[3];
	ends->local[0] = ends->local[3];
	for (int i = 1; i < 4; i++)
		ends->remote[i] = ends->local[i] = 0;
}

lc_inline int lc_is_left_out(const struct lc_ends *ends)
{
	int has_prefix = 0, has_port = 0, in_prefix = 0, at_port = 0;

	for (int i = 0; i < LC_FILTERS; i++) {
		u32 port = lc_filters.ports[i];

		if (lc_filters.prefixes[i].family) {
			has_prefix = 1;
			in_prefix |= lc_is_in(&lc_filters.prefixes[i], ends);
		}
		if (port) {
			has_port = 1;
			at_port |= port == ends->local_port || port == ends->remote_port;
		}
	}
	return (has_prefix && !in_prefix) || (has_port && !at_port);
}

#endif
