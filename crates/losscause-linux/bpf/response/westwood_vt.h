/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * WestwoodVT's response (see lc_westwood_vt.bpf.c): after congestion the window becomes bwe RTT_min, where bwe is the
 * kernel's estimate of the delivery rate.
 */
#ifndef LC_RESPONSE_H
#define LC_RESPONSE_H

#include "../kernel.h"
#include "../observe.h"

struct lc_response {};

#define lc_response_ignores_undecided 1
#define lc_response_keeps LC_KEEPS_NO_FIXED_SHARE

/* "In congestion avoidance", figure 2. */
lc_inline int lc_response_applies(struct tcp_sock *tp)
{
	return tp->snd_cwnd >= tp->snd_ssthresh;
}

lc_inline void lc_response_grow(struct sock *sk, struct lc_response *response, const struct lc_lda *lda, u32 ack, u32 acked)
{
	lc_growth_avoid(sk, ack, acked);
}

lc_inline u32 lc_response_kept(u32 cwnd, u32 verdict)
{
	return verdict == LC_WIRELESS ? cwnd + 1 : cwnd;
}

lc_inline u32 lc_response_reduced(struct sock *sk, const struct lc_response *response, s64 rtt_min)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u64 pipe;

	if (!tp->rate_interval_us)
		return lc_growth_cut(sk);
	pipe = (u64)tp->rate_delivered * ((u64)rtt_min / 1000) / tp->rate_interval_us;
	if (pipe > tp->snd_cwnd)
		return tp->snd_cwnd;
	return pipe < 2 ? 2 : (u32)pipe;
}

lc_inline void lc_response_on_episode(struct lc_lda *lda)
{
}

#endif
