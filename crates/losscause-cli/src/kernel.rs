//! `losscause kernel`: loads loss-differentiating TCP into the running kernel, watches it, unloads
//! it.

use std::env;
use std::path::Path;

use losscause_linux::emulator::itself;
use losscause_linux::kernel::{self, Algorithm, KernelError, Options, Settings, Trial};
use losscause_study::tools::atomic;

use crate::failure::Failure;
use crate::interrupt;
use crate::output::{self, Format};

mod measured;
mod status;
mod trace;

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
    Load {
        #[command(flatten)]
        chosen: Chosen,
        /// Judge and count losses, and change nothing: the window stays that of the kernel's Reno or CUBIC.
        #[arg(long)]
        dry_run: bool,
    },
    /// Unload one. Refuses while connections use it, and names them.
    Unload {
        /// The name of the program to unload.
        name: String,
        /// Unload it all the same: connections that use it keep it until they close.
        #[arg(long)]
        force: bool,
    },
    /// Show what loaded ones have counted, in total and per connection.
    #[command(after_long_help = status::LEGEND)]
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
    /// Give it to new connections that would have the default, and pass: port=N (of either end),
    /// prefix=ADDRESS/BITS (of the peer), cgroup=FOLDER. Several of a kind add up.
    #[arg(long, value_name = "FILTER")]
    only: Vec<String>,
    /// Give it to this share of them, or of all, drawn at random.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    share: Option<f64>,
}

impl Chosen {
    fn options(&self) -> Result<Options, KernelError> {
        let is_trial = !self.only.is_empty() || self.share.is_some();
        let trial = || Trial::new(&self.only, self.share.unwrap_or(1.0));
        let trial = is_trial.then(trial).transpose()?;
        Ok(Options { allow_unprivileged: self.allow_unprivileged, trial })
    }

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
        Command::Load { chosen, dry_run } => whole(|| load(chosen, *dry_run)),
        Command::Unload { name, force } => whole(|| unload(name, *force)),
        Command::Status { name, watch, format } => status::run(name.as_deref(), *watch, *format),
        Command::Trace { name, format } => trace::run(name, *format),
        Command::Install { chosen, dry_run } => install(chosen, *dry_run),
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|text| text.parse().ok());
    let percent = percent.filter(|percent: &f64| *percent > 0.0 && *percent <= 100.0);
    percent.map(|percent| percent / 100.0).ok_or_else(|| "expected a share such as 1%".to_owned())
}

/// Changes what is loaded. A signal ends the program afterwards: half of it is never left.
fn whole(change: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    interrupt::postpone();
    let outcome = change();
    interrupt::end_if_interrupted();
    outcome
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

fn load(chosen: &Chosen, dry_run: bool) -> Result<(), Failure> {
    let mut settings = chosen.settings()?;
    settings.set_dry_run(dry_run);
    let options = chosen.options()?;
    let loaded = kernel::load(&settings, &options)?;
    let name = loaded.name;
    if loaded.mounted_bpf_fs {
        output::line("mounted the BPF file system at /sys/fs/bpf")?;
    }
    output::line(&format!(
        "{name} is loaded{}, until `losscause kernel unload {name}` or the next boot. To use it:\n\
         \x20 sysctl -w net.ipv4.tcp_congestion_control={name}     every new connection of this network namespace\n\
         \x20 setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, \"{name}\")   one connection\n\
         \x20 ip route add PREFIX via GATEWAY congctl {name}     connections to a prefix, until `ip route del PREFIX`\n\
         \x20 iperf3 -c HOST -C {name}                            a test\n\
         To watch it: losscause kernel status --watch\n\
         To go back: sysctl -w net.ipv4.tcp_congestion_control={} and, when its connections have closed, the unload.",
        if dry_run { " as a dry run" } else { "" },
        loaded.default
    ))?;
    if let Some(trial) = &options.trial {
        output::line(&format!(
            "From now on {trial} have it in place of {}, until the unload.",
            loaded.default
        ))?;
    }
    if dry_run {
        output::line(&format!(
            "A dry run judges and counts losses, and changes nothing: connections that choose it have the window of {}.",
            settings.algorithm().base()
        ))?;
    }
    output::line(&measured::paragraph(settings.algorithm()))?;
    if !chosen.allow_unprivileged {
        output::line(
            "Only processes with CAP_NET_ADMIN may choose it, and only the machine's first network namespace can have it as its default; --allow-unprivileged lifts both.",
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

fn install(chosen: &Chosen, dry_run: bool) -> Result<(), Failure> {
    let settings = chosen.settings()?;
    let program = match itself() {
        Some(words) => words.iter().map(|word| word.display().to_string()).collect(),
        None => vec![env::current_exe()?.display().to_string()],
    };
    let (name, text) = kernel::unit(&program, &settings, &chosen.settings, &chosen.options()?);
    let file = Path::new(kernel::UNIT_DIR).join(&name);
    if dry_run {
        output::line(&format!("# {}", file.display()))?;
        return Ok(output::text(&text)?);
    }
    atomic::write(&file, text.as_bytes())?;
    Ok(output::line(&format!(
        "wrote {}, which loads {} at every boot; switch it on now with\n  systemctl enable --now {name}",
        file.display(),
        settings.algorithm().name
    ))?)
}
