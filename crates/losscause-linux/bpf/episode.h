/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The congestion control around an algorithm: it feeds ACKs to the algorithm, asks it about every packet declared lost,
 * and leaves the window alone if all of them are wireless.
 *
 * The kernel calls ssthresh() once per episode (recovery, CWR, or timeout), and proportional rate reduction (PRR, RFC
 * 6937) then leads cwnd to the value that it returned. An episode is one of three:
 *
 *	LC_NONE     no episode, or one that the kernel began without asking
 *	LC_KEPT     every loss so far is wireless: ssthresh() returned the present window, so PRR keeps it
 *	LC_REDUCED  congestion: ssthresh() returned the reduced window
 *
 * Later losses of a kept episode are judged one by one as the kernel declares them. The first that is not wireless, an
 * echoed mark or a timeout reduces the window after all: the program writes snd_ssthresh, which PRR reads with every ACK.
 *
 * A kept episode must not end slow start. Its ssthresh equals cwnd, so the program remembers the old ssthresh and puts
 * it back when the episode ends.
 *
 * In a dry run every episode has the window of the growth alone (growth/), as if the program had no rule. Verdicts, episodes and
 * sums are as they would be.
 *
 * A program includes this header after its algorithm (algorithm/), growth (growth/) and response (response/):
 *
 *	struct lc_lda, struct lc_lda_parameters
 *	lc_lda_observe(lda, parameters, ack, arrival)   arrival is NULL if the ACK only fills older gaps
 *	lc_lda_judge(lda, parameters, gap)              gap is NULL if no SACK has shown it
 *	struct lc_response                              the response's own state
 *	lc_response_applies(tp)                         whether the rule may be heeded at the beginning of an episode
 *	lc_response_ignores_undecided                   whether a loss that the rule leaves undecided is ignored too
 *	lc_response_keeps                               what a reduction keeps of the window, for the guard
 *	lc_response_grow, _kept, _reduced, _on_episode  growth, the window after each verdict, a hook
 *
 * What the kernel interface does not allow is listed in docs/kernel.md.
 */
#ifndef LC_EPISODE_H
#define LC_EPISODE_H

#include "caps.h"
#include "kernel.h"
#include "log.h"
#include "observe.h"
#include "record.h"
#include "response/safeguard.h"

enum lc_episode { LC_NONE, LC_KEPT, LC_REDUCED };

/* A connection. Its record comes first: user space reads it. */
struct lc_connection {
	struct lc_record record;
	struct lc_gaps gaps;
	struct lc_lda lda;
	struct lc_response response;
	struct lc_caps caps;
	struct lc_watch watch;
	u64 declared_at; /* tcp_mstamp when the kernel last declared losses */
	u64 marked_at; /* tcp_mstamp of the newest ACK that echoes a mark */
	u32 declared_wireless; /* how many of them were judged wireless */
	u32 declared_ignored; /* whether all of them were ignored */
	u32 lost; /* tp->lost, as far as judged */
	u32 delivered; /* tp->delivered at the last ACK */
	u32 newest_seq; /* everything before has arrived or is missing */
	u32 episode;
	u32 kept_window; /* the window that a kept episode keeps */
	u32 slow_start_until; /* ssthresh to put back after a kept episode; 0: none */
};

/* Written by the loader; not const, so that the compiler does not take it for zeros. Read-only in the kernel. */
struct lc_parameters {
	struct lc_caps_parameters caps;
	struct lc_safeguard_parameters safeguards;
	u64 dry_run; /* 1: losses are judged and counted, and the window is that of the growth alone */
	struct lc_lda_parameters lda;
} lc_parameters SEC(".rodata.parameters");

struct {
	LC_UINT(type, BPF_MAP_TYPE_SK_STORAGE);
	LC_UINT(map_flags, BPF_F_NO_PREALLOC);
	LC_TYPE(key, int);
	LC_TYPE(value, struct lc_connection);
} connections SEC(".maps");

struct {
	LC_UINT(type, BPF_MAP_TYPE_ARRAY);
	LC_UINT(max_entries, 1);
	LC_TYPE(key, u32);
	LC_TYPE(value, struct lc_totals);
} totals SEC(".maps");

char LICENSE[] SEC("license") = "GPL";

#define LC_ADD(connection, field, n)                                                      \
	do {                                                                              \
		u32 lc_zero = 0;                                                          \
		struct lc_totals *lc_total = bpf_map_lookup_elem(&totals, &lc_zero);      \
		(connection)->record.sums.field += (n);                                   \
		if (lc_total)                                                             \
			__sync_fetch_and_add(&lc_total->sums.field, (u64)(s64)(n));       \
	} while (0)

lc_inline struct lc_connection *lc_connection_of(struct sock *sk)
{
	return bpf_sk_storage_get(&connections, sk, 0, 0);
}

lc_inline int lc_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

lc_inline u32 lc_packets(u32 bytes, u32 mss)
{
	return mss ? (bytes + mss - 1) / mss : 0;
}

/*
 * A receiver holds an ACK back while it waits for a second packet (RFC 9293, section 3.8.6.3): Linux for 40 ms, by a timer
 * that may be one tick of at most 10 ms early; others for longer. Its round-trip time would show a queue that is not there.
 */
#define LC_HELD_BACK_NS 30000000LL

/* Whether the receiver may have held this ACK back: it is for one packet, in order, and none came for that long. */
lc_inline int lc_may_be_held_back(const struct tcp_sock *tp, const struct lc_connection *c, const struct lc_ack *ack)
{
	return ack->spanned == 1 && !tp->sacked_out && c->gaps.arrivals && ack->at - c->gaps.last_at >= LC_HELD_BACK_NS;
}

/*
 * The current ACK. Segments are counted in bytes of full ones: the kernel does not number packets, so several small
 * packets count as one.
 */
lc_inline void lc_read_ack(struct tcp_sock *tp, const struct ack_sample *sample, struct lc_connection *c, struct lc_ack *ack)
{
	u32 from = c->newest_seq, una = tp->snd_una, newest = from, arrived = 0, missing = 0;

	if (lc_before(newest, una)) {
		newest = una;
		arrived = una - from;
	}
	if (tp->sacked_out) {
		lc_unrolled
		for (int i = 0; i < LC_SACK_BLOCKS; i++) {
			u32 start = tp->recv_sack_cache[i].start_seq, end = tp->recv_sack_cache[i].end_seq;

			if (lc_before(start, newest))
				start = newest;
			if (!lc_before(start, end))
				continue;
			ack->holes[i].seq = newest;
			ack->holes[i].end_seq = start;
			ack->holes[i].packets = lc_packets(start - newest, tp->mss_cache);
			missing += ack->holes[i].packets;
			arrived += end - start;
			newest = end;
		}
	}
	ack->at = (s64)tp->tcp_mstamp * 1000;
	ack->new_data = tp->delivered != c->delivered;
	ack->missing = missing;
	ack->spanned = ack->missing + lc_packets(arrived, tp->mss_cache);
	ack->rtt = LC_UNKNOWN;
	if (sample->rtt_us > 0 && !lc_may_be_held_back(tp, c, ack))
		ack->rtt = lc_bounded((s64)sample->rtt_us * 1000);
	ack->cwnd = tp->snd_cwnd;
	c->newest_seq = newest;
}

/* Which safeguard speaks against ignoring `lost` packets. Each gap is a report of its own. */
lc_inline u32 lc_safeguard(struct sock *sk, struct lc_connection *c, const struct lc_gap *gap, u32 lost, const u32 *seq, int ignored)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	const struct lc_safeguard_parameters *p = &lc_parameters.safeguards;
	struct lc_report report = {};

	report.at = (s64)tp->tcp_mstamp * 1000;
	report.sent_at = LC_NOT_SENT_AT;
	/* The packets of a gap left just before the one that has shown it. */
	if (gap && seq && gap->shown_by.rott >= 0)
		report.sent_at = gap->shown_by.at - gap->shown_by.rott;
	report.lost = lost;
	report.flight = tp->packets_out;
	report.wireless = ignored != 0;
	return lc_watch_loss(&c->watch, &report, (u32)p->guard, (u32)p->brake, lc_response_keeps);
}

/* Judges `lost` packets of a gap, from `seq` on if that is known; whether they are ignored. */
lc_inline int lc_judge(struct sock *sk, struct lc_connection *c, const struct lc_gap *gap, u32 lost, const u32 *seq)
{
	struct lc_judgement j = lc_lda_judge(&c->lda, &lc_parameters.lda, gap);
	int ignored = j.verdict == LC_WIRELESS || (lc_response_ignores_undecided && j.verdict == LC_UNDECIDED && j.reason == LC_BY_RULE);
	u32 safeguard;

	if (ignored && c->episode == LC_NONE && !lc_response_applies((struct tcp_sock *)sk)) {
		j.verdict = LC_CONGESTION;
		j.reason = LC_SLOW_START;
		ignored = 0;
	}
	safeguard = lc_safeguard(sk, c, gap, lost, seq, ignored);
	c->record.brake_rounds = c->watch.held_rounds;
	if (safeguard == LC_GUARD_SPEAKS)
		LC_ADD(c, guarded, lost);
	if (safeguard == LC_BRAKE_SPEAKS)
		LC_ADD(c, braked, lost);
	if (safeguard != LC_NEITHER) {
		j.verdict = LC_CONGESTION;
		j.reason = safeguard == LC_GUARD_SPEAKS ? LC_GUARD : LC_BRAKE;
		c->record.last.said = c->watch.said;
		ignored = 0;
	}
	if (ignored) {
		u32 cap = lc_caps_refuse(&c->caps, &lc_parameters.caps, lost);

		if (cap == LC_RUN_CAP)
			LC_ADD(c, run_caps, lost);
		if (cap == LC_SHARE_CAP)
			LC_ADD(c, share_caps, lost);
		if (cap) {
			j.verdict = LC_CONGESTION;
			j.reason = cap;
			ignored = 0;
		}
	}
	if (j.verdict == LC_WIRELESS) {
		LC_ADD(c, wireless, lost);
		c->declared_wireless += lost;
	} else if (j.verdict == LC_UNDECIDED) {
		LC_ADD(c, undecided, lost);
	} else {
		LC_ADD(c, congestion, lost);
	}
	c->record.last.judgement = j;
	lc_log(sk, &c->record.last, lost, seq);
	return ignored;
}

/* Judges every packet that the kernel declared lost since the last call; whether all of them are ignored. */
lc_inline int lc_judge_declared(struct sock *sk, struct lc_connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 lost = tp->lost - c->lost;
	int all_ignored = 1;

	if (!lost)
		return 1;
	c->lost = tp->lost;
	c->declared_at = tp->tcp_mstamp;
	c->declared_wireless = 0;
	lc_caps_count(&c->caps, lost);
	for (u32 i = 0; i < LC_GAPS; i++) {
		u32 take = 0;
		struct lc_gap *gap = lc_take(&c->gaps, i, lost, &take);

		if (!gap)
			continue;
		lost -= take;
		all_ignored &= lc_judge(sk, c, gap, take, &gap->seq);
		gap->seq += take * tp->mss_cache;
	}
	if (lost)
		all_ignored &= lc_judge(sk, c, lc_newest(&c->gaps), lost, 0);
	c->declared_ignored = all_ignored;
	return all_ignored;
}

/* Congestion in a kept episode: the window is reduced after all. */
lc_inline void lc_reduce_kept(struct sock *sk, struct lc_connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 cwnd = tp->snd_cwnd;

	if (!lc_parameters.dry_run) {
		/* Reductions start from snd_cwnd, which PRR or the timeout has changed since the episode began. */
		tp->snd_cwnd = c->kept_window;
		tp->snd_ssthresh = lc_response_reduced(sk, &c->response, c->record.last.rtt_min);
		tp->snd_cwnd = cwnd;
	}
	c->episode = LC_REDUCED;
	LC_ADD(c, reductions, 1);
	lc_caps_restart(&c->caps);
}

/* An episode begins, with losses that were all ignored or not: the window to lead cwnd to. */
lc_inline u32 lc_begin_episode(struct sock *sk, struct lc_connection *c, int losses, int ignored)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	int marked = c->marked_at == tp->tcp_mstamp;
	u32 window;

	/*
	 * A packet that was sent in the last episode, and lost, opens this one. It was judged then, so the last verdict
	 * still stands.
	 */
	if (!losses && tp->lost_out) {
		losses = 1;
		ignored = c->declared_ignored;
	}
	lc_response_on_episode(&c->lda);
	if (losses && ignored && !marked) {
		window = lc_response_kept(tp->snd_cwnd, c->record.last.judgement.verdict);
		c->episode = LC_KEPT;
		c->kept_window = window < 2 ? 2 : window;
		c->slow_start_until = tp->snd_cwnd < tp->snd_ssthresh ? tp->snd_ssthresh : 0;
		return lc_parameters.dry_run ? lc_growth_cut(sk) : c->kept_window;
	}
	if (marked || !losses) {
		struct lc_judgement j = {};

		j.verdict = LC_CONGESTION;
		j.reason = marked ? LC_MARK : LC_NO_LOSS;
		c->record.last.judgement = j;
		lc_log(sk, &c->record.last, 0, 0);
	}
	if (marked)
		LC_ADD(c, marks, 1);
	c->episode = LC_REDUCED;
	LC_ADD(c, reductions, 1);
	lc_caps_restart(&c->caps);
	if (lc_parameters.dry_run)
		return lc_growth_cut(sk);
	return lc_response_reduced(sk, &c->response, c->record.last.rtt_min);
}

/* The retransmission timer expired. Whatever was declared lost with it, and judged, is congestion. */
lc_inline void lc_time_out(struct sock *sk, struct lc_connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct lc_judgement j = {};
	u32 revised = 0;

	if (c->declared_at == tp->tcp_mstamp) {
		revised = c->declared_wireless;
		LC_ADD(c, wireless, -(s64)revised);
		LC_ADD(c, congestion, revised);
		c->declared_wireless = 0;
	}
	j.verdict = LC_CONGESTION;
	j.reason = LC_TIMEOUT;
	c->record.last.judgement = j;
	lc_log(sk, &c->record.last, revised, 0);
	LC_ADD(c, timeouts, 1);
	if (c->episode == LC_KEPT)
		lc_reduce_kept(sk, c);
}

lc_inline void lc_end_episode(struct tcp_sock *tp, struct lc_connection *c)
{
	if (c->episode == LC_KEPT) {
		LC_ADD(c, avoided, 1);
		if (c->slow_start_until && !lc_parameters.dry_run)
			tp->snd_ssthresh = c->slow_start_until;
	}
	c->episode = LC_NONE;
}

/*
 * Whether the kernel has skipped the program for an ACK or a timer (results/live.md), and then taken for what ssthresh() returns what its
 * stack held: an episode that the program has not begun has a threshold that is no answer of its own.
 */
lc_inline int lc_is_skipped(const struct tcp_sock *tp, const struct lc_connection *c, u32 state)
{
	if (state < TCP_CA_CWR || c->episode != LC_NONE || (tp->snd_ssthresh >= 2 && tp->snd_ssthresh <= tp->prior_cwnd + 1))
		return 0;
	/* Where packets became too large the kernel does not ask. */
	return state != TCP_CA_Loss || tp->prior_ssthresh;
}

/* Begins that episode, with the window and the threshold from before. */
lc_inline void lc_make_up(struct sock *sk, struct lc_connection *c, int losses, int ignored, u32 state)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 cwnd = tp->snd_cwnd;

	tp->snd_cwnd = tp->prior_cwnd;
	tp->snd_ssthresh = tp->prior_ssthresh;
	tp->snd_ssthresh = lc_begin_episode(sk, c, losses, ignored);
	tp->snd_cwnd = cwnd;
	if (state == TCP_CA_Loss)
		lc_time_out(sk, c);
	LC_ADD(c, skipped, 1);
}

SEC("struct_ops/init")
void lc_init(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct lc_connection *c = bpf_sk_storage_get(&connections, sk, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct lc_totals *total;
	u32 zero = 0;

	lc_growth_init(sk);
	if (!c)
		return;
	c->lost = tp->lost;
	c->delivered = tp->delivered;
	c->newest_seq = tp->snd_una;
	c->record.began = bpf_ktime_get_ns();
	total = bpf_map_lookup_elem(&totals, &zero);
	if (total)
		__sync_fetch_and_add(&total->opened, 1);
}

SEC("struct_ops/release")
void lc_release(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct lc_totals *total;
	u32 zero = 0;

	if (!lc_connection_of(sk))
		return;
	bpf_sk_storage_delete(&connections, sk);
	total = bpf_map_lookup_elem(&totals, &zero);
	if (total)
		__sync_fetch_and_add(&total->closed, 1);
}

SEC("struct_ops/ssthresh")
u32 lc_ssthresh(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct lc_connection *c = lc_connection_of(sk);

	int losses, ignored;

	if (!c)
		return lc_growth_cut(sk);
	losses = ((struct tcp_sock *)sk)->lost != c->lost;
	ignored = lc_judge_declared(sk, c);
	return lc_begin_episode(sk, c, losses, ignored);
}

SEC("struct_ops/cong_avoid")
void lc_cong_avoid(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct lc_connection *c = lc_connection_of(sk);

	if (c && !lc_parameters.dry_run)
		lc_response_grow(sk, &c->response, &c->lda, (u32)ctx[1], (u32)ctx[2]);
	else
		lc_growth_avoid(sk, (u32)ctx[1], (u32)ctx[2]);
}

/* Called for every ACK once its acknowledgements are taken in, before this ACK declares losses. */
SEC("struct_ops/pkts_acked")
void lc_pkts_acked(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	const struct ack_sample *sample = (const struct ack_sample *)ctx[1];
	struct lc_connection *c = lc_connection_of(sk);
	struct lc_arrival arrival;
	struct lc_ack ack = {};
	int losses, ignored;
	u32 delivered, state;

	lc_growth_acked(sk, sample);
	if (!c)
		return;
	/* The kernel has ended it, and skipped the program. */
	state = lc_ca_state(sk);
	if (state < TCP_CA_CWR && c->episode != LC_NONE)
		lc_end_episode(tp, c);
	/* Losses that the ACK before this one, or a timer, declared within an episode. */
	losses = tp->lost != c->lost;
	ignored = lc_judge_declared(sk, c);
	if (lc_is_skipped(tp, c, state))
		lc_make_up(sk, c, losses, ignored, state);
	else if (!ignored && c->episode == LC_KEPT)
		lc_reduce_kept(sk, c);
	lc_read_ack(tp, sample, c, &ack);
	delivered = tp->delivered - c->delivered;
	c->delivered = tp->delivered;
	c->record.delivered += delivered;
	c->record.mss = tp->mss_cache;
	lc_caps_count(&c->caps, delivered);
	lc_watch_ack(&c->watch, ack.at, ack.rtt, delivered);
	if (ack.rtt >= 0) {
		struct lc_last *last = &c->record.last;

		if (!last->rtt_min || ack.rtt < last->rtt_min)
			last->rtt_min = ack.rtt;
		if (ack.rtt > last->rtt_max)
			last->rtt_max = ack.rtt;
		last->rtt = ack.rtt;
	}
	if (ack.spanned) {
		arrival = lc_arrive(&c->gaps, &ack);
		lc_lda_observe(&c->lda, &lc_parameters.lda, &ack, &arrival);
	} else {
		lc_lda_observe(&c->lda, &lc_parameters.lda, &ack, 0);
	}
	lc_fill(&c->gaps, tp->snd_una);
}

SEC("struct_ops/in_ack_event")
void lc_in_ack_event(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct lc_connection *c;

	if (!((u32)ctx[1] & CA_ACK_ECE))
		return;
	c = lc_connection_of(sk);
	if (!c)
		return;
	c->marked_at = ((struct tcp_sock *)sk)->tcp_mstamp;
	if (c->episode == LC_KEPT) {
		LC_ADD(c, marks, 1);
		lc_reduce_kept(sk, c);
	}
}

SEC("struct_ops/set_state")
void lc_set_state(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct lc_connection *c = lc_connection_of(sk);
	u8 state = (u8)ctx[1];

	lc_growth_set_state(sk, state);
	if (!c)
		return;
	if (state == TCP_CA_Loss) {
		lc_judge_declared(sk, c);
		lc_time_out(sk, c);
	}
	if (state == TCP_CA_Open)
		lc_end_episode((struct tcp_sock *)sk, c);
}

SEC("struct_ops/cwnd_event")
void lc_cwnd_event(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct lc_connection *c;
	u32 event = (u32)ctx[1];

	lc_growth_event(sk, event);
	if (event != CA_EVENT_COMPLETE_CWR)
		return;
	c = lc_connection_of(sk);
	if (c)
		lc_end_episode((struct tcp_sock *)sk, c);
}

SEC("struct_ops/undo_cwnd")
u32 lc_undo_cwnd(u64 *ctx)
{
	return tcp_reno_undo_cwnd((struct sock *)ctx[0]);
}

#define LC_REGISTER(algorithm)                                          \
	SEC(".struct_ops.link")                                         \
	struct tcp_congestion_ops algorithm = {                         \
		.init = (void *)lc_init,                                \
		.release = (void *)lc_release,                          \
		.ssthresh = (void *)lc_ssthresh,                        \
		.cong_avoid = (void *)lc_cong_avoid,                    \
		.pkts_acked = (void *)lc_pkts_acked,                    \
		.in_ack_event = (void *)lc_in_ack_event,                \
		.set_state = (void *)lc_set_state,                      \
		.cwnd_event = (void *)lc_cwnd_event,                    \
		.undo_cwnd = (void *)lc_undo_cwnd,                      \
		.name = #algorithm,                                     \
	}

#endif
