// SPDX-License-Identifier: GPL-2.0-only
/*
 * lc_sift: Reno that keeps its window if Sift's evidence says that the loss is wireless.
 *
 * The rule, its parameters and its source (this project) are in lda/sift.h. Response and caps: episode.h, caps.h.
 *
 * Deviations: none.
 */
#include "algorithm/sift.h"
#include "growth/reno.h"
#include "response/plain.h"
#include "episode.h"

LC_REGISTER(lc_sift);
