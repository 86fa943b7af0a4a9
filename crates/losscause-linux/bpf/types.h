/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Integer types, and the fixed-point numbers of the algorithms.
 *
 * This header and those under lda/ use nothing of the kernel, so they compile on the host too, where a test compares
 * their verdicts with those of the Rust crate.
 *
 * Units: a time is in nanoseconds, s64, at most LC_LONGEST_NS. The kernel measures microseconds; nanoseconds are the
 * unit of the Rust crate. A mean of times has LC_MEAN_SHIFT more bits. A fraction (a gain, a threshold) is a multiple of
 * 2^-LC_FRACTION_SHIFT and at most LC_LARGEST_FRACTION. The widest product is a mean times a gain of at most 1:
 * 36 + 8 + 18 = 62 bits. eBPF has no floating point and no signed division.
 */
#ifndef LC_TYPES_H
#define LC_TYPES_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef short s16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

#define lc_inline static inline __attribute__((always_inline))

/* A function that the verifier goes through once, not once for every path that leads to it. */
#define lc_apart __attribute__((noinline))

/* Before a loop whose steps are written out: the verifier then need not follow its counter. */
#ifdef __clang__
#define lc_unrolled _Pragma("unroll")
#else
#define lc_unrolled
#endif

#define LC_LONGEST_NS 60000000000LL
#define LC_MEAN_SHIFT 8
#define LC_FRACTION_SHIFT 18
#define LC_LARGEST_FRACTION 64

/* A time that is not known. */
#define LC_UNKNOWN (-1LL)

/* A time, cut to 0 .. LC_LONGEST_NS. */
lc_inline s64 lc_bounded(s64 ns)
{
	if (ns < 0)
		return 0;
	return ns > LC_LONGEST_NS ? LC_LONGEST_NS : ns;
}

lc_inline s64 lc_distance(s64 a, s64 b)
{
	return a < b ? b - a : a - b;
}

/* fraction * value, rounded down. */
lc_inline s64 lc_floor(u64 fraction, s64 value)
{
	return (s64)fraction * value >> LC_FRACTION_SHIFT;
}

/* fraction * value, rounded up. */
lc_inline s64 lc_ceil(u64 fraction, s64 value)
{
	return -(-((s64)fraction * value) >> LC_FRACTION_SHIFT);
}

/* fraction * value, rounded to the nearest. */
lc_inline s64 lc_nearest(u64 fraction, s64 value)
{
	return ((s64)fraction * value + (1LL << (LC_FRACTION_SHIFT - 1))) >> LC_FRACTION_SHIFT;
}

/* An exponential mean, which moves by a fraction of its distance to the value. */
lc_inline s64 lc_mean(s64 mean, u64 gain, s64 value)
{
	return mean + lc_nearest(gain, value - mean);
}

#endif
