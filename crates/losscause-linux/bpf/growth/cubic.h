/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Growth and reduction of CUBIC (RFC 9438) with HyStart, by the kernel's own functions.
 *
 * CUBIC keeps its state in the connection's private area. A loss that is ignored does not reach it: its epoch goes on.
 */
#ifndef LC_GROWTH_H
#define LC_GROWTH_H

#include "../kernel.h"
#include "../response/safeguard.h"

#define LC_GROWTH_KEEPS LC_KEEPS_CUBIC

extern void cubictcp_init(struct sock *sk) LC_KERNEL_FUNCTION;
extern u32 cubictcp_recalc_ssthresh(struct sock *sk) LC_KERNEL_FUNCTION;
extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked) LC_KERNEL_FUNCTION;
extern void cubictcp_state(struct sock *sk, u8 new_state) LC_KERNEL_FUNCTION;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) LC_KERNEL_FUNCTION;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) LC_KERNEL_FUNCTION;

lc_inline void lc_growth_init(struct sock *sk)
{
	cubictcp_init(sk);
}

lc_inline void lc_growth_avoid(struct sock *sk, u32 ack, u32 acked)
{
	cubictcp_cong_avoid(sk, ack, acked);
}

lc_inline u32 lc_growth_cut(struct sock *sk)
{
	return cubictcp_recalc_ssthresh(sk);
}

lc_inline void lc_growth_set_state(struct sock *sk, u8 state)
{
	cubictcp_state(sk, state);
}

lc_inline void lc_growth_event(struct sock *sk, u32 event)
{
	cubictcp_cwnd_event(sk, (enum tcp_ca_event)event);
}

lc_inline void lc_growth_acked(struct sock *sk, const struct ack_sample *sample)
{
	cubictcp_acked(sk, sample);
}

#endif
