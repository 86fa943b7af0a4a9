// SPDX-License-Identifier: GPL-2.0-only
/*
 * lc_newreno_ff: NewReno-FF, Reno that keeps its window unless many of the last round-trip times were outliers.
 *
 * The rule, its parameters and its source (Barman & Matta) are in lda/flip_flop.h.
 *
 * Deviations: recovery is the kernel's (SACK, RACK), not NewReno's.
 */
#include "algorithm/flip_flop.h"
#include "growth/reno.h"
#include "response/plain.h"
#include "episode.h"

LC_REGISTER(lc_newreno_ff);
