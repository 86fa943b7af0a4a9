//! `losscause watch`: why the TCP connections of this machine lose packets, without changing one.

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use losscause_linux::watch::{Filter, Snapshot, Watch, WatchError};

use crate::failure::Failure;
use crate::interrupt;
use crate::keys::Keys;
use crate::output::{self, Format};

mod metrics;
#[cfg(test)]
mod sample;
mod table;
mod timeline;

use metrics::Metrics;
use table::Sort;

/// Below the options in the help.
const COLUMNS: &str = "Columns of the tables:
  control       the congestion control
  Mb/s          data that were acknowledged in the last interval
  RTT ms        the newest round trip
  queue ms      what it has above the smallest of the last seconds
  lost, %       lost packets, and their share
  why           the cause of the losses and how sure that is: clear, likely; or why it is not shown
  least RTT ms  the smallest of the destination's newest round trips
  by cause      lost packets of connections whose cause is known; of others after a minute";

#[derive(Debug, clap::Args)]
#[command(after_help = COLUMNS)]
pub(crate) struct Arguments {
    /// Watch only what passes: port=N (of either end), prefix=ADDRESS/BITS (of the peer),
    /// cgroup=FOLDER, process=NAME or its number. Several of a kind add up.
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Watch for five seconds, or as long as --for says, print once and end.
    #[arg(long)]
    once: bool,
    /// End after so many seconds.
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    span: Option<f64>,
    /// Print so often, seconds.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    every: f64,
    /// What the table is sorted by.
    #[arg(long, value_enum, default_value_t)]
    sort: Sort,
    /// Show so many connections and destinations.
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
    /// Print one connection over time: its peer as ADDRESS:PORT, or its number in the JSON.
    #[arg(long, value_name = "PEER", conflicts_with = "once")]
    connection: Option<String>,
    /// Output format; with json, one line of JSON per --every.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Serve counters for Prometheus at this address, as 127.0.0.1:9100.
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
    /// Let --metrics serve other computers, too.
    #[arg(long, requires = "metrics")]
    anywhere: bool,
    /// Print the JSON schema of the lines, and stop.
    #[arg(long)]
    schema: bool,
}

const SCHEMA: &str = include_str!("../docs/watch.schema.json");

/// How long `--once` watches.
const ONCE_S: f64 = 5.0;
/// An interruption is looked for so often.
const PAUSE: Duration = Duration::from_millis(100);

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=1e6).contains(seconds));
    seconds.ok_or_else(|| "expected seconds, from 0.1 to 1000000".to_owned())
}

/// Watches until interrupted, or as long as it is asked to.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.schema {
        return Ok(output::text(SCHEMA)?);
    }
    let mut filter = Filter::default();
    arguments.filters.iter().try_for_each(|given| filter.add(given)).map_err(WatchError::from)?;
    let chosen = arguments.connection.as_deref().map(timeline::Chosen::parse).transpose()?;
    let metrics = match arguments.metrics {
        Some(address) => Some(Metrics::serve(address, arguments.anywhere)?),
        None => None,
    };
    let mut watch = Watch::begin(&filter)?;
    let interrupted = interrupt::postpone();
    let begun = Instant::now();
    let once = arguments.once.then_some(arguments.span.unwrap_or(ONCE_S));
    let every = Duration::from_secs_f64(once.unwrap_or(arguments.every));
    let lasts = arguments.span.or(once).map(Duration::from_secs_f64);
    let mut due = begun + every;
    let is_live = chosen.is_none()
        && once.is_none()
        && arguments.format == Format::Table
        && io::stdout().is_terminal();
    let keys = is_live.then(Keys::listen).flatten();
    let mut sort = arguments.sort;
    let mut is_ended = false;
    if chosen.is_some() && arguments.format == Format::Table {
        output::line(&timeline::header())?;
    }
    loop {
        let end = lasts.map_or(due, |lasts| due.min(begun + lasts));
        while Instant::now() < end && !is_ended && !interrupted.load(Ordering::Relaxed) {
            watch.collect(PAUSE.min(end.saturating_duration_since(Instant::now())))?;
            let pressed =
                keys.as_ref().map_or_else(Vec::new, |keys| keys.pressed_within(Duration::ZERO));
            is_ended = Keys::end(&pressed);
            if pressed.contains(&b's') {
                sort = sort.next();
                break;
            }
        }
        let is_over = is_ended
            || interrupted.load(Ordering::Relaxed)
            || lasts.is_some_and(|lasts| begun.elapsed() >= lasts);
        let snapshot = if is_over { watch.last_snapshot()? } else { watch.snapshot()? };
        if let Some(metrics) = &metrics {
            metrics.show(&snapshot);
        }
        match &chosen {
            Some(chosen) => chosen.print(&snapshot, arguments.format)?,
            None => print(&snapshot, arguments, sort, is_live)?,
        }
        if is_over {
            break;
        }
        due = due.max(Instant::now()) + every;
    }
    drop(watch);
    drop(keys);
    interrupt::end_if_interrupted();
    Ok(())
}

fn print(snapshot: &Snapshot, arguments: &Arguments, sort: Sort, is_live: bool) -> io::Result<()> {
    if arguments.format == Format::Json {
        return output::json_line(snapshot);
    }
    let text = table::text(snapshot, sort, arguments.most, output::table_text);
    if !is_live {
        return output::line(&text);
    }
    // The cursor to the top left, and everything below it cleared.
    write!(io::stdout(), "\x1b[H\x1b[J")?;
    output::line(&text)?;
    output::line(&format!("sorted by {} (s: by another figure, q: end)", sort.name()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// Every key of `value` is one of the schema, and every key that the schema requires is there.
    fn fits(value: &Value, schema: &Value, root: &Value, place: &str) {
        let name = |schema: &Value| schema["$ref"].as_str().map(str::to_owned);
        let branch = schema["anyOf"].as_array().and_then(|branches| branches.first());
        if let Some(name) = name(schema).or_else(|| branch.and_then(name)) {
            let key = name.trim_start_matches("#/$defs/");
            if !value.is_null() {
                fits(value, &root["$defs"][key], root, place);
            }
            return;
        }
        match value {
            Value::Array(items) => {
                items.iter().for_each(|item| fits(item, &schema["items"], root, place));
            }
            Value::Object(fields) if schema["properties"].is_object() => {
                let known = schema["properties"].as_object().unwrap();
                let keys =
                    |map: &serde_json::Map<_, _>| map.keys().cloned().collect::<BTreeSet<_>>();
                assert_eq!(keys(fields), keys(known), "{place}");
                fields.iter().for_each(|(key, value)| {
                    fits(value, &known[key], root, &format!("{place}.{key}"));
                });
            }
            _ => {}
        }
    }

    #[test]
    fn the_schema_has_the_keys_of_a_line() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let line = serde_json::to_value(sample::snapshot()).unwrap();
        fits(&line, &schema, &schema, "line");
        assert_eq!(line["connections"][0]["diagnosis"]["cause"], "full-queue");
        assert_eq!(line["time_s"], 1.7e9);
    }
}
