/* SPDX-License-Identifier: GPL-2.0-only */
/* The usual response: a wireless loss leaves the window unchanged, any other reduces it as the growth does. */
#ifndef LC_RESPONSE_H
#define LC_RESPONSE_H

#include "../kernel.h"
#include "../observe.h"

struct lc_response {};

#define lc_response_ignores_undecided 0
#define lc_response_keeps LC_GROWTH_KEEPS

lc_inline int lc_response_applies(struct tcp_sock *tp)
{
	return 1;
}

lc_inline void lc_response_grow(struct sock *sk, struct lc_response *response, const struct lc_lda *lda, u32 ack, u32 acked)
{
	lc_growth_avoid(sk, ack, acked);
}

lc_inline u32 lc_response_kept(u32 cwnd, u32 verdict)
{
	return cwnd;
}

lc_inline u32 lc_response_reduced(struct sock *sk, const struct lc_response *response, s64 rtt_min)
{
	return lc_growth_cut(sk);
}

lc_inline void lc_response_on_episode(struct lc_lda *lda)
{
}

#endif
