// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists the connections of a loaded program: every socket with an entry in its map `connections`, in all processes and
 * network namespaces.
 */
#include "ends.h"

char LICENSE[] SEC("license") = "GPL";

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} LC_KERNEL_TYPE;

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct sock *sk;
	void *value;
} LC_KERNEL_TYPE;

static long (*const bpf_seq_write)(struct seq_file *seq, const void *data, u32 size) = (void *)127;
static struct tcp_sock *(*const bpf_skc_to_tcp_sock)(void *sk) = (void *)137;

SEC("iter/bpf_sk_storage_map")
int lc_rows(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct sock *sk = ctx->sk;
	struct lc_record *record = ctx->value;
	struct tcp_sock *tp;
	struct lc_row row = {};

	if (!sk || !record)
		return 0;
	row.record = *record;
	lc_read_ends(sk, &row.ends);
	tp = bpf_skc_to_tcp_sock(sk);
	if (tp) {
		row.cwnd = tp->snd_cwnd;
		row.ssthresh = tp->snd_ssthresh;
		row.srtt_us = tp->srtt_us >> 3;
	}
	bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}
