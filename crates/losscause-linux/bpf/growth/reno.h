/* SPDX-License-Identifier: GPL-2.0-only */
/* Growth and reduction of Reno, by the kernel's own functions (RFC 5681, section 3.1). */
#ifndef LC_GROWTH_H
#define LC_GROWTH_H

#include "../kernel.h"
#include "../response/safeguard.h"

#define LC_GROWTH_KEEPS LC_KEEPS_HALF

lc_inline void lc_growth_init(struct sock *sk)
{
}

lc_inline void lc_growth_avoid(struct sock *sk, u32 ack, u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

/* The window after a reduction, from snd_cwnd. */
lc_inline u32 lc_growth_cut(struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

lc_inline void lc_growth_set_state(struct sock *sk, u8 state)
{
}

lc_inline void lc_growth_event(struct sock *sk, u32 event)
{
}

lc_inline void lc_growth_acked(struct sock *sk, const struct ack_sample *sample)
{
}

#endif
