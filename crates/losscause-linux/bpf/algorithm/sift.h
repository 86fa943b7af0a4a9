/* SPDX-License-Identifier: GPL-2.0-only */
/* Sift, as episode.h runs it. */
#include "../lda/sift.h"

struct lc_lda {
	struct lc_sift sift;
};

struct lc_lda_parameters {
	struct lc_sift_parameters sift;
};

lc_inline void lc_lda_observe(struct lc_lda *lda, const struct lc_lda_parameters *p, const struct lc_ack *ack, const struct lc_arrival *arrival)
{
	if (arrival)
		lc_sift_observe(&lda->sift, &p->sift, arrival);
}

lc_inline struct lc_judgement lc_lda_judge(const struct lc_lda *lda, const struct lc_lda_parameters *p, const struct lc_gap *gap)
{
	return lc_sift_judge(&lda->sift, &p->sift, gap);
}
