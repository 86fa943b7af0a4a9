//! Fits Sift's weights to drawn paths and writes them into the source, and the senders' ones into
//! that of the kernel's programs: `cargo xtask fit-sift`.
//!
//! On every training path an observer behind the pilot reads Sift's clues at each judged loss,
//! beside the true cause. A logistic regression on the intervals of the readings gives the weights,
//! one card per vantage point. Every path has the same weight, and so has each cause within a path,
//! as in the balanced error. One reading is what Sift itself made of the earlier gaps, so the fit
//! is repeated with the card before; it begins with a blank one. Seeds of the test are refused.
//! `--ablations` fits again without each reading and prints the errors as a table. `--choose`
//! chooses the threes of readings that are weighed together anew, and compares the errors with them
//! and with those of `card::TOGETHER`; it writes nothing.

mod choose;
mod fit;
mod header;
mod readings;

use std::fmt::Write;
use std::process::ExitCode;

use losscause::lda::sift::card::TOGETHER;
use losscause::lda::sift::{Card, Clues};
use losscause_experiments::paths::Vantage;
use losscause_study::Jobs;

use fit::Fit;
use readings::{Readings, SEEDS, VALIDATION};

/// Fits, each with what the card of the one before made of earlier gaps; before the first, nothing.
const FITS: usize = 4;
const WEIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../losscause/src/lda/sift/weights.rs");
const HEADER: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../losscause-linux/bpf/lda/sift_weights.h");

fn main() -> ExitCode {
    let asked_for = |option: &str| std::env::args().any(|argument| argument == option);
    if asked_for("--choose") {
        choose();
        return ExitCode::SUCCESS;
    }
    let cards = [Vantage::Receiver, Vantage::Sender].map(|vantage| {
        let training = Readings::of(vantage, SEEDS);
        let validation = Readings::of(vantage, VALIDATION);
        let absolute_delays = vantage == Vantage::Sender;
        let again = |card: &Card, without| {
            Fit::new(&training.with_memory_of(card), &TOGETHER, without).card(absolute_delays)
        };
        let card = (0..FITS).fold(Card::blank(absolute_delays), |card, _| again(&card, None));
        println!("{}: {} losses of {} paths", vantage.name(), training.losses(), training.paths());
        println!("  balanced error {:.2} % in training", training.error(&card));
        println!("  balanced error {:.2} % on seeds {VALIDATION:?}", validation.error(&card));
        if asked_for("--ablations") {
            let readings: Vec<usize> = (0..Clues::COUNT).collect();
            let without =
                Jobs::default().map(&readings, |reading| again(&card, Some(*reading)), |_| ());
            println!(
                "\n| {}, without | training | seeds {VALIDATION:?} |\n|---|---|---|",
                vantage.name()
            );
            for (card, name) in without.iter().zip(Clues::NAMES) {
                let name = name.split(':').next().unwrap_or(name);
                println!(
                    "| {name} | {:.2} | {:.2} |",
                    training.error(card),
                    validation.error(card)
                );
            }
        }
        card
    });
    if asked_for("--write") {
        for (file, text) in [(WEIGHTS, source(&cards)), (HEADER, header::of(&cards[1]))] {
            if let Err(error) = std::fs::write(file, text) {
                eprintln!("{file}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// Chooses the threes, and compares the errors with them and with those of [`TOGETHER`]. What gaps
/// remember of earlier ones is that of cards without tables.
fn choose() {
    let vantages = [Vantage::Receiver, Vantage::Sender];
    let remembered = vantages.map(|vantage| {
        let [training, validation] = [SEEDS, VALIDATION].map(|seeds| Readings::of(vantage, seeds));
        let absolute_delays = vantage == Vantage::Sender;
        let again =
            |card: &Card| Fit::new(&training.with_memory_of(card), &[], None).card(absolute_delays);
        let card = (0..FITS).fold(Card::blank(absolute_delays), |card, _| again(&card));
        let paths = validation.paths();
        (training.with_memory_of(&card), validation.with_memory_of(&card), paths)
    });
    let chosen = choose::threes(&remembered.each_ref().map(|(training, ..)| training));
    let repeated = chosen.iter().filter(|three| TOGETHER.contains(three)).count();
    println!(
        "{repeated} of {} are in card::TOGETHER; balanced error on seeds {VALIDATION:?}:",
        chosen.len()
    );
    for (vantage, (training, validation, paths)) in vantages.iter().zip(&remembered) {
        let [none, these, those] = [&[], chosen.as_slice(), &TOGETHER]
            .map(|threes| Fit::new(training, threes, None).error(validation, *paths));
        println!(
            "  {}: {none:.2} % without threes, {these:.2} % with these, {those:.2} % with those",
            vantage.name()
        );
    }
}

/// The source of `weights.rs`.
fn source([receiver, sender]: &[Card; 2]) -> String {
    let mut text = String::from(
        "//! The fitted weights, in tenths of a decibel. Written by `cargo xtask fit-sift`; do not edit.\n\nuse super::Card;\n",
    );
    for (what, name, card) in [
        ("receivers: relative one-way trip times", "RECEIVER", receiver),
        ("senders: round-trip times", "SENDER", sender),
    ] {
        let rows = |rows: &mut dyn Iterator<Item = String>| {
            rows.fold(String::new(), |all, row| all + "        " + &row + ",\n")
        };
        _ = write!(
            text,
            "\n/// For {what}.\n#[rustfmt::skip]\npub const {name}: Card = Card {{\n    absolute_delays: {},\n    start: {},\n    single: [\n{}    ],\n    tables: [\n{}    ],\n}};\n",
            card.absolute_delays,
            card.start,
            rows(&mut card.single.iter().map(|row| format!("{row:?}"))),
            rows(&mut card.tables.iter().map(|table| {
                let rows: String =
                    table.iter().map(|row| format!("            {row:?},\n")).collect();
                format!("[\n{rows}        ]")
            })),
        );
    }
    text
}
