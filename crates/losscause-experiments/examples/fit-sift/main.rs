//! Fits Sift's weights to drawn paths and to kinds of networks abroad, and writes them into the
//! source, and the senders' ones into that of the kernel's programs: `cargo xtask fit-sift`.
//!
//! On every training path and network an observer behind the pilot reads Sift's clues at each judged
//! loss, beside the true cause. A logistic regression on the intervals of the readings gives the
//! weights, one card per vantage point. Every path has the same weight, and so has each cause within
//! a path, as in the balanced error; the kinds abroad are alike, and together as heavy as the paths.
//! One reading is what Sift itself made of the earlier gaps, so the fit is repeated with the card
//! before; it begins with a blank one. Then the networks abroad run once more with flows that follow
//! the card, and all is fitted again, because a card sees other states where it steers. Seeds of the
//! test, and kinds that are held out, are refused.
//!
//! `--octiles` prints the octiles of the readings, from which `card::LIMITS` are chosen.
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
use losscause_experiments::drawn::End;
use losscause_study::Jobs;

use fit::Fit;
use readings::{ABROAD, ABROAD_VALIDATION, Readings, SEEDS, VALIDATION};

/// Fits, each with what the card of the one before made of earlier gaps; before the first, nothing.
const FITS: usize = 3;
/// Fits after the card has steered.
const FITS_AGAIN: usize = 2;
const WEIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../losscause/src/lda/sift/weights.rs");
const HEADER: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../losscause-linux/bpf/lda/sift_weights.h");

fn main() -> ExitCode {
    let asked_for = |option: &str| std::env::args().any(|argument| argument == option);
    if asked_for("--choose") {
        choose();
        return ExitCode::SUCCESS;
    }
    let cards = [End::Receiver, End::Sender].map(|end| {
        let (training, card) = fitted(end);
        let validation = validation(end, card);
        report(end, &training, &validation, card);
        if asked_for("--octiles") {
            let readings = training.with_memory_of(card);
            println!("| octiles | |\n|---|---|");
            for (clue, name) in names().enumerate() {
                println!("| {name} | {:?} |", Readings::octiles(&readings, clue));
            }
        }
        if asked_for("--ablations") {
            ablations(end, &training, &validation, card);
        }
        *card
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

/// All training runs of a vantage point, and the card that was fitted to them.
fn fitted(end: End) -> (Readings, &'static Card) {
    let unsteered = Readings::of_paths(end, SEEDS).and(Readings::abroad(end, ABROAD, None));
    let blank = Card::blank(end == End::Sender);
    let first: &'static Card = Box::leak(Box::new(fitted_to(&unsteered, blank, FITS)));
    let training = unsteered.and(Readings::abroad(end, ABROAD, Some(first)));
    let card = fitted_to(&training, *first, FITS_AGAIN);
    (training, Box::leak(Box::new(card)))
}

/// Fits so many times, each with what the card of the time before made of earlier gaps.
fn fitted_to(training: &Readings, from: Card, fits: usize) -> Card {
    (0..fits).fold(from, |card, _| {
        Fit::new(&training.with_memory_of(&card), &TOGETHER, None).card(card.absolute_delays)
    })
}

/// Other runs, to check a card.
fn validation(end: End, card: &'static Card) -> Readings {
    Readings::of_paths(end, VALIDATION).and(Readings::abroad(end, ABROAD_VALIDATION, Some(card)))
}

fn report(end: End, training: &Readings, validation: &Readings, card: &Card) {
    println!(
        "{}: {} losses of {} paths and of networks abroad",
        end.name(),
        training.losses(),
        training.paths()
    );
    println!("  balanced error {:.2} % in training", training.error(card));
    println!("  balanced error {:.2} % on seeds {VALIDATION:?}", validation.error(card));
    println!(
        "\n| {}, seeds {ABROAD_VALIDATION:?}: called wireless, % | of congestion losses: 2.7 dB | 6 dB | of wireless ones: 2.7 dB | 6 dB |\n|---|---|---|---|---|",
        end.name()
    );
    let at_margins = [27, 60].map(|margin| validation.called_wireless(card, margin));
    for (kind, lenient) in &at_margins[0] {
        let strict = &at_margins[1][kind];
        let share = |(share, runs): (f64, usize)| {
            if runs == 0 { String::new() } else { format!("{share:.1} ({runs})") }
        };
        let [c, w] = lenient.map(share);
        let [strict_c, strict_w] = strict.map(share);
        println!("| {kind} | {c} | {strict_c} | {w} | {strict_w} |");
    }
}

/// Prints the errors without each reading.
fn ablations(end: End, training: &Readings, validation: &Readings, card: &Card) {
    let readings: Vec<usize> = (0..Clues::COUNT).collect();
    let remembered = training.with_memory_of(card);
    let without = Jobs::default().map(
        &readings,
        |reading| Fit::new(&remembered, &TOGETHER, Some(*reading)).card(card.absolute_delays),
        |_| (),
    );
    println!(
        "\n| {}, without | paths, seeds {VALIDATION:?} | abroad, 2.7 dB: congestion losses called wireless | wireless losses found |\n|---|---|---|---|",
        end.name()
    );
    for (card, name) in
        [*card].iter().chain(&without).zip(std::iter::once("nothing").chain(names()))
    {
        let abroad = validation.called_wireless(card, 27);
        let [c, w] = [0, 1].map(|cause| {
            let kinds = abroad.values().map(|causes| causes[cause]).filter(|(_, runs)| *runs >= 3);
            kinds.clone().map(|(share, _)| share).sum::<f64>() / kinds.count().max(1) as f64
        });
        println!("| {name} | {:.2} | {c:.1} | {w:.1} |", validation.error(card));
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    Clues::NAMES.iter().map(|name| name.split(':').next().unwrap_or(name))
}

/// Chooses the threes, and compares the errors with them and with those of [`TOGETHER`]. What gaps
/// remember of earlier ones is that of cards without tables.
fn choose() {
    let ends = [End::Receiver, End::Sender];
    let remembered = ends.map(|end| {
        let (training, card) = fitted(end);
        let validation = Readings::of_paths(end, VALIDATION);
        let again = |card: Card, _| {
            Fit::new(&training.with_memory_of(&card), &[], None).card(card.absolute_delays)
        };
        let card = (0..FITS).fold(Card::blank(card.absolute_delays), again);
        let paths = validation.paths();
        (training.with_memory_of(&card), validation.with_memory_of(&card), paths)
    });
    let chosen = choose::threes(&remembered.each_ref().map(|(training, ..)| training));
    let repeated = chosen.iter().filter(|three| TOGETHER.contains(three)).count();
    println!(
        "{repeated} of {} are in card::TOGETHER; balanced error on seeds {VALIDATION:?}:",
        chosen.len()
    );
    for (end, (training, validation, paths)) in ends.iter().zip(&remembered) {
        let [none, these, those] = [&[], chosen.as_slice(), &TOGETHER]
            .map(|threes| Fit::new(training, threes, None).error(validation, *paths));
        println!(
            "  {}: {none:.2} % without threes, {these:.2} % with these, {those:.2} % with those",
            end.name()
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
