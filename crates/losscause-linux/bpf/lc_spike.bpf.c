// SPDX-License-Identifier: GPL-2.0-only
/*
 * lc_spike: Reno that keeps its window if the round-trip time is not in a spike.
 *
 * 	every packet lost was lost outside a spike:   ssthresh = cwnd      else as Reno
 *
 * The rule, its parameters and its source (Dalwadi) are in lda/spike.h. Response and caps: episode.h, caps.h.
 *
 * Deviations: Dalwadi's sender sees the window's losses as one event; here every lost packet is judged.
 */
#include "algorithm/spike.h"
#include "growth/reno.h"
#include "response/plain.h"
#include "episode.h"

LC_REGISTER(lc_spike);
