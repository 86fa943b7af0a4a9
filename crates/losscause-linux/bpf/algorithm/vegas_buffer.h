/* SPDX-License-Identifier: GPL-2.0-only */
/* The Vegas buffer rule, as episode.h runs it. It judges by its state alone, so it needs no gap. */
#include "../lda/vegas_buffer.h"

struct lc_lda {
	struct lc_vegas_buffer vegas_buffer;
};

struct lc_lda_parameters {
	struct lc_vegas_buffer_parameters vegas_buffer;
};

lc_inline void lc_lda_observe(struct lc_lda *lda, const struct lc_lda_parameters *p, const struct lc_ack *ack, const struct lc_arrival *arrival)
{
	(void)arrival;
	lc_vegas_buffer_observe(&lda->vegas_buffer, &p->vegas_buffer, ack);
}

lc_inline struct lc_judgement lc_lda_judge(const struct lc_lda *lda, const struct lc_lda_parameters *p, const struct lc_gap *gap)
{
	(void)gap;
	return lc_vegas_buffer_judge(&lda->vegas_buffer, &p->vegas_buffer);
}
