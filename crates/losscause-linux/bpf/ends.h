/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the two ends of a connection from its socket. */
#ifndef LC_ENDS_H
#define LC_ENDS_H

#include "kernel.h"
#include "record.h"

struct ns_common {
	u32 inum;
} LC_KERNEL_TYPE;

struct net {
	struct ns_common ns;
} LC_KERNEL_TYPE;

#define LC_AF_INET6 10

lc_inline void lc_read_ends(struct sock *sk, struct lc_ends *ends)
{
	ends->family = sk->__sk_common.skc_family;
	ends->netns = sk->__sk_common.skc_net.net->ns.inum;
	ends->local_port = sk->__sk_common.skc_num;
	ends->remote_port = __builtin_bswap16(sk->__sk_common.skc_dport);
	for (int i = 0; i < 4; i++)
		ends->local[i] = ends->remote[i] = 0;
	if (ends->family == LC_AF_INET6) {
		for (int i = 0; i < 4; i++) {
			ends->local[i] = sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[i];
			ends->remote[i] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[i];
		}
	} else {
		ends->local[0] = sk->__sk_common.skc_rcv_saddr;
		ends->remote[0] = sk->__sk_common.skc_daddr;
	}
}

#endif
