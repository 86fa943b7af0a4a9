/* SPDX-License-Identifier: GPL-2.0-only */
/* Flip Flop with history, as episode.h runs it. It judges by its state alone, so it needs no gap. */
#include "../lda/flip_flop.h"

struct lc_lda {
	struct lc_flip_flop flip_flop;
};

struct lc_lda_parameters {
	struct lc_flip_flop_parameters flip_flop;
};

lc_inline void lc_lda_observe(struct lc_lda *lda, const struct lc_lda_parameters *p, const struct lc_ack *ack, const struct lc_arrival *arrival)
{
	(void)arrival;
	lc_flip_flop_observe(&lda->flip_flop, &p->flip_flop, ack);
}

lc_inline struct lc_judgement lc_lda_judge(const struct lc_lda *lda, const struct lc_lda_parameters *p, const struct lc_gap *gap)
{
	(void)gap;
	return lc_flip_flop_judge(&lda->flip_flop, &p->flip_flop);
}
