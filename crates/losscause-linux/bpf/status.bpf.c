// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists the connections of a loaded program: sockets with an entry in its map `connections`. The kernel has no list of
 * all of them, so there are two: the TCP sockets of one network namespace, and those that processes have open. A
 * connection that is closing may belong to no process, and a process may hold a connection of a namespace that is
 * otherwise gone.
 */
#include "ends.h"

char LICENSE[] SEC("license") = "GPL";

struct seq_file;
struct file;

struct socket {
	struct sock *sk;
} LC_KERNEL_TYPE;

struct bpf_iter_meta {
	struct seq_file *seq;
} LC_KERNEL_TYPE;

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
} LC_KERNEL_TYPE;

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct file *file;
} LC_KERNEL_TYPE;

static u64 (*const bpf_get_socket_cookie)(void *sk) = (void *)46;
static long (*const bpf_seq_write)(struct seq_file *seq, const void *data, u32 size) = (void *)127;
static struct tcp_sock *(*const bpf_skc_to_tcp_sock)(void *sk) = (void *)137;
static struct socket *(*const bpf_sock_from_file)(struct file *file) = (void *)162;

/* The loader puts the map of the loaded program in its place, whose values begin with the record. */
struct {
	LC_UINT(type, BPF_MAP_TYPE_SK_STORAGE);
	LC_UINT(map_flags, BPF_F_NO_PREALLOC);
	LC_TYPE(key, int);
	LC_TYPE(value, struct lc_record);
} connections SEC(".maps");

lc_inline void lc_write_row(struct seq_file *seq, void *sk)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct lc_record *record;
	struct lc_row row = {};

	if (!tp)
		return;
	record = bpf_sk_storage_get(&connections, tp, 0, 0);
	if (!record)
		return;
	row.socket = bpf_get_socket_cookie(tp);
	row.record = *record;
	lc_read_ends((struct sock *)tp, &row.ends);
	row.cwnd = tp->snd_cwnd;
	row.ssthresh = tp->snd_ssthresh;
	row.srtt_us = tp->srtt_us >> 3;
	bpf_seq_write(seq, &row, sizeof(row));
}

/* The TCP sockets of the network namespace in which the list is opened. */
SEC("iter/tcp")
int lc_in_namespace(struct bpf_iter__tcp *ctx)
{
	struct sock_common *sk = ctx->sk_common;

	if (sk)
		lc_write_row(ctx->meta->seq, sk);
	return 0;
}

/* The sockets that processes have open, whatever their namespace. */
SEC("iter/task_file")
int lc_in_processes(struct bpf_iter__task_file *ctx)
{
	struct file *file = ctx->file;
	struct socket *socket = file ? bpf_sock_from_file(file) : 0;
	struct sock *sk = socket ? socket->sk : 0;

	if (sk)
		lc_write_row(ctx->meta->seq, sk);
	return 0;
}
