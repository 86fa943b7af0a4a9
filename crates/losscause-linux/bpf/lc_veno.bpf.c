// SPDX-License-Identifier: GPL-2.0-only
/*
 * lc_veno: Veno, a yardstick: a smaller cut if few packets are queued, and slower growth if many are.
 *
 * 	N = cwnd (RTT - BaseRTT) / RTT
 * 	ACK of new data:   as Reno; for N >= beta in congestion avoidance with every other ACK only
 * 	loss:              ssthresh = 4/5 cwnd for N < beta, else cwnd/2
 *
 * Source: Fu & Liew, "TCP Veno", IEEE JSAC 21(2), 2003. beta is 3 packets (alpha = beta in lda/vegas_buffer.h); BaseRTT is
 * the smallest RTT since the last loss.
 *
 * Deviations: RTT is that of the newest ACK; the paper says "measured". The caps hold here too: after max_run losses in a row
 * without a halving, the next one halves.
 */
#include "algorithm/vegas_buffer.h"
#include "growth/reno.h"
#include "response/veno.h"
#include "episode.h"

LC_REGISTER(lc_veno);
