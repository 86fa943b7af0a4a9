//! `losscause kernel status`: what loaded programs have counted.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use losscause_linux::kernel::{self, Base, Connection, Judged, Status, Why};
use losscause_study::tools::table::Table;
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

/// What the columns and the words under "last reason" mean.
pub(super) const LEGEND: &str = include_str!("status.txt");

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

const CONNECTIONS: [&str; 11] = [
    "connection",
    "algorithm",
    "Mb/s",
    "base Mb/s",
    "cwnd",
    "RTT ms",
    "min",
    "max",
    "wireless",
    "congestion",
    "last reason",
];

/// Prints what the loaded programs have counted, once or every second.
pub(super) fn run(name: Option<&str>, watch: bool, format: Format) -> Result<(), Failure> {
    let mut before = None;
    loop {
        let statuses = kernel::status(name)?;
        let now = Look::at(Instant::now(), &statuses);
        match format {
            Format::Json if watch => output::json_line(&Report::of(statuses))?,
            Format::Json => output::json(&Report::of(statuses))?,
            Format::Table => {
                if watch && io::stdout().is_terminal() {
                    // The cursor to the top left, and everything below it cleared.
                    write!(io::stdout(), "\x1b[H\x1b[J")?;
                }
                print(&statuses, &now, before.as_ref())?;
            }
        }
        if !watch {
            return Ok(());
        }
        before = Some(now);
        thread::sleep(Duration::from_secs(1));
    }
}

/// What connections had delivered at a time.
struct Look {
    at: Instant,
    delivered_pkts: HashMap<(u32, SocketAddr, SocketAddr), u64>,
}

impl Look {
    fn at(at: Instant, statuses: &[Status]) -> Self {
        let connections = statuses.iter().flat_map(|status| &status.connections);
        let delivered_pkts = connections.map(|c| (ends(c), c.delivered_pkts)).collect();
        Self { at, delivered_pkts }
    }

    /// The rate of a connection since the look before, bits per second; the mean rate so far if it
    /// was not there then.
    fn rate_bps(&self, connection: &Connection, before: Option<&Look>) -> f64 {
        let since = before.and_then(|before| {
            let delivered = *before.delivered_pkts.get(&ends(connection))?;
            let packets = connection.delivered_pkts.checked_sub(delivered)?;
            Some((packets, (self.at - before.at).as_secs_f64()))
        });
        match since {
            Some((packets, seconds)) if seconds > 0.0 => {
                packets as f64 * f64::from(connection.mss_bytes) * 8.0 / seconds
            }
            _ => connection.rate_bps,
        }
    }
}

/// What tells a connection from others.
fn ends(connection: &Connection) -> (u32, SocketAddr, SocketAddr) {
    (connection.netns, connection.local, connection.remote)
}

fn print(statuses: &[Status], now: &Look, before: Option<&Look>) -> io::Result<()> {
    if statuses.is_empty() {
        return output::line("none is loaded; `losscause kernel load lc_cubic_sift` loads one");
    }
    print_totals(statuses)?;
    statuses.iter().filter_map(on_trial).try_for_each(|line| output::line(&line))?;
    let mut table = Table::new(CONNECTIONS).numbers(2..10);
    for Status { name, dry_run, connections, .. } in statuses {
        for c in connections {
            let ms = |span: losscause::Span| format!("{:.1}", span.as_millis_f64());
            table.row([
                format!("{} > {}", c.local, c.remote),
                (*name).to_owned(),
                format!("{:.2}", now.rate_bps(c, before) / 1e6),
                match c.base_estimate_bps {
                    _ if *dry_run => "runs now".to_owned(),
                    Some(bps) => format!("{:.2}", bps / 1e6),
                    None => "cannot tell".to_owned(),
                },
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
    if table.rows.is_empty() {
        return Ok(());
    }
    output::print_table(&table)?;
    base_explained(statuses).into_iter().try_for_each(|line| output::line(&line))?;
    statuses.iter().flat_map(outcomes).try_for_each(|line| output::line(&line))
}

/// What the column "base Mb/s" says, if there are connections: of programs that set windows an
/// estimate, of dry runs nothing.
fn base_explained(statuses: &[Status]) -> Vec<String> {
    let has = |dry_run: bool| {
        statuses.iter().any(|one| one.dry_run == dry_run && !one.connections.is_empty())
    };
    let estimate = format!(
        "base Mb/s: an estimate of the kernel's own reno or cubic if each of these losses reduced its window: per RTT\n\
         sqrt(1.5/p) packets, cubic at least 1.054 (RTT/p)^0.75 (RFC 9438, section 5.1), where a share p is lost.\n\
         The link may have less. With fewer than {} losses it cannot tell.",
        Base::LEAST_LOST
    );
    let dry_run = "base Mb/s, runs now: in a dry run the kernel's own reno or cubic sets the window, so its rate is that under \
                   Mb/s.";
    let lines = [(has(false), estimate), (has(true), dry_run.to_owned())];
    lines.into_iter().filter(|(is_due, _)| *is_due).map(|(_, line)| line).collect()
}

fn print_totals(statuses: &[Status]) -> io::Result<()> {
    let mut totals = Table::new(TOTALS).numbers(1..);
    for Status { name, dry_run, totals: t, connections, .. } in statuses {
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
        totals.row(head.into_iter().chain(counts.map(|n| n.to_string())));
    }
    output::print_table(&totals)
}

/// A line that names a running trial.
fn on_trial(status: &Status) -> Option<String> {
    status.trial.as_ref().map(|trial| {
        format!("{} is on trial: {trial} have it in place of the default", status.name)
    })
}

/// A line that names the connections whose window was kept, and one of those that caps and
/// safeguards held back.
fn outcomes(status: &Status) -> Vec<String> {
    let [kept, held] = match status.dry_run {
        true => ["would have kept its window", "would have been held back"],
        false => ["kept its window", "was held back"],
    };
    let mut gained = Vec::new();
    let mut held_back = Vec::new();
    for connection in &status.connections {
        let sums = connection.sums;
        let shown = format!("{} > {}", connection.local, connection.remote);
        if sums.wireless > 0 && sums.avoided > 0 {
            let counts = format!(
                "lost packets ignored: {}, reductions avoided: {}",
                sums.wireless, sums.avoided
            );
            gained.push((sums.wireless, format!("{shown} ({counts})")));
        }
        let refused = sums.braked + sums.guarded + sums.run_caps + sums.share_caps;
        if refused > 0 {
            held_back.push((refused, format!("{shown} ({})", holds(connection))));
        }
    }
    let line = |what: &str, named: Vec<(u64, String)>| {
        (!named.is_empty()).then(|| format!("{} {what}: {}", status.name, most(named)))
    };
    line(kept, gained).into_iter().chain(line(held, held_back)).collect()
}

/// What held a connection back.
fn holds(connection: &Connection) -> String {
    let sums = connection.sums;
    let mut reasons = Vec::new();
    if sums.braked > 0 {
        let until = match connection.brake_rounds {
            0 => "it holds no more".to_owned(),
            rounds => format!("it holds for {} more", output::plural(rounds.into(), "round")),
        };
        let mbps = connection.rate_bps / 1e6;
        reasons.push(format!(
            "braked: {} losses, too many per round, at {mbps:.1} Mb/s, {until}",
            sums.braked
        ));
    }
    if sums.guarded > 0 {
        reasons.push(format!("guarded: {} at a standing queue", sums.guarded));
    }
    if sums.run_caps + sums.share_caps > 0 {
        reasons.push(format!("capped: {}", sums.run_caps + sums.share_caps));
    }
    reasons.join("; ")
}

/// Those with the largest numbers, and how many there are beside them.
fn most(mut named: Vec<(u64, String)>) -> String {
    named.sort_by_key(|(count, _)| Reverse(*count));
    let more = named.len().saturating_sub(SHOWN);
    let shown: Vec<String> = named.into_iter().take(SHOWN).map(|(_, text)| text).collect();
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}

/// How many connections a line names.
const SHOWN: usize = 4;

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
        Why::Guard | Why::Brake => last.safeguard.map_or_else(String::new, |said| said.to_string()),
    };
    format!("{}: {why}", last.verdict)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use losscause::{Safeguard, Span};
    use losscause_linux::kernel::{Sums, Totals, Trial};

    use super::*;

    fn connection(port: u16, sums: Sums) -> Connection {
        Connection {
            local: (Ipv4Addr::LOCALHOST, port).into(),
            remote: (Ipv4Addr::LOCALHOST, 80).into(),
            netns: 1,
            cwnd_pkts: 10,
            ssthresh_pkts: None,
            rtt: Span::ZERO,
            rtt_min: Span::ZERO,
            rtt_max: Span::ZERO,
            srtt: Span::ZERO,
            delivered_pkts: 1_000,
            mss_bytes: 1_250,
            rate_bps: 18e6,
            base_estimate_bps: None,
            brake_rounds: 3,
            sums,
            last: None,
        }
    }

    fn status(connections: Vec<Connection>) -> Status {
        let totals = Totals::default();
        Status { name: "lc_spike", dry_run: false, trial: None, totals, connections }
    }

    #[test]
    fn every_column_and_every_word_is_explained() {
        let at = |why| Judged { verdict: "", why, measured: 0, limit: 0, safeguard: None };
        let words = [
            Why::NoSample,
            Why::NoGap,
            Why::Timeout,
            Why::Mark,
            Why::NoLoss,
            Why::RunCap,
            Why::ShareCap,
            Why::SlowStart,
        ];
        let words = words.map(|why| reason("lc_spike", &at(why)));
        let words = words.iter().map(|said| said.trim_start_matches(": "));
        // What a line is about.
        let columns = TOTALS.iter().chain(&CONNECTIONS).copied();
        let columns = columns.filter(|name| !["algorithm", "connection"].contains(name));
        for word in columns.chain(words) {
            assert!(LEGEND.contains(word), "{word}");
        }
    }

    #[test]
    fn a_running_trial_is_named() {
        let mut shown = status(vec![]);
        assert_eq!(on_trial(&shown), None);
        shown.trial = Some(Trial::new(&["port=443"], 0.07).expect("a port"));
        let line = "lc_spike is on trial: 7 % of new connections that pass port=443 have it in place of the default";
        assert_eq!(on_trial(&shown).as_deref(), Some(line));
    }

    #[test]
    fn a_line_names_whose_window_was_kept_and_one_who_was_held_back() {
        let wireless = |wireless| Sums { wireless, avoided: 1, ..Sums::default() };
        let held = Sums { braked: 12, guarded: 2, share_caps: 1, ..Sums::default() };
        let connections = (1..=6).map(|n| connection(n, wireless(n.into())));
        let mut shown = status(connections.chain([connection(7, held)]).collect());
        let ignored = |n| {
            format!(
                "127.0.0.1:{n} > 127.0.0.1:80 (lost packets ignored: {n}, reductions avoided: 1)"
            )
        };
        let names: Vec<String> = [6, 5, 4, 3].map(ignored).into();
        let held_back = "127.0.0.1:7 > 127.0.0.1:80 (braked: 12 losses, too many per round, at 18.0 Mb/s, it holds for 3 rounds more; \
                         guarded: 2 at a standing queue; capped: 1)";
        let expected = [
            format!("lc_spike kept its window: {}, and 2 more", names.join(", ")),
            format!("lc_spike was held back: {held_back}"),
        ];
        assert_eq!(outcomes(&shown), expected);
        shown.dry_run = true;
        assert!(outcomes(&shown)[1].starts_with("lc_spike would have been held back: "));
        assert!(outcomes(&status(vec![connection(1, Sums::default())])).is_empty());
    }

    #[test]
    fn the_base_rate_of_a_dry_run_is_explained() {
        let mut shown = status(vec![connection(1, Sums::default())]);
        let estimate = base_explained(std::slice::from_ref(&shown));
        assert!(estimate.len() == 1 && estimate[0].starts_with("base Mb/s: an estimate of"));
        shown.dry_run = true;
        let dry_run = base_explained(std::slice::from_ref(&shown));
        assert!(dry_run.len() == 1 && dry_run[0].starts_with("base Mb/s, runs now: in a dry run"));
        assert!(base_explained(&[status(vec![])]).is_empty());
    }

    #[test]
    fn a_safeguard_that_overruled_says_why() {
        let (queue, base) = (Span::from_millis(62), Span::from_millis(40));
        let safeguard = Some(Safeguard::Guard { queue, base, kept_1024: 717 });
        let verdict = "congestion";
        let last = Judged { verdict, why: Why::Guard, measured: 0, limit: 0, safeguard };
        let said = "congestion: guard: a queue of 62.0 ms stood, 0.43 of the base of 40.0 ms (17.1 ms) suffice";
        assert_eq!(reason("lc_spike", &last), said);
    }

    #[test]
    fn the_rate_is_that_since_the_look_before() {
        let begin = Instant::now();
        let mut shown = status(vec![connection(1, Sums::default())]);
        let first = Look::at(begin, std::slice::from_ref(&shown));
        shown.connections[0].delivered_pkts += 400;
        let second = Look::at(begin + Duration::from_secs(2), &[]);
        // 400 packets of 10,000 bits in 2 s.
        assert_eq!(second.rate_bps(&shown.connections[0], Some(&first)), 2e6);
        assert_eq!(second.rate_bps(&shown.connections[0], None), 18e6);
    }
}
