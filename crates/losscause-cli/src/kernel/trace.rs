//! `losscause kernel trace`: one line per judgement of lost packets.

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use losscause_linux::kernel::{Algorithm, VerdictLog, VerdictRecord};

use super::status::reason;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::{interrupt, notice};

/// How often an interruption is looked for.
const PAUSE: Duration = Duration::from_millis(200);

/// Prints the judgements of a loaded program until interrupted.
pub(super) fn run(name: &str, format: Format) -> Result<(), Failure> {
    let name = Algorithm::find(name)?.name;
    let mut log = VerdictLog::open(name)?;
    let interrupted = interrupt::postpone();
    if format == Format::Table {
        output::line(&row(["time s", "connection", "sequence", "packets", "verdict: reason"]))?;
    }
    while !interrupted.load(Ordering::Relaxed) {
        for record in log.wait(PAUSE)? {
            print(name, &record, format)?;
        }
    }
    match log.dropped()? {
        0 => {}
        1 => notice::print("1 judgement was not printed: the log was full"),
        n => notice::print(&format!("{n} judgements were not printed: the log was full")),
    }
    drop(log);
    interrupt::end_if_interrupted();
    Ok(())
}

fn print(name: &str, record: &VerdictRecord, format: Format) -> io::Result<()> {
    match format {
        Format::Json => output::json_line(record),
        Format::Table => output::line(&row([
            &format!("{:.6}", record.time.as_secs_f64()),
            &format!("{} > {}", record.local, record.remote),
            &record.seq.map_or_else(String::new, |seq| seq.to_string()),
            &record.packets.to_string(),
            &reason(name, &record.judged),
        ])),
    }
}

/// A line of the table. Its columns have fixed widths, because later lines are not known yet.
fn row([time, connection, seq, packets, judgement]: [&str; 5]) -> String {
    format!("{time:<17}  {connection:<37}  {seq:>10}  {packets:>7}  {judgement}")
}
