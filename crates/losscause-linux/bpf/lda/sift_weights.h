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
#define LC_TABLES 14 /* of two readings */

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
	{ LC_POSITION, LC_RECENT },
	{ LC_LENGTH, LC_OWN },
	{ LC_LENGTH, LC_JITTER },
	{ LC_LENGTH, LC_DROPPED },
	{ LC_LENGTH, LC_SINCE_BURST },
	{ LC_RECENT, LC_DROPPED },
	{ LC_SINCE, LC_SINCE_BURST },
	{ LC_ABOVE, LC_EVENNESS },
	{ LC_EVENNESS, LC_SINCE_BURST },
	{ LC_EVENNESS, LC_EARLIER },
	{ LC_LENGTH, LC_EARLIER },
	{ LC_OWN, LC_EARLIER },
};

/* Evidence for a wireless loss, in tenths of a decibel: without any reading, … */
#define LC_SIFT_START (-5)

/* … of the interval that a reading lies in, … */
static const s16 lc_sift_single[LC_CLUES][LC_INTERVALS] = {
	{ 16, 5, 4, 0, 1, 1, -4, -22 },
	{ -8, 4, -2, -7, 0, -2, 5, 10 },
	{ 11, 11, 11, 1, 2, -9, -14, -13 },
	{ 17, 6, 7, 1, 0, -3, -5, -24 },
	{ 15, 20, 14, -2, -4, -9, -11, -23 },
	{ -8, -5, -13, -4, 2, 1, 9, 19 },
	{ 3, -8, -3, 0, -1, 5, 4, 1 },
	{ -13, -3, -3, 0, 2, 4, 4, 9 },
	{ 8, 5, 7, -1, -2, -4, -5, -8 },
	{ 9, 15, 10, -2, -1, -10, -11, -11 },
	{ -5, 7, 6, 5, 2, -3, -4, -8 },
	{ -12, -9, -4, -2, 3, 4, 10, 11 },
	{ 10, 5, 5, -2, -1, -5, -5, -8 },
	{ -10, 5, 4, 4, 7, -3, -3, -3 },
	{ -7, 7, 4, 4, 3, 0, -1, -10 },
	{ 0, -7, -6, -11, -15, 3, 7, 28 },
};

/* … and of the quarters that two readings lie in. */
static const s16 lc_sift_tables[LC_TABLES][LC_INTERVALS / 2][LC_INTERVALS / 2] = {
	{ { -16, 10, 10, 17 }, { -7, 2, 6, 12 }, { 8, -1, -4, -10 }, { 28, -5, -19, -31 } },
	{ { 18, 16, 2, -15 }, { 14, 8, 1, -10 }, { 1, -3, -4, -1 }, { -9, -13, -9, 3 } },
	{ { 18, 8, 4, -10 }, { 8, 2, 0, -7 }, { 5, 1, -1, -4 }, { -9, -3, -6, -9 } },
	{ { 0, -2, -1, -2 }, { 5, 6, -4, -12 }, { 0, 3, 2, -1 }, { -3, 4, 2, 3 } },
	{ { 15, 0, -9, -10 }, { -5, 5, 6, -10 }, { 3, 3, 2, -4 }, { 1, -2, -5, 12 } },
	{ { -9, 2, -4, 7 }, { 0, 2, 0, -5 }, { 8, 3, 2, -9 }, { 17, -3, -4, -5 } },
	{ { -3, -4, 0, 2 }, { -5, -2, 2, 2 }, { -3, 5, 0, 1 }, { 5, 9, 2, -11 } },
	{ { 13, 8, 0, 2 }, { 8, 7, 0, -6 }, { 3, 0, 0, -6 }, { -9, -11, -6, -3 } },
	{ { -1, 8, 15, 13 }, { -2, 5, 2, 8 }, { -2, 1, -5, -7 }, { 0, -7, -7, -20 } },
	{ { -1, 11, 11, 3 }, { 5, 1, 2, 1 }, { -1, -1, -3, -5 }, { -3, -3, -6, -10 } },
	{ { 9, 10, -10, -10 }, { 7, 3, 2, -4 }, { -3, -1, 5, 1 }, { -20, -4, 7, 6 } },
	{ { 1, -6, -11, 16 }, { 0, -3, -2, 13 }, { 0, -2, 0, 5 }, { -8, -6, 1, 2 } },
	{ { -9, -10, -2, 15 }, { -6, -7, -2, 12 }, { 0, -1, -2, 7 }, { 8, 1, -5, 1 } },
	{ { 7, -4, -13, 13 }, { 5, -4, -6, 16 }, { -3, -5, 0, 7 }, { -15, -4, 7, -1 } },
};

#endif
