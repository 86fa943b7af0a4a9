/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs use of the kernel: fields, helpers, functions.
 *
 * The structs name only the fields in use. When a program is loaded, libbpf puts in the offsets of the running kernel
 * (CO-RE), so the order and the size of these structs do not matter.
 *
 * With LC_HOST, a program compiles on the host, where connection.c stands in for the kernel.
 */
#ifndef LC_KERNEL_H
#define LC_KERNEL_H

#include "types.h"

#ifdef LC_HOST
#define SEC(name) __attribute__((used))
#define LC_KERNEL_TYPE
#define LC_KERNEL_FUNCTION
#else
#define SEC(name) __attribute__((section(name), used))
#define LC_KERNEL_TYPE __attribute__((preserve_access_index))
#define LC_KERNEL_FUNCTION __attribute__((section(".ksyms")))
#endif

/* Fields of a map's definition (BTF). */
#define LC_UINT(name, value) int(*name)[value]
#define LC_TYPE(name, type) typeof(type) *name

enum { BPF_MAP_TYPE_ARRAY = 2, BPF_MAP_TYPE_SK_STORAGE = 24, BPF_MAP_TYPE_RINGBUF = 27 };
enum { BPF_F_NO_PREALLOC = 1, BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };

struct possible_net_t {
	struct net *net;
} LC_KERNEL_TYPE;

struct in6_addr {
	union {
		u32 u6_addr32[4];
	} in6_u;
} LC_KERNEL_TYPE;

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
	u16 skc_family;
	struct possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
} LC_KERNEL_TYPE;

struct sock {
	struct sock_common __sk_common;
} LC_KERNEL_TYPE;

struct inet_connection_sock {
#ifdef LC_HOST
	struct sock sock; /* the kernel's begins with one, too */
#endif
	u8 icsk_ca_state : 5;
} LC_KERNEL_TYPE;

struct tcp_sack_block {
	u32 start_seq;
	u32 end_seq;
} LC_KERNEL_TYPE;

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u64 tcp_mstamp; /* us, of the ACK or the timer being handled */
	u32 snd_una;
	u32 snd_cwnd;
	u32 snd_ssthresh;
	u32 prior_cwnd; /* the window when the episode began */
	u32 prior_ssthresh; /* the threshold then; 0 if the kernel has not kept it */
	u32 mss_cache;
	u32 delivered; /* packets, in all */
	u32 lost; /* packets declared lost, in all, retransmissions too */
	u32 lost_out; /* packets declared lost that are not acknowledged yet */
	u32 packets_out; /* sent and not acknowledged up to snd_una, lost ones included */
	u32 sacked_out;
	u32 srtt_us; /* << 3 */
	u32 rate_delivered; /* the delivery rate: so many packets … */
	u32 rate_interval_us; /* … in this time */
	struct tcp_sack_block recv_sack_cache[4]; /* of the last ACK with SACK, in rising order */
} LC_KERNEL_TYPE;

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us; /* of the newest packet acknowledged; negative if unknown */
} LC_KERNEL_TYPE;

enum tcp_ca_event { CA_EVENT_COMPLETE_CWR = 2 };

/* The operations in use. libbpf finds them by name. */
struct tcp_congestion_ops {
	u32 flags; /* first: the loader sets it */
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*in_ack_event)(struct sock *sk, u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
} LC_KERNEL_TYPE;

enum { TCP_CA_Open = 0, TCP_CA_CWR = 2, TCP_CA_Recovery = 3, TCP_CA_Loss = 4 };
enum { CA_ACK_ECE = 4 };

#ifdef LC_HOST
void *bpf_map_lookup_elem(void *map, const void *key);
u64 bpf_ktime_get_ns(void);
void *bpf_sk_storage_get(void *map, void *sk, void *value, u64 flags);
long bpf_sk_storage_delete(void *map, void *sk);
void *bpf_ringbuf_reserve(void *map, u64 size, u64 flags);
void bpf_ringbuf_submit(void *record, u64 flags);
#else
static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static void *(*const bpf_sk_storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static long (*const bpf_sk_storage_delete)(void *map, void *sk) = (void *)108;
static void *(*const bpf_ringbuf_reserve)(void *map, u64 size, u64 flags) = (void *)131;
static void (*const bpf_ringbuf_submit)(void *record, u64 flags) = (void *)132;
#endif

/* What CO-RE says of a field (enum bpf_field_info_kind). */
enum { BPF_FIELD_BYTE_OFFSET = 0, BPF_FIELD_LSHIFT_U64 = 4, BPF_FIELD_RSHIFT_U64 = 5 };

/* An enum tcp_ca_state. The field is a part of a byte. */
lc_inline u32 lc_ca_state(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = (const struct inet_connection_sock *)sk;
#ifdef LC_HOST
	return icsk->icsk_ca_state;
#else
	const u8 *byte = (const u8 *)icsk + __builtin_preserve_field_info(icsk->icsk_ca_state, BPF_FIELD_BYTE_OFFSET);
	u64 state;

	/* Else the compiler takes the offset for one of its own. */
	asm volatile("" : "+r"(byte));
	state = *byte;
	state <<= __builtin_preserve_field_info(icsk->icsk_ca_state, BPF_FIELD_LSHIFT_U64);
	return (u32)(state >> __builtin_preserve_field_info(icsk->icsk_ca_state, BPF_FIELD_RSHIFT_U64));
#endif
}

extern u32 tcp_reno_ssthresh(struct sock *sk) LC_KERNEL_FUNCTION;
extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) LC_KERNEL_FUNCTION;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) LC_KERNEL_FUNCTION;

#endif
