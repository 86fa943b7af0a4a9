//! The senders' card for the kernel's programs, in C.

use std::fmt::Display;

use losscause::lda::sift::card::{INTERVALS, LIMITS, TOGETHER};
use losscause::lda::sift::{Card, Clues};

/// The text of `bpf/lda/sift_weights.h`.
pub(crate) fn of(card: &Card) -> String {
    let clues: String = (0..Clues::COUNT).map(|clue| format!("\t{},\n", name(clue))).collect();
    format!(
        "/* SPDX-License-Identifier: GPL-2.0-only */
/* Sift's readings, and their weights at a sender. Written by `cargo xtask fit-sift`; do not edit. */
#ifndef LC_SIFT_WEIGHTS_H
#define LC_SIFT_WEIGHTS_H

#include \"../types.h\"

/* The readings, whose units the Rust crate has (Clues::NAMES). */
enum lc_clue {{
{clues}\tLC_CLUES,
}};

#define LC_INTERVALS {INTERVALS} /* of a reading */
#define LC_TABLES {} /* of three readings */

/* Where the second interval of each reading begins, the third, and so on. */
static const u16 lc_sift_limits[LC_CLUES][LC_INTERVALS - 1] = {};

/* The readings of each table. */
static const u8 lc_sift_together[LC_TABLES][3] = {};

/* Evidence for a wireless loss, in tenths of a decibel: without any reading, … */
#define LC_SIFT_START ({})

/* … of the interval that a reading lies in, … */
static const s16 lc_sift_single[LC_CLUES][LC_INTERVALS] = {};

/* … and of the quarters that three readings lie in. */
static const s16 lc_sift_tables[LC_TABLES][LC_INTERVALS / 2][LC_INTERVALS / 2][LC_INTERVALS / 2] = {};

#endif
",
        TOGETHER.len(),
        rows(LIMITS.map(list)),
        rows(TOGETHER.map(|clues| list(clues.map(name)))),
        card.start,
        rows(card.single.map(list)),
        rows(card.tables.map(|table| {
            let rows: String = table.map(|rows| format!("\t\t{},\n", list(rows.map(list)))).concat();
            format!("{{\n{rows}\t}}")
        })),
    )
}

/// A reading's name in C.
fn name(clue: usize) -> String {
    let (name, _) = Clues::NAMES[clue].split_once(':').expect("a name and what it says");
    format!("LC_{}", name.to_uppercase().replace(' ', "_"))
}

fn list<T: Display, const N: usize>(values: [T; N]) -> String {
    format!("{{ {} }}", values.map(|value| value.to_string()).join(", "))
}

fn rows(rows: impl IntoIterator<Item = String>) -> String {
    let rows: String = rows.into_iter().map(|row| format!("\t{row},\n")).collect();
    format!("{{\n{rows}}}")
}
