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
	LC_USUAL,
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
#define LC_TABLES 7 /* of two readings */

/* Where the second interval of each reading begins, the third, and so on. */
static const u16 lc_sift_limits[LC_CLUES][LC_INTERVALS - 1] = {
	{ 15, 100, 240, 400, 560, 750, 950 },
	{ 3, 12, 30, 80, 200, 600, 3000 },
	{ 2, 9, 16, 21, 25, 29, 32 },
	{ 1, 10, 25, 45, 70, 110, 180 },
	{ 16, 32, 64, 88, 128, 240, 800 },
	{ 10, 30, 80, 250, 1000, 3000, 15000 },
	{ 4, 16, 32, 48, 64, 80, 120 },
	{ 1, 25, 75, 150, 300, 500, 800 },
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
	{ LC_LENGTH, LC_OWN },
	{ LC_EVENNESS, LC_SINCE_BURST },
	{ LC_EVENNESS, LC_EARLIER },
	{ LC_LENGTH, LC_EARLIER },
	{ LC_OWN, LC_EARLIER },
};

/* Evidence for a wireless loss, in tenths of a decibel: without any reading, … */
#define LC_SIFT_START (-15)

/* … of the interval that a reading lies in, … */
static const s16 lc_sift_single[LC_CLUES][LC_INTERVALS] = {
	{ 26, 13, 4, -2, 1, -2, -12, -28 },
	{ -6, 11, 1, -7, -3, -2, -2, 8 },
	{ 10, 9, 10, 3, 1, -6, -18, -10 },
	{ 29, 20, 14, 4, -6, -5, -17, -39 },
	{ 21, 29, 21, 4, -8, -12, -23, -32 },
	{ -19, -7, -14, -4, 6, 6, 10, 22 },
	{ 2, -10, -4, 0, 1, 4, 8, -1 },
	{ -7, 1, -2, 2, 6, -3, -2, 7 },
	{ 10, 13, 5, -1, -3, -8, -11, -6 },
	{ 7, 19, 12, -3, -3, -7, -12, -14 },
	{ -5, 8, 7, 5, 2, -1, -2, -13 },
	{ -13, -11, -4, 1, 4, 7, 8, 7 },
	{ 15, 12, 5, 0, -8, -9, -7, -9 },
	{ -12, 4, 6, 7, 9, -3, -7, -5 },
	{ -10, 6, 6, 6, 4, 2, -2, -12 },
	{ 2, -7, -8, -10, -16, 5, 11, 23 },
};

/* … and of the quarters that two readings lie in. */
static const s16 lc_sift_tables[LC_TABLES][LC_INTERVALS / 2][LC_INTERVALS / 2] = {
	{ { -17, 7, 11, 18 }, { -3, 2, 5, 9 }, { 15, -1, -8, -11 }, { 28, -3, -20, -32 } },
	{ { 20, 17, 2, -20 }, { 16, 9, 1, -13 }, { 2, -3, -4, 1 }, { -12, -14, -9, 8 } },
	{ { 5, -4, -5, -5 }, { 2, 10, -3, -13 }, { -5, 3, 5, 1 }, { 0, 2, 4, 1 } },
	{ { 6, 12, -9, -13 }, { 10, 6, 2, -5 }, { -3, 2, 5, 1 }, { -21, -7, 9, 5 } },
	{ { 0, -5, -7, 8 }, { 0, -6, 2, 16 }, { -3, -3, 0, 11 }, { -2, -5, -6, -1 } },
	{ { -16, -13, -1, 22 }, { -7, -8, 2, 8 }, { 4, 1, -4, 4 }, { 14, 2, -8, -1 } },
	{ { 5, -7, -13, 19 }, { 5, -4, -2, 13 }, { -6, -4, 0, 11 }, { -9, -3, 5, -8 } },
};

#endif
