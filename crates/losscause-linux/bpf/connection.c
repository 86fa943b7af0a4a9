// SPDX-License-Identifier: GPL-2.0-only
/*
 * A whole program on the host, on one connection: caps, safeguards, gaps, episodes and sequence numbers, as in the kernel. Compiled
 * with -DLC_HOST and -DPROGRAM='"lc_spike.bpf.c"'; the arguments are the numbers of struct lc_parameters.
 *
 *	o UNA MSS CWND                            the connection opens
 *	a AT_US RTT_US UNA DELIVERED [START END]  an ACK; packets delivered in all; up to four SACK blocks in rising order
 *	d LOST                                    the kernel declares packets lost, which begins an episode unless one is under way
 *	t                                         the retransmission timer expires
 *	r                                         the episode ends
 *	x LOST STATE SSTHRESH                     the kernel declares packets lost, enters an enum tcp_ca_state and skips the program: it has that
 *	                                          threshold of its stack
 *	q                                         prints "q SSTHRESH", then the sums of struct lc_sums in their order
 *
 * Prints what the program logs, a judgement per line: enum lc_verdict, enum lc_reason, packets, and the first sequence
 * number or -1. Reno keeps half of the window of `o`, CUBIC 717 of 1024; it does not grow. Exits with 3 if after any line the program's sum of the packets that wait in gaps is not that of its gaps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include PROGRAM

static struct net net;
static struct tcp_sock tcp;
static struct lc_connection connection;
static struct lc_totals program;
static struct lc_logged logged;

void *bpf_map_lookup_elem(void *map, const void *key)
{
	static u64 until = ~0ULL, dropped;

	if (map == (void *)&totals)
		return &program;
	return *(const u32 *)key == LC_LOG_UNTIL ? &until : &dropped;
}

u64 bpf_ktime_get_ns(void)
{
	return 0;
}

void *bpf_sk_storage_get(void *map, void *sk, void *value, u64 flags)
{
	return &connection;
}

long bpf_sk_storage_delete(void *map, void *sk)
{
	return 0;
}

void *bpf_ringbuf_reserve(void *map, u64 size, u64 flags)
{
	return &logged;
}

void bpf_ringbuf_submit(void *record, u64 flags)
{
	printf("%u %u %u %lld\n", logged.judgement.verdict, logged.judgement.reason, logged.packets,
	       logged.located ? (long long)logged.seq : -1LL);
}

u32 tcp_reno_ssthresh(struct sock *sk)
{
	return tcp.snd_cwnd / 2;
}

void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	tcp.snd_cwnd += acked;
}

u32 tcp_reno_undo_cwnd(struct sock *sk)
{
	return tcp.snd_cwnd;
}

void cubictcp_init(struct sock *sk)
{
}

u32 cubictcp_recalc_ssthresh(struct sock *sk)
{
	return tcp.snd_cwnd * 717 / 1024;
}

void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	tcp.snd_cwnd += acked;
}

void cubictcp_state(struct sock *sk, u8 new_state)
{
}

void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
}

void cubictcp_acked(struct sock *sk, const struct ack_sample *sample)
{
}

static void open_connection(const char *line)
{
	u64 ctx[] = { (u64)&tcp };

	memset(&tcp, 0, sizeof(tcp));
	memset(&connection, 0, sizeof(connection));
	tcp.inet_conn.sock.__sk_common.skc_net.net = &net;
	tcp.snd_ssthresh = ~0U;
	if (sscanf(line, "o %u %u %u", &tcp.snd_una, &tcp.mss_cache, &tcp.snd_cwnd) != 3)
		exit(2);
	tcp.packets_out = tcp.snd_cwnd;
	lc_init(ctx);
}

static void acknowledge(const char *line)
{
	struct tcp_sack_block blocks[LC_SACK_BLOCKS] = {};
	struct ack_sample sample = {};
	u64 ctx[] = { (u64)&tcp, (u64)&sample };
	int found = sscanf(line, "a %llu %d %u %u %u %u %u %u %u %u %u %u", &tcp.tcp_mstamp, &sample.rtt_us, &tcp.snd_una,
			   &tcp.delivered, &blocks[0].start_seq, &blocks[0].end_seq, &blocks[1].start_seq,
			   &blocks[1].end_seq, &blocks[2].start_seq, &blocks[2].end_seq, &blocks[3].start_seq,
			   &blocks[3].end_seq);

	if (found < 4 || found % 2)
		exit(2);
	tcp.sacked_out = found > 4;
	/* The kernel clears those in front that are not in use. */
	memset(tcp.recv_sack_cache, 0, sizeof(tcp.recv_sack_cache));
	for (int i = 0, used = (found - 4) / 2; i < used; i++)
		tcp.recv_sack_cache[LC_SACK_BLOCKS - used + i] = blocks[i];
	lc_pkts_acked(ctx);
}

static void lose(u32 lost)
{
	tcp.lost += lost;
	tcp.lost_out += lost;
}

/* As the kernel does before it asks for a threshold. */
static void keep_prior(void)
{
	tcp.prior_cwnd = tcp.snd_cwnd;
	tcp.prior_ssthresh = tcp.snd_ssthresh;
}

static void enter(u8 state)
{
	u64 ctx[] = { (u64)&tcp, state };

	if (state != TCP_CA_Open && connection.episode == LC_NONE) {
		keep_prior();
		tcp.snd_ssthresh = lc_ssthresh(ctx);
	}
	if (state == TCP_CA_Open)
		tcp.lost_out = 0;
	lc_set_state(ctx);
	tcp.inet_conn.icsk_ca_state = state;
}

static void declare(const char *line)
{
	u32 lost;

	if (sscanf(line, "d %u", &lost) != 1)
		exit(2);
	lose(lost);
	enter(TCP_CA_Recovery);
}

static void skip(const char *line)
{
	u32 lost, state, ssthresh;

	if (sscanf(line, "x %u %u %u", &lost, &state, &ssthresh) != 3)
		exit(2);
	lose(lost);
	if (state != TCP_CA_Open) {
		keep_prior();
		tcp.snd_ssthresh = ssthresh;
	}
	tcp.inet_conn.icsk_ca_state = state;
}

static void print_sums(void)
{
	const u64 *sums = (const u64 *)&connection.record.sums;

	printf("q %u", tcp.snd_ssthresh);
	for (u32 i = 0; i < sizeof(connection.record.sums) / sizeof(u64); i++)
		printf(" %llu", sums[i]);
	printf("\n");
}

static void check(void)
{
	u32 waiting = 0;

	for (u32 i = 0; i < LC_GAPS; i++)
		waiting += connection.gaps.ring[i].waiting;
	if (waiting != connection.gaps.waiting) {
		fprintf(stderr, "%u packets wait in gaps, not %u\n", waiting, connection.gaps.waiting);
		exit(3);
	}
}

int main(int argc, char **argv)
{
	u64 *words = (u64 *)&lc_parameters;
	char line[256];

	if ((u64)(argc - 1) != sizeof(lc_parameters) / sizeof(u64)) {
		fprintf(stderr, "expected %zu numbers, not %d\n", sizeof(lc_parameters) / sizeof(u64), argc - 1);
		return 2;
	}
	for (int i = 1; i < argc; i++)
		words[i - 1] = strtoull(argv[i], 0, 10);
	while (fgets(line, sizeof(line), stdin)) {
		switch (line[0]) {
		case 'o':
			open_connection(line);
			break;
		case 'a':
			acknowledge(line);
			break;
		case 'd':
			declare(line);
			break;
		case 't':
			enter(TCP_CA_Loss);
			break;
		case 'r':
			enter(TCP_CA_Open);
			break;
		case 'x':
			skip(line);
			break;
		case 'q':
			print_sums();
			break;
		default:
			return 2;
		}
		check();
	}
	return 0;
}
