//! Loads a program and keeps it loaded; unloads it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use libbpf_rs::{MapCore, ObjectBuilder};

use super::lock::Lock;
use super::{KernelError, Settings, Trial, machine, namespaces, object, refusal, status};

/// Where the links and maps of loaded programs are pinned, one folder each.
const PINS: &str = "/sys/fs/bpf/losscause";

/// The program's `lc_parameters`, as a map (`bpf/episode.h`).
const PARAMETERS: &str = ".rodata.parameters";

/// How to load a program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Processes without CAP_NET_ADMIN may choose it too.
    pub allow_unprivileged: bool,
    /// New connections that get it until it is unloaded.
    pub trial: Option<Trial>,
}

/// A program that was loaded.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The name of the loaded program.
    pub name: &'static str,
    /// Whether the BPF file system had to be mounted for it.
    pub mounted_bpf_fs: bool,
    /// What new connections of this network namespace use by default.
    pub default: String,
    /// Instructions that the verifier went through, per kernel callback.
    pub verified: Vec<(String, u32)>,
}

/// The files that keep a program loaded.
pub(super) struct Pins {
    dir: PathBuf,
}

impl Pins {
    pub(super) fn of(name: &str) -> Self {
        Self { dir: Path::new(PINS).join(name) }
    }
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }
    /// The registration: without it the kernel forgets the algorithm.
    pub(super) fn link(&self) -> PathBuf {
        self.dir.join("link")
    }
    /// A record of every connection.
    pub(super) fn connections(&self) -> PathBuf {
        self.dir.join("connections")
    }
    pub(super) fn totals(&self) -> PathBuf {
        self.dir.join("totals")
    }

    /// The numbers that it was loaded with.
    pub(super) fn parameters(&self) -> PathBuf {
        self.dir.join("parameters")
    }
    /// The ring of judgements, for a reader.
    pub(super) fn judgements(&self) -> PathBuf {
        self.dir.join("judgements")
    }
    /// Until when it is read, and what it has dropped.
    pub(super) fn log_state(&self) -> PathBuf {
        self.dir.join("log_state")
    }

    /// Which new connections get it.
    pub(super) fn given(&self) -> PathBuf {
        self.dir.join("given")
    }
    /// What gives it to some new connections, in one control group of several.
    pub(super) fn trial(&self, place: usize) -> PathBuf {
        self.dir.join(format!("trial{place}"))
    }

    fn remove(&self) -> Result<(), KernelError> {
        // First what makes the rest a loaded program.
        ignore_missing(fs::remove_file(self.link()), &self.link())?;
        ignore_missing(fs::remove_dir_all(&self.dir), &self.dir)
    }
}

fn ignore_missing(outcome: io::Result<()>, file: &Path) -> Result<(), KernelError> {
    match outcome {
        Err(reason) if reason.kind() != io::ErrorKind::NotFound => {
            Err(KernelError::File { file: file.display().to_string(), reason })
        }
        _ => Ok(()),
    }
}

/// Loads the program that `settings` belong to. It stays loaded until [`unload`] or the next boot.
///
/// # Errors
/// The machine or a setting is not fit for it, the name is taken, or the kernel refuses the
/// program. Nothing of it is left then.
pub fn load(settings: &Settings, options: &Options) -> Result<Loaded, KernelError> {
    let name = settings.algorithm().name;
    let words = settings.words()?;
    let program = object(name);
    machine::check()?;
    let _lock = Lock::to_change()?;
    if machine::is_registered(name)? {
        return Err(KernelError::AlreadyLoaded { name });
    }
    let mounted_bpf_fs = machine::ensure_bpf_fs()?;
    let default = machine::default_control()?;
    let pins = Pins::of(name);
    // What an interrupted load has left.
    pins.remove()?;
    fs::create_dir_all(&pins.dir)
        .map_err(|reason| KernelError::File { file: pins.dir.display().to_string(), reason })?;
    let begin = |verified| {
        let trial = options.trial.as_ref();
        trial.map_or(Ok(()), |trial| trial.begin(name, &default, &pins)).map(|()| verified)
    };
    match attach(name, &program, &words, options.allow_unprivileged, &pins).and_then(begin) {
        Ok(verified) => Ok(Loaded { name, mounted_bpf_fs, default, verified }),
        Err(error) => {
            // All pins of this name are of this process: it has the lock, and there were none. What
            // cannot be removed is removed by the next load; the first error is the one to report.
            let _ = pins.remove();
            Err(error)
        }
    }
}

fn attach(
    name: &'static str,
    program: &[u8],
    words: &[u64],
    allow_unprivileged: bool,
    pins: &Pins,
) -> Result<Vec<(String, u32)>, KernelError> {
    let refused = |step| move |error: libbpf_rs::Error| refusal::refused(name, step, &error);
    let mut builder = ObjectBuilder::default();
    refusal::listen();
    let mut open = builder.open_memory(program).map_err(refused("open"))?;
    for mut map in open.maps_mut() {
        let own_name = map.name().to_owned();
        if own_name == PARAMETERS {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            map.set_initial_value(&bytes).map_err(refused("parameters"))?;
        } else if own_name == name
            && allow_unprivileged
            && let Some(flags) = map.initial_value_mut().and_then(<[u8]>::first_chunk_mut::<4>)
        {
            *flags = TCP_CONG_NON_RESTRICTED.to_ne_bytes();
        }
    }
    let mut loaded = open.load().map_err(refused("verify"))?;
    let verified = loaded.progs().filter_map(|program| verified_instructions(&program)).collect();
    let mut link = None;
    for mut map in loaded.maps_mut() {
        match map.name().to_str() {
            Some("connections") => map.pin(pins.connections()).map_err(refused("pin"))?,
            Some("totals") => map.pin(pins.totals()).map_err(refused("pin"))?,
            Some(PARAMETERS) => map.pin(pins.parameters()).map_err(refused("pin"))?,
            Some("judgements") => map.pin(pins.judgements()).map_err(refused("pin"))?,
            Some("log_state") => map.pin(pins.log_state()).map_err(refused("pin"))?,
            Some(own) if own == name => {
                link = Some(map.attach_struct_ops().map_err(refused("attach"))?);
            }
            _ => {}
        }
    }
    if let Some(mut link) = link {
        link.pin(pins.link()).map_err(refused("pin"))?;
    }
    Ok(verified)
}

/// The kernel's flag for algorithms that every process may choose. It is the first field of the
/// program's `struct tcp_congestion_ops` (bpf/kernel.h).
const TCP_CONG_NON_RESTRICTED: u32 = 1;

/// The callback, and the instructions that the verifier went through.
fn verified_instructions(program: &libbpf_rs::Program<'_>) -> Option<(String, u32)> {
    let id = libbpf_rs::Program::id_from_fd(std::os::fd::AsFd::as_fd(program)).ok()?;
    let name = program.name().to_str()?.trim_start_matches("lc_").to_owned();
    libbpf_rs::query::ProgInfoIter::default()
        .find(|info| info.id == id)
        .map(|info| (name, info.verified_insns))
}

/// Unloads a program. Connections that use it keep it until they close, and are refused as a reason
/// not to unload it unless `force`. Returns how many there were.
///
/// # Errors
/// It is not loaded, is in use, or is the default of a network namespace.
pub fn unload(name: &str, force: bool) -> Result<usize, KernelError> {
    let name = super::Algorithm::find(name)?.name;
    machine::check()?;
    let _lock = Lock::to_change()?;
    let pins = Pins::of(name);
    if !pins.link().exists() {
        // What an interrupted load or unload has left.
        pins.remove()?;
        return Err(KernelError::NotLoaded { name });
    }
    if !force {
        let namespaces = namespaces::with_default(name)?;
        if !namespaces.is_empty() {
            return Err(KernelError::IsDefault { name, namespaces });
        }
    }
    let connections = match status::connections(name, &pins) {
        Err(_) if force => Vec::new(),
        read => read?,
    };
    if !connections.is_empty() && !force {
        let connections =
            connections.iter().map(|c| format!("{} > {}", c.local, c.remote)).collect();
        return Err(KernelError::InUse { name, connections });
    }
    pins.remove()?;
    // The kernel drops the last reference a moment later.
    let begun = Instant::now();
    while machine::is_registered(name)? && begun.elapsed() < Duration::from_secs(2) {
        sleep(Duration::from_millis(5));
    }
    Ok(connections.len())
}

/// The loaded programs of this crate, in the order of their names.
pub(super) fn loaded() -> Vec<&'static str> {
    let mut names: Vec<_> =
        super::algorithm::ALGORITHMS.iter().map(|algorithm| algorithm.name).collect();
    names.retain(|name| Pins::of(name).link().exists());
    names.sort_unstable();
    names
}
