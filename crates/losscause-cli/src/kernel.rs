//! `losscause kernel`: loads loss-differentiating TCP into the running kernel, watches it, unloads
//! it.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;
use std::{env, io, thread};

use losscause_linux::kernel::{
    self, Algorithm, Judged, KernelError, Options, Settings, Status, Why,
};
use losscause_study::tools::atomic;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, Format};

mod trace;

/// The arguments of `kernel`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Say what this machine has and lacks of all that the programs need. Loads nothing.
    Check,
    /// Load a congestion control. It stays loaded until `unload` or the next boot.
    Load(Chosen),
    /// Unload one. Refuses while connections use it, and names them.
    Unload {
        /// The name of the program to unload.
        name: String,
        /// Unload it all the same: connections that use it keep it until they close.
        #[arg(long)]
        force: bool,
    },
    /// Show what loaded ones have counted, in total and per connection.
    Status {
        /// Only this one.
        name: Option<String>,
        /// Show it again every second, until interrupted.
        #[arg(long)]
        watch: bool,
        /// Output format; with --watch, one line of JSON per second.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Print every judgement of lost packets as it is made, until interrupted.
    Trace {
        /// The name of the program to trace.
        name: String,
        /// Output format; with json, one line of JSON per judgement.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Write a systemd unit that loads a congestion control at every boot.
    Install {
        #[command(flatten)]
        chosen: Chosen,
        /// Print the unit instead of writing it.
        #[arg(long)]
        dry_run: bool,
    },
}

/// A congestion control and how to load it.
#[derive(Debug, clap::Args)]
struct Chosen {
    /// The name in the kernel: lc_spike, lc_cubic_spike, …; a wrong name lists them all.
    name: String,
    /// Change a parameter; can be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Let every process choose it, not only those with CAP_NET_ADMIN.
    #[arg(long)]
    allow_unprivileged: bool,
}

impl Chosen {
    fn settings(&self) -> Result<Settings, KernelError> {
        let mut settings = Algorithm::find(&self.name)?.settings();
        self.settings.iter().try_for_each(|setting| settings.set(setting))?;
        settings.words()?;
        Ok(settings)
    }
}

/// Does what `kernel` is asked to.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Check => check(),
        Command::Load(chosen) => load(chosen),
        Command::Unload { name, force } => unload(name, *force),
        Command::Status { name, watch, format } => status(name.as_deref(), *watch, *format),
        Command::Trace { name, format } => trace::run(name, *format),
        Command::Install { chosen, dry_run } => install(chosen, *dry_run),
    }
}

/// One line for each need. What is missing fails the command.
fn check() -> Result<(), Failure> {
    let mut lacking = Vec::new();
    for need in kernel::needs() {
        let found = need.lack.as_deref().map_or("yes".to_owned(), |lack| format!("no: {lack}"));
        output::line(&format!("{:42}{found}", need.what))?;
        lacking.extend(need.lack.map(|_| need.what));
    }
    if lacking.is_empty() { Ok(()) } else { Err(KernelError::Lacking { lacking }.into()) }
}

fn load(chosen: &Chosen) -> Result<(), Failure> {
    let loaded = kernel::load(
        &chosen.settings()?,
        Options { allow_unprivileged: chosen.allow_unprivileged },
    )?;
    let name = loaded.name;
    if loaded.mounted_bpf_fs {
        output::line("mounted the BPF file system at /sys/fs/bpf")?;
    }
    output::line(&format!(
        "{name} is loaded, until `losscause kernel unload {name}` or the next boot. To use it:\n\
         \x20 sysctl -w net.ipv4.tcp_congestion_control={name}     every new connection of this network namespace\n\
         \x20 setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, \"{name}\")   one connection\n\
         \x20 iperf3 -c HOST -C {name}                            a test\n\
         To watch it: losscause kernel status --watch"
    ))?;
    if !chosen.allow_unprivileged {
        output::line(
            "Only processes with CAP_NET_ADMIN may choose it; --allow-unprivileged lets all of them.",
        )?;
    }
    Ok(())
}

fn unload(name: &str, force: bool) -> Result<(), Failure> {
    let connections = kernel::unload(name, force)?;
    let kept = match connections {
        0 => String::new(),
        1 => "; 1 connection keeps it until it closes".to_owned(),
        n => format!("; {n} connections keep it until they close"),
    };
    Ok(output::line(&format!("{name} is unloaded{kept}"))?)
}

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

fn status(name: Option<&str>, watch: bool, format: Format) -> Result<(), Failure> {
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
    for Status { name, totals: t, connections } in statuses {
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
        let head = [(*name).to_owned(), connections.len().to_string(), t.opened.to_string()];
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
fn reason(name: &str, last: &Judged) -> String {
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

fn install(chosen: &Chosen, dry_run: bool) -> Result<(), Failure> {
    let settings = chosen.settings()?;
    let binary = env::current_exe()?.display().to_string();
    let (name, text) =
        kernel::unit(&binary, &settings, &chosen.settings, chosen.allow_unprivileged);
    let file = Path::new(kernel::UNIT_DIR).join(&name);
    if dry_run {
        output::line(&format!("# {}", file.display()))?;
        return Ok(write!(io::stdout(), "{text}")?);
    }
    atomic::write(&file, text.as_bytes())?;
    Ok(output::line(&format!(
        "wrote {}, which loads {} at every boot; switch it on now with\n  systemctl enable --now {name}",
        file.display(),
        settings.algorithm().name
    ))?)
}
