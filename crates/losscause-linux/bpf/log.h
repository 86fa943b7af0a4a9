/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of judgements, for a reader in user space.
 *
 * Every judgement becomes one record: lost packets that lie next to each other, or a reduction without a loss. A timeout
 * is known only after its losses were judged. Its record says how many packets of the same instant it has turned from
 * wireless to congestion.
 *
 * The reader says until when it reads, and renews that. A reader that was killed therefore stops the log too. Without a
 * reader a judgement costs one look at the map.
 */
#ifndef LC_LOG_H
#define LC_LOG_H

#include "ends.h"

#define LC_LOG_BYTES (256 * 1024)

struct {
	LC_UINT(type, BPF_MAP_TYPE_RINGBUF);
	LC_UINT(max_entries, LC_LOG_BYTES);
} judgements SEC(".maps");

enum lc_log_word {
	LC_LOG_UNTIL, /* when the reader stops reading, CLOCK_MONOTONIC, ns; 0: no reader. Written by the reader */
	LC_LOG_DROPPED, /* records that found no room, or came after LC_LOG_UNTIL */
	LC_LOG_WORDS,
};

struct {
	LC_UINT(type, BPF_MAP_TYPE_ARRAY);
	LC_UINT(max_entries, LC_LOG_WORDS);
	LC_TYPE(key, u32);
	LC_TYPE(value, u64);
} log_state SEC(".maps");

/* Logs the judgement `last` of `packets` packets from `seq` on; seq is NULL if it is not known where they were lost. */
lc_inline void lc_log(struct sock *sk, const struct lc_last *last, u32 packets, const u32 *seq)
{
	u32 until_key = LC_LOG_UNTIL, dropped_key = LC_LOG_DROPPED;
	u64 at = ((struct tcp_sock *)sk)->tcp_mstamp * 1000;
	u64 *until = bpf_map_lookup_elem(&log_state, &until_key), *dropped;
	struct lc_logged *record;

	if (!until || !*until)
		return;
	record = at < *until ? bpf_ringbuf_reserve(&judgements, sizeof(*record), 0) : 0;
	if (!record) {
		dropped = bpf_map_lookup_elem(&log_state, &dropped_key);
		if (dropped)
			__sync_fetch_and_add(dropped, 1);
		return;
	}
	record->at = at;
	lc_read_ends(sk, &record->ends);
	record->packets = packets;
	record->seq = seq ? *seq : 0;
	record->located = seq != 0;
	record->judgement = last->judgement;
	record->said = last->said;
	bpf_ringbuf_submit(record, 0);
}

#endif
