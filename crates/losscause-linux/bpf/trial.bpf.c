// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives a share of a control group's new connections a congestion control, so that it is tried on few.
 *
 * A connection is chosen when it is established, before its congestion control begins. One that does not have the
 * default, because its process or its route chose another, keeps what it has.
 */
#include "filter.h"

char LICENSE[] SEC("license") = "GPL";

enum { LC_ACTIVE_ESTABLISHED = 4, LC_PASSIVE_ESTABLISHED = 5 };
enum { LC_SOL_TCP = 6, LC_TCP_CONGESTION = 13 };

struct bpf_sock;

struct bpf_sock_ops {
	u32 op;
	struct bpf_sock *sk;
} LC_KERNEL_TYPE;

static u32 (*const bpf_get_prandom_u32)(void) = (void *)7;
static long (*const bpf_setsockopt)(void *ctx, int level, int name, void *value, int bytes) = (void *)49;
static long (*const bpf_getsockopt)(void *ctx, int level, int name, void *value, int bytes) = (void *)57;
static struct tcp_sock *(*const bpf_skc_to_tcp_sock)(void *sk) = (void *)137;

/* A name in two words. */
struct lc_control {
	u64 words[2];
};

/* Written by the loader. */
struct {
	struct lc_control name; /* of the congestion control */
	struct lc_control instead_of; /* of the default */
	u64 share; /* of connections, in 2^-32 */
} lc_trial SEC(".rodata.trial");

/* What was asked for, for user space. The loader makes it as long as that. */
char lc_given[1] SEC(".rodata.given");

SEC("sockops")
int lc_try(struct bpf_sock_ops *ctx)
{
	struct lc_control control = {};
	struct bpf_sock *sk = ctx->sk;
	struct lc_ends ends;
	struct tcp_sock *tp;

	/* Else the compiler reads it twice, and the verifier wants each checked. */
	asm volatile("" : "+r"(sk));
	if (ctx->op != LC_ACTIVE_ESTABLISHED && ctx->op != LC_PASSIVE_ESTABLISHED)
		return 1;
	if (bpf_get_prandom_u32() >= lc_trial.share || !sk)
		return 1;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 1;
	lc_read_ends((struct sock *)tp, &ends);
	lc_as_ipv4(&ends);
	if (lc_is_left_out(&ends))
		return 1;
	bpf_getsockopt(ctx, LC_SOL_TCP, LC_TCP_CONGESTION, &control, sizeof(control));
	if (control.words[0] != lc_trial.instead_of.words[0] || control.words[1] != lc_trial.instead_of.words[1])
		return 1;
	control = lc_trial.name;
	bpf_setsockopt(ctx, LC_SOL_TCP, LC_TCP_CONGESTION, &control, sizeof(control));
	return 1;
}
