//! `losscause fade`: patterns of packet errors from the physics of a fading channel.

use std::path::{Path, PathBuf};
use std::time::Instant;

use losscause_laboratory::papers::record;
use losscause_study::files::Inputs;
use losscause_study::scenario::fade::{self, Pattern, PatternReport, PublishedPattern, Source};
use losscause_study::tools::atomic;
use losscause_study::tools::atomic::folder::Folder;
use losscause_study::tools::table::Table;
use losscause_study::{InputError, Jobs, Setting};

use crate::failure::Failure;
use crate::notice;
use crate::output::{self, Format, number};
use crate::progress::Progress;
use crate::values;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The channel file, or a paper by its name; `losscause docs jakes` explains the format.
    #[arg(value_name = "CHANNEL.toml", default_value = "cen2003")]
    channel: PathBuf,
    /// Change a parameter of all patterns (constraint_length=7) or of one
    /// (pattern.high.spreading_gain=32).
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Directory for the patterns, one file NAME.txt each.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads [default: one per core]; the patterns do not depend on it.
    #[arg(long, value_parser = values::jobs)]
    jobs: Option<Jobs>,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Computes the patterns and prints their statistics.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let begun = Instant::now();
    let settings: Vec<Setting> =
        arguments.set.iter().map(|text| Setting::parse(text)).collect::<Result<_, _>>()?;
    let (sources, paper) = sources(&arguments.channel, &settings)?;
    let jobs = arguments.jobs.unwrap_or_default();
    let folder = match &arguments.out {
        Some(out) => {
            let names: Vec<String> = sources.iter().map(name).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let inputs = Inputs::of([&arguments.channel]);
            names.iter().try_for_each(|name| inputs.keep_from(&out.join(name)))?;
            Some(Folder::open(out, "fade", &names)?)
        }
        None => None,
    };
    let mut progress = Progress::new("trials", fade::trials(&sources));
    let patterns = fade::make(&sources, jobs, |done| progress.set(done));
    drop(progress);
    if let Some(folder) = folder {
        let files = sources.iter().zip(&patterns).map(|(source, pattern)| {
            atomic::whole(&folder.file(&name(source)), pattern.to_text().as_bytes())
        });
        let files = files.collect::<Result<_, _>>()?;
        folder.finish(files)?;
    }
    let reports: Vec<PatternReport> =
        sources.iter().zip(&patterns).map(|(s, p)| report(s, p, paper)).collect();
    match arguments.format {
        Format::Json => output::json(&reports)?,
        Format::Table => output::line(&table(&reports))?,
    }
    notice::print(&format!("{:.1} s", begun.elapsed().as_secs_f64()));
    Ok(())
}

/// The name of the file of the pattern of `source`.
fn name(source: &Source) -> String {
    format!("{}.txt", source.name)
}

/// The patterns to compute, and their paper. An argument that is not a file must be a paper.
fn sources(
    channel: &Path,
    settings: &[Setting],
) -> Result<(Vec<Source>, Option<&'static record::Paper>), Failure> {
    let is_word = |name: &&str| !name.contains(['.', '/', '\\']);
    let Some(name) = channel.to_str().filter(is_word).filter(|_| !channel.exists()) else {
        return Ok((fade::load(channel, settings)?, None));
    };
    let paper = record::find(name)?;
    let Some(text) = paper.channel() else {
        let file = paper.key().to_owned();
        return Err(InputError::file(file, "has no fading channel", "cen2003 or a file").into());
    };
    Ok((fade::parse(text, paper.key(), settings)?, Some(paper)))
}

fn report(source: &Source, pattern: &Pattern, paper: Option<&record::Paper>) -> PatternReport {
    let published = paper.map(|paper| PublishedPattern {
        loss: paper
            .published_of_pattern("wireless_loss", &source.name)
            .map(|percent| percent / 100.0),
        bit_error_rate: paper.published_of_pattern("ber", &source.name),
    });
    PatternReport::of(source, pattern, published)
}

fn table(reports: &[PatternReport]) -> String {
    let patterns = reports.iter().map(|report| report.pattern.as_str());
    let mut table = Table::new([""].into_iter().chain(patterns)).numbers(1..);
    let mut row = |name: &str, value: &dyn Fn(&PatternReport) -> String| {
        table.row([name.to_owned()].into_iter().chain(reports.iter().map(value)));
    };
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let known = |value: Option<f64>, show: &dyn Fn(f64) -> String| {
        value.map_or_else(|| "–".to_owned(), show)
    };
    let rate = |rate: f64| format!("{rate:.1e}");
    let published = reports.iter().any(|report| report.published.is_some());
    row("packets", &|r| r.statistics.packets.to_string());
    row("lost", &|r| percent(r.statistics.loss));
    if published {
        row("  published", &|r| known(r.published.and_then(|p| p.loss), &percent));
    }
    row("bit error rate", &|r| rate(r.statistics.bit_error_rate));
    if published {
        row("  published", &|r| known(r.published.and_then(|p| p.bit_error_rate), &rate));
    }
    row("wrong bits per lost packet", &|r| number(r.statistics.wrong_bits_per_lost_packet));
    row("packets per loss event", &|r| number(r.statistics.mean_burst_packets));
    let longest = reports.iter().map(|report| report.statistics.bursts.len()).max().unwrap_or(0);
    for length in 1..=longest {
        let name = if length == 1 {
            "events of 1 packet".to_owned()
        } else {
            format!("events of {length}")
        };
        row(&name, &|r| {
            let events: usize = r.statistics.bursts.iter().sum();
            let these = r.statistics.bursts.get(length - 1).copied().unwrap_or(0);
            if these == 0 { "–".to_owned() } else { percent(these as f64 / events as f64) }
        });
    }
    output::drawn(&table, None)
}
