// SPDX-License-Identifier: GPL-2.0-only
/*
 * lc_cubic_spike: CUBIC that keeps its window if the round-trip time is not in a spike.
 *
 * The rule, its parameters and its source (Dalwadi) are in lda/spike.h, the growth is the kernel's CUBIC (growth/cubic.h).
 *
 * Deviations: the source has Reno's growth.
 */
#include "algorithm/spike.h"
#include "growth/cubic.h"
#include "response/plain.h"
#include "episode.h"

LC_REGISTER(lc_cubic_spike);
