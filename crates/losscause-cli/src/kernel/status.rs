//! `losscause kernel status`: what loaded programs have counted.

use std::io::{self, IsTerminal, Write};
use std::thread;
use std::time::Duration;

use losscause_linux::kernel::{self, Judged, Status, Why};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, Format};

/// The JSON of `status`.
#[derive(Serialize)]
struct Report {
    /// It grows when a field is removed or changes its meaning.
    format_version: u32,
    algorithms: Vec<Status>,
}

impl Report {
    fn of(algorithms: Vec<Status>) -> Self {
        Self { format_version: 1, algorithms }
    }
}

/// Prints what the loaded programs have counted, once or every second.
pub(super) fn run(name: Option<&str>, watch: bool, format: Format) -> Result<(), Failure> {
    loop {
        let statuses = kernel::status(name)?;
        match format {
            Format::Json if watch => {
                let line = serde_json::to_string(&Report::of(statuses)).map_err(io::Error::from)?;
                output::line(&line)?;
            }
            Format::Json => output::json(&Report::of(statuses))?,
            Format::Table => {
                if watch && io::stdout().is_terminal() {
                    // The cursor to the top left, and everything below it cleared.
                    write!(io::stdout(), "\x1b[H\x1b[J")?;
                }
                print(&statuses)?;
            }
        }
        if !watch {
            return Ok(());
        }
        thread::sleep(Duration::from_secs(1));
    }
}

fn print(statuses: &[Status]) -> io::Result<()> {
    if statuses.is_empty() {
        return output::line("none is loaded; `losscause kernel load lc_spike` loads one");
    }
    const TOTALS: [&str; 11] = [
        "algorithm",
        "open",
        "so far",
        "wireless",
        "congestion",
        "undecided",
        "reductions",
        "avoided",
        "capped",
        "guarded",
        "braked",
    ];
    let mut totals = output::table(&TOTALS, &TOTALS[1..]);
    for Status { name, dry_run, totals: t, connections } in statuses {
        let s = t.sums;
        let counts = [
            s.wireless,
            s.congestion,
            s.undecided,
            s.reductions,
            s.avoided,
            s.run_caps + s.share_caps,
            s.guarded,
            s.braked,
        ];
        let shown = if *dry_run { format!("{name} (dry run)") } else { (*name).to_owned() };
        let head = [shown, connections.len().to_string(), t.opened.to_string()];
        totals.add_row(head.into_iter().chain(counts.map(|n| n.to_string())));
    }
    output::print_table(&totals)?;
    const CONNECTIONS: [&str; 9] = [
        "connection",
        "algorithm",
        "cwnd",
        "RTT ms",
        "min",
        "max",
        "wireless",
        "congestion",
        "last reason",
    ];
    let mut table = output::table(&CONNECTIONS, &CONNECTIONS[2..8]);
    for Status { name, connections, .. } in statuses {
        for c in connections {
            let ms = |span: losscause::Span| format!("{:.1}", span.as_millis_f64());
            table.add_row([
                format!("{} > {}", c.local, c.remote),
                (*name).to_owned(),
                c.cwnd_pkts.to_string(),
                ms(c.rtt),
                ms(c.rtt_min),
                ms(c.rtt_max),
                c.sums.wireless.to_string(),
                c.sums.congestion.to_string(),
                c.last.map_or_else(String::new, |last| reason(name, &last)),
            ]);
        }
    }
    if table.row_iter().next().is_some() { output::print_table(&table) } else { Ok(()) }
}

/// A judgement in words.
pub(super) fn reason(name: &str, last: &Judged) -> String {
    let ms = |ns: i64| ns as f64 / 1e6;
    let why = match last.why {
        Why::Rule if name.ends_with("_ff") => {
            format!("{} outliers, limit {}", last.measured, last.limit)
        }
        Why::Rule if matches!(name, "lc_veno" | "lc_westwood_vt") => {
            format!(
                "{:.1} packets queued, limit {:.0}",
                last.measured as f64 / 1e3,
                last.limit as f64 / 1e3
            )
        }
        Why::Rule if name.ends_with("_sift") => {
            format!(
                "{:.1} dB, limit {:.1} dB",
                last.measured as f64 / 10.0,
                last.limit as f64 / 10.0
            )
        }
        Why::Rule => format!("{:.1} ms, limit {:.1} ms", ms(last.measured), ms(last.limit)),
        Why::NoSample => "no RTT".to_owned(),
        Why::NoGap => "no SACK showed it".to_owned(),
        Why::Timeout => "timeout".to_owned(),
        Why::Mark => "congestion mark".to_owned(),
        Why::NoLoss => "no packet was lost".to_owned(),
        Why::RunCap => "max_run".to_owned(),
        Why::ShareCap => "max_share".to_owned(),
        Why::SlowStart => "slow start".to_owned(),
        Why::Guard => "guard".to_owned(),
        Why::Brake => "brake".to_owned(),
    };
    format!("{}: {why}", last.verdict)
}
