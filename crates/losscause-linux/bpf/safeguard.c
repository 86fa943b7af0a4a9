// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guard and brake on the host: reads streams of ACKs and losses and prints an enum lc_safeguard per report of losses, with
 * the numbers of struct lc_said if one speaks. The arguments are the numbers of struct lc_safeguard_parameters.
 *
 *	s                                           a stream begins: what came before is forgotten
 *	a AT_NS RTT_NS DELIVERED                    an ACK; RTT_NS is -1 if unknown
 *	l AT_NS SENT_NS LOST FLIGHT WIRELESS KEEPS  a report of lost packets; SENT_NS is "-" if unknown
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "response/safeguard.h"

int main(int argc, char **argv)
{
	struct lc_watch watch = {};
	char line[256], sent[32];
	struct lc_said said, silence = {};
	u32 guard, brake, spoke;

	if (argc != 3)
		return 2;
	guard = atoi(argv[1]);
	brake = atoi(argv[2]);
	while (fgets(line, sizeof(line), stdin)) {
		struct lc_report report = {};
		u32 delivered, keeps;
		s64 at, rtt;

		if (line[0] == 's') {
			memset(&watch, 0, sizeof(watch));
		} else if (line[0] == 'a') {
			if (sscanf(line, "a %lld %lld %u", &at, &rtt, &delivered) != 3)
				return 2;
			lc_watch_ack(&watch, at, rtt, delivered);
		} else {
			if (sscanf(line, "l %lld %31s %u %u %u %u", &report.at, sent, &report.lost, &report.flight,
				   &report.wireless, &keeps) != 6)
				return 2;
			report.sent_at = sent[0] == '-' && !sent[1] ? LC_NOT_SENT_AT : atoll(sent);
			spoke = lc_watch_loss(&watch, &report, guard, brake, keeps);
			said = spoke == LC_NEITHER ? silence : watch.said;
			printf("%u %lld %lld %llu %lld %u %u %u %u\n", spoke, said.queue, said.base, said.lost, said.expected_1024,
			       said.keeps, said.flight, said.reports, said.rounds_ago);
		}
	}
	return 0;
}
