/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Veno's response (see lc_veno.bpf.c). The rule's verdict after an ACK says whether N >= beta, because both limits are
 * beta.
 */
#ifndef LC_RESPONSE_H
#define LC_RESPONSE_H

#include "../kernel.h"
#include "../observe.h"

struct lc_response {
	u64 skipped; /* whether the previous ACK was, where only every other one counts */
};

#define lc_response_ignores_undecided 0
#define lc_response_keeps LC_GROWTH_KEEPS

lc_inline int lc_response_applies(struct tcp_sock *tp)
{
	return 1;
}

lc_inline void lc_response_grow(struct sock *sk, struct lc_response *response, const struct lc_lda *lda, u32 ack, u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (tp->snd_cwnd >= tp->snd_ssthresh && lda->vegas_buffer.outside == LC_CONGESTION) {
		response->skipped = !response->skipped;
		if (response->skipped)
			return;
	}
	lc_growth_avoid(sk, ack, acked);
}

lc_inline u32 lc_response_kept(u32 cwnd, u32 verdict)
{
	return cwnd * 4 / 5;
}

lc_inline u32 lc_response_reduced(struct sock *sk, const struct lc_response *response, s64 rtt_min)
{
	return lc_growth_cut(sk);
}

lc_inline void lc_response_on_episode(struct lc_lda *lda)
{
	lc_vegas_buffer_forget(&lda->vegas_buffer);
}

#endif
