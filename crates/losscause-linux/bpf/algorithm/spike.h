/* SPDX-License-Identifier: GPL-2.0-only */
/* Spike, as episode.h runs it. */
#include "../lda/spike.h"

struct lc_lda {
	struct lc_spike spike;
};

struct lc_lda_parameters {
	struct lc_spike_parameters spike;
};

lc_inline void lc_lda_observe(struct lc_lda *lda, const struct lc_lda_parameters *p, const struct lc_ack *ack, const struct lc_arrival *arrival)
{
	if (arrival)
		lc_spike_observe(&lda->spike, &p->spike, arrival);
}

lc_inline struct lc_judgement lc_lda_judge(const struct lc_lda *lda, const struct lc_lda_parameters *p, const struct lc_gap *gap)
{
	return lc_spike_judge(&lda->spike, &p->spike, gap);
}
