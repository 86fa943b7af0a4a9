// SPDX-License-Identifier: GPL-2.0-only
/*
 * lc_zbs: Reno that keeps its window if ZBS, which picks ZigZag, mBiaz or Spike, says that the loss is wireless.
 *
 * The rule, its parameters and its source (Cen, Cosman & Voelker) are in lda/zbs.h.
 *
 * Deviations: the source runs ZBS at a receiver. At the sender, delayed and compressed ACKs distort the inter-arrival times
 * that mBiaz and the choice of scheme read; an ACK of several packets counts with each packet's share.
 */
#include "algorithm/zbs.h"
#include "growth/reno.h"
#include "response/plain.h"
#include "episode.h"

LC_REGISTER(lc_zbs);
