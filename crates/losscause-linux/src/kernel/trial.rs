//! A congestion control for some new connections, so that an operator tries it on few.
//!
//! `bpf/trial.bpf.c` chooses them, in the control groups that the filter names, or in all. It is
//! pinned with the control, so that it ends with it.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use libbpf_rs::query::{LinkInfo, LinkTypeInfo};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, ObjectBuilder};
use serde::Serialize;

use super::load::Pins;
use super::{KernelError, machine, object, refusal};
use crate::filter::Filter;

/// Which new connections get a control in place of the default.
///
/// ```
/// use losscause_linux::kernel::Trial;
///
/// let trial = Trial::new(&["port=443", "prefix=198.51.100.0/24"], 0.01)?;
/// assert_eq!(trial.to_string(), "1 % of new connections that pass port=443 prefix=198.51.100.0/24");
/// assert!(Trial::new(&["process=nginx"], 1.0).is_err());
/// # Ok::<(), losscause_linux::kernel::KernelError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    #[serde(rename = "only")]
    given: Vec<String>,
    #[serde(skip)]
    filter: Filter,
    share: f64,
}

impl Trial {
    /// Of the connections that pass these filters ([`Filter::add`]), a share from 0 to 1, drawn at
    /// random.
    ///
    /// # Errors
    /// A filter cannot be used, or asks for a process: a connection is chosen before that is known.
    pub fn new(filters: &[impl AsRef<str>], share: f64) -> Result<Self, KernelError> {
        let given: Vec<String> = filters.iter().map(|given| given.as_ref().to_owned()).collect();
        let mut filter = Filter::default();
        given.iter().try_for_each(|given| filter.add(given))?;
        match filter.asks_for_processes() {
            true => Err(KernelError::ByProcess),
            false => Ok(Self { given, filter, share }),
        }
    }

    /// The one that goes on with a loaded program.
    pub(super) fn running(name: &'static str, pins: &Pins) -> Result<Option<Self>, KernelError> {
        let other_version = || KernelError::OtherVersion { name };
        let refused = |error: libbpf_rs::Error| refusal::refused(name, "status", &error);
        let links = (0..).map(|place| pins.trial(place)).take_while(|link| link.exists());
        let infos = links.map(|link| Link::open(link)?.info());
        // Where a control group was removed, the link leads to none.
        let is_cut = |info: &LinkInfo| matches!(&info.info, LinkTypeInfo::Cgroup(group) if group.cgroup_id == 0);
        let infos = infos.collect::<Result<Vec<_>, _>>().map_err(refused)?;
        if infos.iter().all(is_cut) {
            return Ok(None);
        }
        if !pins.given().exists() {
            return Err(other_version());
        }
        let given = MapHandle::from_pinned_path(pins.given()).map_err(refused)?;
        let bytes = given.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).map_err(refused)?;
        let text = String::from_utf8(bytes.unwrap_or_default()).map_err(|_| other_version())?;
        let mut words = text.split('\0');
        let share = words.next().and_then(|share| share.parse().ok()).ok_or_else(other_version)?;
        Self::new(&words.collect::<Vec<_>>(), share).map(Some)
    }

    /// What [`Trial::running`] reads: the share and the filters, with a zero byte between two.
    fn text(&self) -> String {
        let share = self.share.to_string();
        std::iter::once(&share)
            .chain(&self.given)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\0")
    }

    /// The arguments of `kernel load` for it.
    pub(super) fn arguments(&self) -> Vec<String> {
        let only = self.given.iter().flat_map(|given| ["--only".to_owned(), given.clone()]);
        only.chain(["--share".to_owned(), format!("{}%", self.percent())]).collect()
    }

    /// The share, without what a hundredth cannot be as a binary fraction.
    fn percent(&self) -> f64 {
        (self.share * 1e11).round() / 1e9
    }

    /// Begins with it: `name` in place of `default`.
    pub(super) fn begin(
        &self,
        name: &'static str,
        default: &str,
        pins: &Pins,
    ) -> Result<(), KernelError> {
        let refused = |step| move |error: libbpf_rs::Error| refusal::refused(name, step, &error);
        let share = (self.share * 2_f64.powi(32)).round() as u64;
        let words = [padded(name), padded(default)].concat();
        let trial = [words, share.to_ne_bytes().to_vec()].concat();
        let given = self.text();
        refusal::listen();
        let mut builder = ObjectBuilder::default();
        let mut open = builder.open_memory(&object("trial")).map_err(refused("open"))?;
        for mut map in open.maps_mut() {
            let bytes = match map.name().to_str() {
                Some(".rodata.trial") => &trial,
                Some(".rodata.filters") => &self.filter.bytes(),
                Some(GIVEN) => {
                    map.set_value_size(given.len() as u32).map_err(refused("parameters"))?;
                    given.as_bytes()
                }
                _ => continue,
            };
            map.set_initial_value(bytes).map_err(refused("parameters"))?;
        }
        let mut loaded = open.load().map_err(refused("verify"))?;
        for mut map in loaded.maps_mut().filter(|map| map.name() == GIVEN) {
            map.pin(pins.given()).map_err(refused("pin"))?;
        }
        let program = loaded.progs_mut().next();
        let program = program.ok_or(KernelError::OtherVersion { name })?;
        for (place, folder) in self.folders()?.iter().enumerate() {
            let group = File::open(folder).map_err(|reason| KernelError::File {
                file: folder.display().to_string(),
                reason,
            })?;
            let mut link = program.attach_cgroup(group.as_raw_fd()).map_err(refused("attach"))?;
            link.pin(pins.trial(place)).map_err(refused("pin"))?;
        }
        Ok(())
    }

    fn folders(&self) -> Result<Vec<PathBuf>, KernelError> {
        match self.filter.cgroups()? {
            [] => Ok(vec![machine::all_cgroups()?]),
            folders => Ok(folders.to_vec()),
        }
    }
}

/// What was asked for, as a map.
const GIVEN: &str = ".rodata.given";

impl std::fmt::Display for Trial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} % of new connections", self.percent())?;
        match self.given.as_slice() {
            [] => Ok(()),
            given => write!(f, " that pass {}", given.join(" ")),
        }
    }
}

/// The name as the kernel keeps it, in 16 bytes.
fn padded(name: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> = name.bytes().take(15).collect();
    bytes.resize(16, 0);
    bytes
}
