// SPDX-License-Identifier: GPL-2.0-only
/*
 * lc_westwood_vt: WestwoodVT, Westwood that checks whether the queues are full before it reduces.
 *
 *	Delta = W (1 - RTT_min / RTT)                  packets in queues
 *	loss in congestion avoidance:
 *	  Delta >= beta:    congestion;  ssthresh = bwe RTT_min
 *	  Delta <= alpha:   wireless;    cwnd += 1
 *	  else:             undecided;   cwnd unchanged
 *	loss in slow start, timeout:     ssthresh = bwe RTT_min
 *
 * Source: Koo, Mun & Choo 2007, sections 3.2 and 3.3. alpha is 14 and beta 16 packets: three quarters of the paper's
 * queue of 20. The rule is lda/vegas_buffer.h, the response response/westwood_vt.h. Growth is Reno's.
 *
 * Deviations: bwe is the kernel's delivery rate over the last round trip, not Westwood's filter of one sample per ACK,
 * which reads compressed ACKs as a fast path; a decision is not postponed to the next three duplicate ACKs, because every
 * lost packet is judged.
 */
#include "algorithm/vegas_buffer.h"
#include "growth/reno.h"
#include "response/westwood_vt.h"
#include "episode.h"

LC_REGISTER(lc_westwood_vt);
