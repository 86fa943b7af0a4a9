// SPDX-License-Identifier: GPL-2.0-only
/*
 * lc_zigzag: Reno that keeps its window if the round-trip time is well below its mean.
 *
 * The rule, its parameters and its source (Cen, Cosman & Voelker; at the sender: Dalwadi) are in lda/zigzag.h.
 *
 * Deviations: as lc_spike.
 */
#include "algorithm/zigzag.h"
#include "growth/reno.h"
#include "response/plain.h"
#include "episode.h"

LC_REGISTER(lc_zigzag);
