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
#define LC_SIFT_START (-3)

/* … of the interval that a reading lies in, … */
static const s16 lc_sift_single[LC_CLUES][LC_INTERVALS] = {
	{ 14, 4, 2, -1, -1, -1, -5, -13 },
	{ -9, 4, 3, -5, 0, -1, 0, 8 },
	{ 6, 8, 8, 0, 3, -7, -9, -8 },
	{ 10, 6, 7, 1, 2, -2, -4, -20 },
	{ 11, 16, 10, 0, 0, -6, -7, -24 },
	{ -13, -9, -10, -5, 1, 4, 10, 20 },
	{ 2, -4, -2, -1, -1, 2, 4, 1 },
	{ -11, -1, -1, 0, 2, 5, 3, 3 },
	{ 4, 1, 3, 0, 0, -2, 0, -6 },
	{ 7, 13, 9, -3, -2, -7, -5, -12 },
	{ -2, 6, 6, 5, 3, -2, -4, -12 },
	{ -10, -8, -2, -1, 4, 3, 8, 7 },
	{ 8, 4, 2, 0, -1, -5, -6, -3 },
	{ -11, 7, 4, 4, 5, -4, -1, -4 },
	{ -6, 7, 3, 4, 4, 0, -2, -11 },
	{ -5, -6, -6, -11, -15, 4, 8, 32 },
};

/* … and of the quarters that two readings lie in. */
static const s16 lc_sift_tables[LC_TABLES][LC_INTERVALS / 2][LC_INTERVALS / 2] = {
	{ { -12, 7, 8, 10 }, { -7, 1, 5, 8 }, { 6, -1, -4, -5 }, { 18, -4, -12, -20 } },
	{ { 12, 14, 0, -13 }, { 11, 7, -1, -9 }, { 3, -2, -4, -1 }, { -6, -13, -4, 5 } },
	{ { 20, 9, 2, -13 }, { 9, 1, -2, -7 }, { 3, 1, -3, -3 }, { -15, -3, 2, -2 } },
	{ { 2, -1, -1, -3 }, { 2, 4, -1, -8 }, { 1, 5, 1, -6 }, { -1, 4, 1, 1 } },
	{ { 10, 0, -7, -6 }, { -4, 4, 3, -5 }, { -2, 0, 2, 0 }, { 1, -1, 0, 5 } },
	{ { -5, 1, -2, 4 }, { -2, 1, -2, -1 }, { 3, 1, 1, -4 }, { 15, 0, -3, -8 } },
	{ { -2, -1, 2, 0 }, { -3, 1, 0, -1 }, { -2, 3, -1, 0 }, { 3, 5, 1, -4 } },
	{ { 10, 5, 0, 1 }, { 6, 3, 1, -2 }, { 3, 1, -1, -3 }, { -7, -6, -5, -6 } },
	{ { -2, 6, 9, 13 }, { 1, 3, 3, 3 }, { -2, 2, -1, -5 }, { -2, -3, -10, -16 } },
	{ { -2, 11, 11, 1 }, { 4, 2, 0, -1 }, { 1, -1, -3, -6 }, { -2, -4, -4, -6 } },
	{ { 12, 10, -10, -10 }, { 6, 2, 2, -2 }, { -2, -1, 4, 3 }, { -20, -3, 6, 5 } },
	{ { 1, -4, -10, 14 }, { 0, -3, -1, 13 }, { 0, -2, -2, 7 }, { -11, -8, 1, 5 } },
	{ { -6, -8, -4, 15 }, { -5, -7, -2, 11 }, { -1, -5, -1, 8 }, { 1, 3, -4, 5 } },
	{ { 3, -5, -7, 12 }, { 5, 0, -7, 14 }, { -1, -6, -3, 11 }, { -18, -7, 6, 2 } },
};

#endif
