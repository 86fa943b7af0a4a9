/* SPDX-License-Identifier: GPL-2.0-only */
/* ZigZag, as episode.h runs it. */
#include "../lda/zigzag.h"

struct lc_lda {
	struct lc_zigzag zigzag;
};

struct lc_lda_parameters {
	struct lc_zigzag_parameters zigzag;
};

lc_inline void lc_lda_observe(struct lc_lda *lda, const struct lc_lda_parameters *p, const struct lc_ack *ack, const struct lc_arrival *arrival)
{
	if (arrival)
		lc_zigzag_observe(&lda->zigzag, &p->zigzag, arrival);
}

lc_inline struct lc_judgement lc_lda_judge(const struct lc_lda *lda, const struct lc_lda_parameters *p, const struct lc_gap *gap)
{
	return lc_zigzag_judge(&lda->zigzag, &p->zigzag, gap);
}
