/* SPDX-License-Identifier: GPL-2.0-only */
/* ZBS, as episode.h runs it. */
#include "../lda/zbs.h"

struct lc_lda {
	struct lc_zbs zbs;
};

struct lc_lda_parameters {
	struct lc_zbs_parameters zbs;
};

lc_inline void lc_lda_observe(struct lc_lda *lda, const struct lc_lda_parameters *p, const struct lc_ack *ack, const struct lc_arrival *arrival)
{
	if (arrival)
		lc_zbs_observe(&lda->zbs, &p->zbs, arrival);
}

lc_inline struct lc_judgement lc_lda_judge(const struct lc_lda *lda, const struct lc_lda_parameters *p, const struct lc_gap *gap)
{
	return lc_zbs_judge(&lda->zbs, &p->zbs, gap);
}
