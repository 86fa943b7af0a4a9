// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watches TCP senders and changes none: what acknowledgements and retransmissions show goes to user space, which judges.
 *
 * The hooks are typed raw tracepoints, so that any congestion control is seen and no socket is touched:
 *
 *	tcp_probe            a packet came, of an established connection; its acknowledgement is not handled yet
 *	tcp_retransmit_skb   data are sent again
 *	tcp_destroy_sock     a connection ends
 *
 * A list of the files that processes have open tells who has a connection.
 *
 * tcp_probe comes before the acknowledgement, so a sample is what the one before has left. Data that are sent again ask
 * for it at once: then the present one has been handled. Up to LC_SAMPLES samples go to user space as one record.
 *
 * While nothing is missing, acknowledgements that follow each other closely are one sample. One that is no sample costs
 * little: the program reads no clock, and does not touch the connection's storage, which is rarely in the processor's caches.
 *
 * Nothing is pinned, so that all of it ends with the process that loaded it.
 */
#include "filter.h"
#include "watch.h"

char LICENSE[] SEC("license") = "GPL";

enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2, BPF_RB_AVAIL_DATA = 0 };
enum { LC_TCP_ESTABLISHED = 1, LC_TCP_SYN_SENT = 2, LC_TCP_SYN_RECV = 3 };

#define LC_RING_BYTES (4 * 1024 * 1024)
/* User space looks often; with so much in the ring it is woken. */
#define LC_MUCH_BYTES (LC_RING_BYTES / 2)
/* A sample waits no longer for others, if anything comes. */
#define LC_LONGEST_WAIT_US 100000
/* While nothing is missing, the next sample comes a quarter of a round trip after the last one, within these bounds. */
#define LC_SHORTEST_STEP_US 250
#define LC_LONGEST_STEP_US 1000

struct kernfs_node {
	u64 id;
} LC_KERNEL_TYPE;

struct cgroup {
	struct kernfs_node *kn;
} LC_KERNEL_TYPE;

struct sock_cgroup_data {
	struct cgroup *cgroup;
} LC_KERNEL_TYPE;

struct sk_buff {
	u64 skb_mstamp_ns; /* when it was sent last, as tcp_rack has it */
	char cb[48];
} LC_KERNEL_TYPE;

struct tcp_skb_cb {
	u32 seq;
	u32 end_seq;
} LC_KERNEL_TYPE;

struct tcp_rack {
	u64 mstamp;
	u32 rtt_us;
	u32 end_seq;
} LC_KERNEL_TYPE;

/* The same types with more fields: CO-RE leaves out what follows three underscores. */
struct sock_common___watch {
	volatile unsigned char skc_state;
} LC_KERNEL_TYPE;

struct sock___watch {
	struct sock_common___watch __sk_common;
	int sk_wmem_queued; /* bytes of memory for data to send or to be acknowledged */
	struct sock_cgroup_data sk_cgrp_data;
} LC_KERNEL_TYPE;

struct tcp_congestion_ops___watch {
	char name[16];
} LC_KERNEL_TYPE;

struct inet_connection_sock___watch {
	const struct tcp_congestion_ops___watch *icsk_ca_ops;
} LC_KERNEL_TYPE;

struct tcp_sock___watch {
	struct inet_connection_sock___watch inet_conn;
	struct tcp_rack rack;
	u64 delivered_mstamp; /* when the last acknowledgement came that acknowledged anything, us; or as first_tx_mstamp */
	u64 first_tx_mstamp; /* when the first packet was sent after a time with none in flight, until it is acknowledged; us */
	u32 snd_nxt;
	u32 retrans_out;
	u32 dsack_dups;
	u32 data_segs_out;
	u16 tcp_header_len;
} LC_KERNEL_TYPE;

struct seq_file;
struct file;

struct socket {
	struct sock *sk;
} LC_KERNEL_TYPE;

struct task_struct {
	s32 tgid;
	char comm[16];
	struct task_struct *group_leader;
} LC_KERNEL_TYPE;

struct bpf_iter_meta {
	struct seq_file *seq;
} LC_KERNEL_TYPE;

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct file *file;
} LC_KERNEL_TYPE;

static u64 (*const bpf_get_socket_cookie)(void *sk) = (void *)46;
static long (*const bpf_probe_read_kernel)(void *to, u32 bytes, const void *from) = (void *)113;
static long (*const bpf_seq_write)(struct seq_file *seq, const void *data, u32 size) = (void *)127;
static long (*const bpf_ringbuf_output)(void *ring, void *data, u64 bytes, u64 flags) = (void *)130;
static u64 (*const bpf_ringbuf_query)(void *ring, u64 flags) = (void *)134;
static struct tcp_sock *(*const bpf_skc_to_tcp_sock)(void *sk) = (void *)137;
static struct socket *(*const bpf_sock_from_file)(struct file *file) = (void *)162;

struct {
	LC_UINT(type, BPF_MAP_TYPE_RINGBUF);
	LC_UINT(max_entries, LC_RING_BYTES);
} records SEC(".maps");

/* Records that found no room. */
u64 lc_unseen SEC(".data.unseen");

/* A connection that is watched. */
struct lc_watched {
	u32 is_left_out; /* by the filters */
	u32 delivered; /* packets, in all, at the last sample */
	u64 at_us; /* of the last sample */
	u64 sent_us; /* of the newest packet that had arrived at the last sample */
	u64 first_us; /* of the samples that wait */
	u32 rtt_us; /* at the last sample */
	u32 unused;
	struct lc_seen_samples samples;
};

struct {
	LC_UINT(type, BPF_MAP_TYPE_SK_STORAGE);
	LC_UINT(map_flags, BPF_F_NO_PREALLOC);
	LC_TYPE(key, int);
	LC_TYPE(value, struct lc_watched);
} watched SEC(".maps");

/*
 * The last sample of a connection, and the acknowledgements since, in a small table: a place is of the connection that had a
 * sample last. If two share it, they have more samples. Times are us, the low 32 bits.
 */
struct lc_near {
	u32 id; /* of the connection */
	u32 until_us; /* of the next sample, if nothing is missing */
	u32 delivered; /* packets, in all, at the last acknowledgement */
	u32 since_us; /* of the first acknowledgement that was no sample; 0: none */
	u32 next; /* behind the newest byte sent, when the acknowledgement behind the last such one came */
} __attribute__((aligned(32))); /* none is in two cache lines */

#define LC_NEAR_BITS 9

struct lc_near lc_nears[1 << LC_NEAR_BITS] SEC(".data.near");

/*
 * The low bits of its address tell a connection well enough. To the verifier they are a number once they are moved, which
 * the compiler may leave out.
 */
lc_inline u32 lc_id(struct sock *sk)
{
	u32 id;

	asm volatile("%0 = %1" : "=w"(id) : "w"((u32)(u64)sk));
	return id;
}

lc_inline struct lc_near *lc_near_of(u32 id)
{
	struct lc_near *near = &lc_nears[(id * 0x9e3779b1u) >> (32 - LC_NEAR_BITS)];

	/* Else the compiler works it out again at each use. */
	asm volatile("" : "+r"(near));
	return near;
}

lc_inline void lc_hand_over(void *record, u64 bytes)
{
	u64 flags = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) > LC_MUCH_BYTES ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;

	if (bpf_ringbuf_output(&records, record, bytes, flags))
		__sync_fetch_and_add(&lc_unseen, 1);
}

/* A connection shows for the first time. */
static lc_apart struct lc_watched *lc_open(struct sock *sk)
{
	struct lc_watched *w = bpf_sk_storage_get(&watched, sk, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct tcp_sock___watch *tp = (void *)bpf_skc_to_tcp_sock(sk);
	struct lc_seen_open open = {};

	if (!w || !tp)
		return 0;
	open.seen.kind = LC_SEEN_OPEN;
	open.seen.socket = bpf_get_socket_cookie(sk);
	open.seen.at = bpf_ktime_get_ns();
	w->samples.seen.kind = LC_SEEN_SAMPLES;
	w->samples.seen.socket = open.seen.socket;
	lc_read_ends(sk, &open.ends);
	lc_as_ipv4(&open.ends);
	w->is_left_out = lc_is_left_out(&open.ends);
	if (w->is_left_out)
		return w;
	open.cgroup = ((struct sock___watch *)sk)->sk_cgrp_data.cgroup->kn->id;
	bpf_probe_read_kernel(open.control, sizeof(open.control), tp->inet_conn.icsk_ca_ops->name);
	w->delivered = ((struct tcp_sock *)tp)->delivered;
	/* What is there may be of a connection that had this address before. */
	lc_near_of(lc_id(sk))->id = 0;
	lc_hand_over(&open, sizeof(open));
	return w;
}

static lc_apart int lc_hand_over_samples(struct sock *sk, struct lc_watched *w)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct tcp_sock___watch *more = (void *)tp;
	u32 count;

	if (!tp || !w)
		return 0;
	count = w->samples.seen.count;
	if (!count || count > LC_SAMPLES)
		return 0;
	w->samples.seen.at = w->at_us * 1000;
	w->samples.mss = tp->mss_cache;
	w->samples.header = more->tcp_header_len;
	w->samples.sent = more->data_segs_out;
	w->samples.srtt_us = tp->srtt_us >> 3;
	w->samples.cwnd = tp->snd_cwnd;
	lc_hand_over(&w->samples, sizeof(w->samples) - (LC_SAMPLES - count) * sizeof(struct lc_sample));
	w->samples.seen.count = 0;
	return 0;
}

/* Packets that are sent, not acknowledged and not known to be lost (tcp_packets_in_flight). */
lc_inline u32 lc_flight(struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + ((struct tcp_sock___watch *)tp)->retrans_out;
}

/*
 * When the last acknowledgement came that acknowledged anything, us. A sender that begins anew with none in flight forgets
 * that (tcp_rate_skb_sent); then the round trip of the newest packet tells.
 */
lc_inline u64 lc_acked_at(struct tcp_sock___watch *tp)
{
	u64 at_us = tp->delivered_mstamp;

	return at_us == tp->first_tx_mstamp ? tp->rack.mstamp + tp->rack.rtt_us : at_us;
}

lc_inline u32 lc_step(struct tcp_sock *tp)
{
	u32 quarter_us = tp->srtt_us >> 5;

	if (quarter_us < LC_SHORTEST_STEP_US)
		return LC_SHORTEST_STEP_US;
	return quarter_us < LC_LONGEST_STEP_US ? quarter_us : LC_LONGEST_STEP_US;
}

/* Whether the last sample tells enough of the last acknowledgement: all packets arrive, and it was near. */
lc_inline int lc_is_near(struct tcp_sock *tp, u32 id)
{
	struct lc_near *near = lc_near_of(id);
	u32 delivered, at_us, left_us;

	if (near->id != id || (tp->sacked_out | tp->lost_out | ((struct tcp_sock___watch *)tp)->retrans_out))
		return 0;
	delivered = tp->delivered;
	if (delivered == near->delivered)
		return 1;
	at_us = lc_acked_at((struct tcp_sock___watch *)tp);
	left_us = near->until_us - at_us;
	if (!left_us || left_us > LC_LONGEST_STEP_US)
		return 0;
	near->delivered = delivered;
	near->next = ((struct tcp_sock___watch *)tp)->snd_nxt;
	if (!near->since_us)
		near->since_us = at_us;
	return 1;
}

/* What the last acknowledgement has left, if any came since the last sample that acknowledged something. */
lc_inline void lc_sample(struct tcp_sock *tp, struct lc_watched *w, u32 id)
{
	struct tcp_sock___watch *more = (void *)tp;
	u32 delivered = tp->delivered, count = w->samples.seen.count, rtt_us, since_us, newly, next_before;
	struct lc_near *near = lc_near_of(id);
	struct lc_sample *sample;
	u64 at_us, sent_us;

	/* A connection that is reset has lost its counts before it ends. */
	if ((s32)(delivered - w->delivered) <= 0 || count >= LC_SAMPLES)
		return;
	at_us = lc_acked_at(more);
	if ((s64)(at_us - w->at_us) < 0)
		at_us = w->at_us;
	newly = delivered - w->delivered;
	since_us = at_us;
	next_before = 0;
	if (near->id == id) {
		newly = delivered - near->delivered;
		if (near->since_us) {
			since_us = near->since_us;
			next_before = near->next;
		}
	}
	near->id = id;
	near->until_us = (u32)at_us + lc_step(tp);
	near->delivered = delivered;
	near->since_us = 0;
	sample = &w->samples.samples[count];
	sent_us = more->rack.mstamp;
	rtt_us = more->rack.rtt_us;
	sample->at_us = at_us;
	sample->since_us = since_us;
	sample->rtt_us = sent_us == w->sent_us && rtt_us == w->rtt_us ? 0 : rtt_us;
	sample->sent_us = sent_us;
	sample->sent_end = more->rack.end_seq;
	sample->next = more->snd_nxt;
	sample->next_before = next_before;
	sample->una = tp->snd_una;
	sample->delivered = delivered;
	sample->newly = newly;
	sample->flight = lc_flight(tp);
	sample->sacked = tp->sacked_out;
	sample->dsacks = more->dsack_dups;
	if (!count)
		w->first_us = at_us;
	w->samples.seen.count = count + 1;
	w->delivered = delivered;
	w->at_us = at_us;
	w->sent_us = sent_us;
	w->rtt_us = rtt_us;
}

/* An acknowledgement that may be a sample. */
static lc_apart int lc_on_ack(struct sock *sk)
{
	struct lc_watched *w = bpf_sk_storage_get(&watched, sk, 0, 0);
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);

	if (!w) {
		lc_open(sk);
		return 0;
	}
	if (!tp || w->is_left_out)
		return 0;
	lc_sample(tp, w, lc_id(sk));
	if (w->samples.seen.count >= LC_SAMPLES ||
	    (w->samples.seen.count && (s64)(tp->tcp_mstamp - w->first_us) > LC_LONGEST_WAIT_US))
		lc_hand_over_samples(sk, w);
	return 0;
}

SEC("tp_btf/tcp_probe")
int lc_on_packet(u64 *ctx)
{
	struct sock *sk = (void *)ctx[0];
	struct tcp_sock *tp;

	/* Nothing waits for an acknowledgement: this end only receives. */
	if (!((struct sock___watch *)sk)->sk_wmem_queued)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp || !tp->packets_out || lc_is_near(tp, lc_id(sk)))
		return 0;
	lc_on_ack(sk);
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int lc_on_again(u64 *ctx)
{
	struct sock *sk = (void *)ctx[0];
	struct sk_buff *skb = (void *)ctx[1];
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct tcp_skb_cb *cb = (void *)skb->cb;
	u32 state = ((struct sock___watch *)sk)->__sk_common.skc_state;
	struct lc_seen_again again = {};
	struct lc_watched *w;

	if (!tp || state == LC_TCP_SYN_SENT || state == LC_TCP_SYN_RECV)
		return 0;
	again.seen.at = skb->skb_mstamp_ns;
	w = bpf_sk_storage_get(&watched, sk, 0, 0);
	if (!w)
		w = lc_open(sk);
	if (!w || w->is_left_out)
		return 0;
	lc_sample(tp, w, lc_id(sk));
	lc_hand_over_samples(sk, w);
	again.seen.kind = LC_SEEN_AGAIN;
	again.seen.socket = w->samples.seen.socket;
	bpf_probe_read_kernel(&again.seq, sizeof(again.seq), &cb->seq);
	bpf_probe_read_kernel(&again.end_seq, sizeof(again.end_seq), &cb->end_seq);
	again.flight = lc_flight(tp);
	lc_hand_over(&again, sizeof(again));
	return 0;
}

SEC("tp_btf/tcp_destroy_sock")
int lc_on_close(u64 *ctx)
{
	struct sock *sk = (void *)ctx[0];
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct lc_watched *w = bpf_sk_storage_get(&watched, sk, 0, 0);
	struct lc_seen close = {};

	if (!tp || !w || w->is_left_out)
		return 0;
	lc_sample(tp, w, lc_id(sk));
	lc_hand_over_samples(sk, w);
	close.kind = LC_SEEN_CLOSE;
	close.socket = w->samples.seen.socket;
	close.at = bpf_ktime_get_ns();
	lc_hand_over(&close, sizeof(close));
	return 0;
}

SEC("iter/task_file")
int lc_holders(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct socket *socket = task && file ? bpf_sock_from_file(file) : 0;
	struct sock *sk = socket ? socket->sk : 0;
	struct lc_holder holder = {};
	struct lc_watched *w;

	if (!sk)
		return 0;
	w = bpf_sk_storage_get(&watched, sk, 0, 0);
	if (!w || w->is_left_out)
		return 0;
	holder.socket = w->samples.seen.socket;
	holder.process = task->tgid;
	bpf_probe_read_kernel(holder.name, sizeof(holder.name), task->group_leader->comm);
	bpf_seq_write(ctx->meta->seq, &holder, sizeof(holder));
	return 0;
}
