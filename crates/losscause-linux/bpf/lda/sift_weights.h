/* SPDX-License-Identifier: GPL-2.0-only */
/* Sift's readings, and their weights at a sender. Written by `cargo xtask fit-sift`; do not edit. */
#ifndef LC_SIFT_WEIGHTS_H
#define LC_SIFT_WEIGHTS_H

#include "../types.h"

/* The readings, whose units the Rust crate has (Clues::NAMES). */
enum lc_clue {
	LC_POSITION,
	LC_QUEUE,
	LC_RANK,
	LC_RECENT,
	LC_SINCE,
	LC_SPACED,
	LC_LENGTH,
	LC_AFTER,
	LC_JITTER,
	LC_ABOVE,
	LC_OWN,
	LC_BASE,
	LC_DROPPED,
	LC_SINCE_BURST,
	LC_EVENNESS,
	LC_EARLIER,
	LC_CLUES,
};

#define LC_INTERVALS 8 /* of a reading */
#define LC_TABLES 20 /* of two readings */

/* Where the second interval of each reading begins, the third, and so on. */
static const u16 lc_sift_limits[LC_CLUES][LC_INTERVALS - 1] = {
	{ 15, 100, 240, 400, 560, 750, 950 },
	{ 3, 12, 30, 80, 200, 600, 3000 },
	{ 2, 9, 16, 21, 25, 29, 32 },
	{ 1, 10, 25, 45, 70, 110, 180 },
	{ 16, 32, 64, 88, 128, 240, 800 },
	{ 10, 30, 80, 250, 1000, 3000, 15000 },
	{ 4, 16, 32, 48, 64, 80, 120 },
	{ 978, 992, 998, 1000, 1001, 1003, 1009 },
	{ 3, 10, 20, 32, 45, 64, 100 },
	{ 5, 40, 120, 250, 500, 900, 1800 },
	{ 1, 2, 4, 8, 15, 28, 80 },
	{ 24, 40, 64, 100, 150, 230, 400 },
	{ 2, 12, 40, 90, 180, 320, 600 },
	{ 5, 10, 16, 22, 32, 45, 80 },
	{ 110, 135, 157, 177, 198, 225, 270 },
	{ 920, 945, 963, 980, 1000, 1033, 1070 },
};

/* The readings of each table. */
static const u8 lc_sift_together[LC_TABLES][2] = {
	{ LC_RANK, LC_JITTER },
	{ LC_RANK, LC_ABOVE },
	{ LC_POSITION, LC_RECENT },
	{ LC_LENGTH, LC_OWN },
	{ LC_LENGTH, LC_JITTER },
	{ LC_LENGTH, LC_DROPPED },
	{ LC_LENGTH, LC_SINCE_BURST },
	{ LC_RECENT, LC_DROPPED },
	{ LC_SINCE, LC_SINCE_BURST },
	{ LC_ABOVE, LC_EVENNESS },
	{ LC_EVENNESS, LC_SINCE_BURST },
	{ LC_POSITION, LC_QUEUE },
	{ LC_AFTER, LC_OWN },
	{ LC_AFTER, LC_ABOVE },
	{ LC_RECENT, LC_BASE },
	{ LC_JITTER, LC_OWN },
	{ LC_RANK, LC_EARLIER },
	{ LC_EVENNESS, LC_EARLIER },
	{ LC_LENGTH, LC_EARLIER },
	{ LC_OWN, LC_EARLIER },
};

/* Evidence for a wireless loss, in tenths of a decibel: without any reading, … */
#define LC_SIFT_START (-6)

/* … of the interval that a reading lies in, … */
static const s16 lc_sift_single[LC_CLUES][LC_INTERVALS] = {
	{ 10, 4, 4, 1, 0, -1, -4, -15 },
	{ -11, 3, 1, -5, 1, 1, 2, 9 },
	{ 6, 9, 8, 1, 3, -8, -10, -9 },
	{ 8, 4, 6, 0, 1, -2, -2, -15 },
	{ 12, 15, 10, 0, 0, -6, -7, -24 },
	{ -12, -8, -10, -4, 1, 3, 10, 20 },
	{ -1, -4, -3, -1, 0, 4, 4, 1 },
	{ 10, -9, -4, -2, 4, 3, 4, -6 },
	{ 4, 1, 1, 0, 0, -1, -1, -4 },
	{ 5, 12, 9, -4, 0, -6, -4, -11 },
	{ -4, 3, 6, 2, 3, -3, 0, -6 },
	{ -6, -4, -1, 0, 2, 1, 4, 3 },
	{ 5, 4, 2, 0, -1, -3, -4, -3 },
	{ -12, 7, 3, 4, 5, -3, 0, -4 },
	{ -5, 5, 3, 4, 4, 0, -2, -10 },
	{ -5, -6, -6, -9, -13, 5, 5, 29 },
};

/* … and of the quarters that two readings lie in. */
static const s16 lc_sift_tables[LC_TABLES][LC_INTERVALS / 2][LC_INTERVALS / 2] = {
	{ { -7, 6, 8, 8 }, { -6, 1, 5, 8 }, { 3, -2, -3, -4 }, { 14, -5, -12, -17 } },
	{ { 10, 13, 2, -10 }, { 8, 6, 1, -7 }, { 1, -3, -4, 0 }, { -3, -12, -6, 1 } },
	{ { 23, 9, -1, -17 }, { 10, 3, -1, -7 }, { 1, 0, -2, 0 }, { -22, -6, 3, 7 } },
	{ { 2, -2, -2, -4 }, { 1, 3, -1, -6 }, { -2, 3, 1, 2 }, { -2, 4, 2, 2 } },
	{ { 7, -1, -7, -5 }, { -3, 3, 2, -5 }, { 2, 2, 2, -1 }, { -1, -2, 1, 8 } },
	{ { -6, 0, -2, 3 }, { -5, 2, -1, 0 }, { 6, 2, 1, -5 }, { 14, -1, -2, -5 } },
	{ { -2, -2, 0, -2 }, { -4, 0, -1, 0 }, { -2, 3, 1, 2 }, { 3, 5, 2, -4 } },
	{ { 8, 4, -1, 1 }, { 5, 3, 1, -2 }, { 2, 0, -1, -2 }, { -4, -5, -3, -4 } },
	{ { -2, 6, 9, 14 }, { 0, 3, 4, 3 }, { -2, 1, -1, -5 }, { -2, -3, -10, -16 } },
	{ { -4, 9, 11, 0 }, { 2, 2, 1, 0 }, { 3, 0, -3, -6 }, { 0, -4, -5, -6 } },
	{ { 11, 9, -9, -10 }, { 5, 2, 2, -2 }, { -2, -1, 3, 3 }, { -20, -3, 6, 4 } },
	{ { 9, 12, 0, -6 }, { 1, 4, 1, -2 }, { -8, -2, 3, 6 }, { -10, -18, -3, 13 } },
	{ { -5, 15, 3, -13 }, { 6, 1, -6, -6 }, { 1, -3, 1, 7 }, { -3, -6, 1, 5 } },
	{ { -2, -5, 2, 6 }, { -4, 1, 0, -1 }, { 8, 6, -1, -5 }, { 15, 4, -7, -14 } },
	{ { -6, 0, 5, 13 }, { -5, -1, 3, 8 }, { 0, -2, 2, 0 }, { 2, 1, -6, -13 } },
	{ { -10, 0, 9, 5 }, { 0, -1, -3, 5 }, { 4, 2, -4, -4 }, { 4, 7, -3, -13 } },
	{ { 18, 5, -9, 1 }, { 9, -2, -5, 7 }, { -13, -9, 1, 16 }, { -24, -9, 4, 9 } },
	{ { -2, -2, -8, 12 }, { 0, -4, 0, 11 }, { 2, -2, -1, 6 }, { -11, -7, 1, 5 } },
	{ { -9, -10, -2, 15 }, { -6, -7, -1, 10 }, { 2, -2, -1, 5 }, { 2, 3, -3, 4 } },
	{ { -3, -8, -3, 14 }, { 3, -3, -5, 13 }, { 0, -4, -4, 8 }, { -10, 0, 5, 0 } },
};

#endif
