// SPDX-License-Identifier: GPL-2.0-only
/*
 * lc_cubic_sift: CUBIC that keeps its window if Sift's evidence says that the loss is wireless.
 *
 * The rule, its parameters and its source (this project) are in lda/sift.h, the growth is the kernel's CUBIC
 * (growth/cubic.h).
 *
 * Deviations: none.
 */
#include "algorithm/sift.h"
#include "growth/cubic.h"
#include "response/plain.h"
#include "episode.h"

LC_REGISTER(lc_cubic_sift);
