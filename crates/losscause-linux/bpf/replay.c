// SPDX-License-Identifier: GPL-2.0-only
/*
 * The algorithms on the host: reads streams of observations and prints a verdict per lost packet. Compiled with
 * -DALGORITHM='"algorithm/spike.h"' and so on; the arguments are the numbers of struct lc_lda_parameters.
 *
 *	s                                                a stream begins: what came before is forgotten
 *	a AT_US RTT_US NEW_DATA SPANNED MISSING CWND     an ACK; RTT_US is -1 if unknown
 *	l                                                a packet is declared lost: prints its enum lc_verdict
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe.h"
#include "verdict.h"
#include ALGORITHM

static struct lc_lda lda;
static struct lc_gaps gaps;

static u32 judge(const struct lc_lda_parameters *parameters)
{
	struct lc_gap *gap = 0;

	for (u32 i = 0; i < LC_GAPS && !gap; i++) {
		u32 take;

		gap = lc_take(&gaps, i, 1, &take);
	}
	if (!gap)
		gap = lc_newest(&gaps);
	return lc_lda_judge(&lda, parameters, gap).verdict;
}

int main(int argc, char **argv)
{
	union {
		struct lc_lda_parameters parameters;
		u64 words[sizeof(struct lc_lda_parameters) / sizeof(u64)];
	} given;
	char line[256];

	if ((u64)(argc - 1) != sizeof(given.words) / sizeof(u64)) {
		fprintf(stderr, "expected %zu numbers, not %d\n", sizeof(given.words) / sizeof(u64), argc - 1);
		return 2;
	}
	for (int i = 1; i < argc; i++)
		given.words[i - 1] = strtoull(argv[i], 0, 10);
	while (fgets(line, sizeof(line), stdin)) {
		struct lc_ack ack = {};
		long long at_us, rtt_us;

		if (line[0] == 's') {
			memset(&lda, 0, sizeof(lda));
			memset(&gaps, 0, sizeof(gaps));
			continue;
		}
		if (line[0] == 'l') {
			printf("%u\n", judge(&given.parameters));
			continue;
		}
		if (sscanf(line, "a %lld %lld %u %u %u %u", &at_us, &rtt_us, &ack.new_data, &ack.spanned, &ack.missing, &ack.cwnd) != 6)
			return 2;
		/* Where a packet is missing does not matter here. */
		ack.holes[0].packets = ack.missing;
		ack.at = at_us * 1000;
		ack.rtt = rtt_us < 0 ? LC_UNKNOWN : rtt_us * 1000;
		if (ack.spanned) {
			struct lc_arrival arrival = lc_arrive(&gaps, &ack);

			lc_lda_observe(&lda, &given.parameters, &ack, &arrival);
		} else {
			lc_lda_observe(&lda, &given.parameters, &ack, 0);
		}
	}
	return 0;
}
