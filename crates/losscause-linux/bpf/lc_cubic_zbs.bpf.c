// SPDX-License-Identifier: GPL-2.0-only
/*
 * lc_cubic_zbs: CUBIC that keeps its window if ZBS says that the loss is wireless.
 *
 * The rule, its parameters and its source (Cen, Cosman & Voelker) are in lda/zbs.h, the growth is the kernel's CUBIC
 * (growth/cubic.h).
 *
 * Deviations: those of lc_zbs, and the growth.
 */
#include "algorithm/zbs.h"
#include "growth/cubic.h"
#include "response/plain.h"
#include "episode.h"

LC_REGISTER(lc_cubic_zbs);
