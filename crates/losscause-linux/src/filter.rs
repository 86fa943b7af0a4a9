//! Which connections are watched, or get a congestion control.
//!
//! Filters of one kind add up, and a connection must pass every kind that is given. The kernel
//! looks at ports and prefixes, so that what they leave out costs next to nothing. Control groups
//! and processes are looked up here.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Why a filter cannot be used. `Display` is one sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// There is no filter of this kind.
    #[error(
        "the filter \"{given}\" is unknown, expected port=N, prefix=ADDRESS/BITS, cgroup=PATH or process=NAME"
    )]
    Unknown {
        /// What was given.
        given: String,
    },
    /// A filter has a value that cannot be.
    #[error("the filter \"{given}\" cannot be used, expected {expected}")]
    Value {
        /// What was given.
        given: String,
        /// What would do.
        expected: &'static str,
    },
    /// The kernel looks at so many filters of one kind.
    #[error("there are more than {most} filters of the kind {kind}")]
    TooMany {
        /// The kind.
        kind: &'static str,
        /// The most there may be.
        most: usize,
    },
    /// A control group cannot be read.
    #[error("{path}: is no control group of version 2 ({reason})")]
    NoCgroup {
        /// The folder.
        path: String,
        /// Why.
        reason: io::Error,
    },
}

/// Which connections are watched, or get a congestion control; all by default.
///
/// ```
/// use losscause_linux::watch::Filter;
///
/// let mut filter = Filter::default();
/// filter.add("port=443")?;
/// filter.add("prefix=2001:db8::/32")?;
/// let refused = filter.add("prot=443").unwrap_err().to_string();
/// assert!(refused.starts_with("the filter \"prot=443\" is unknown"), "{refused}");
/// # Ok::<(), losscause_linux::watch::FilterError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    ports: Vec<u16>,
    prefixes: Vec<Prefix>,
    cgroups: Vec<PathBuf>,
    processes: Vec<String>,
}

/// Addresses that begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Prefix {
    address: IpAddr,
    bits: u8,
}

/// `LC_FILTERS`: the kernel looks at so many of a kind.
const MOST: usize = 8;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
/// Words of a `struct lc_prefix`.
const PREFIX_WORDS: usize = 9;

impl Filter {
    /// Adds a filter, `KIND=VALUE`.
    ///
    /// # Errors
    /// There is no such kind, the value cannot be, or there are too many of the kind.
    pub fn add(&mut self, given: &str) -> Result<(), FilterError> {
        let unknown = || FilterError::Unknown { given: given.to_owned() };
        let wrong = |expected| FilterError::Value { given: given.to_owned(), expected };
        let (kind, value) = given.split_once('=').ok_or_else(unknown)?;
        match kind {
            "port" => {
                let port = value.parse().ok().filter(|port| *port > 0);
                self.ports.push(port.ok_or_else(|| wrong("a port from 1 to 65535"))?);
                at_most(self.ports.len(), "port")
            }
            "prefix" => {
                let prefix = Prefix::parse(value);
                let expected = "an address, or one with the length of a prefix, as 192.0.2.0/24 or 2001:db8::/32";
                self.prefixes.push(prefix.ok_or_else(|| wrong(expected))?);
                at_most(self.prefixes.len(), "prefix")
            }
            "cgroup" if !value.is_empty() => {
                self.cgroups.push(PathBuf::from(value));
                Ok(())
            }
            "process" if !value.is_empty() => {
                self.processes.push(value.to_owned());
                Ok(())
            }
            "cgroup" => Err(wrong("the folder of a control group")),
            "process" => Err(wrong("the name or the number of a process")),
            _ => Err(unknown()),
        }
    }

    /// The folders of control groups; none if all pass.
    pub(crate) fn cgroups(&self) -> Result<&[PathBuf], FilterError> {
        let is_one = |path: &Path| path.join("cgroup.procs").exists();
        match self.cgroups.iter().find(|path| !is_one(path)) {
            Some(path) => {
                let reason = io::ErrorKind::NotFound.into();
                Err(FilterError::NoCgroup { path: path.display().to_string(), reason })
            }
            None => Ok(&self.cgroups),
        }
    }

    /// Whether processes are looked up for it.
    pub(crate) fn asks_for_processes(&self) -> bool {
        !self.processes.is_empty()
    }

    /// Whether a process of that name and number passes.
    pub(crate) fn passes_process(&self, name: &str, number: u32) -> bool {
        self.processes.is_empty()
            || self.processes.iter().any(|one| one == name || *one == number.to_string())
    }

    /// The numbers of the control groups that pass, those within included; none if all do.
    pub(crate) fn cgroup_numbers(&self) -> Result<Option<BTreeSet<u64>>, FilterError> {
        if self.cgroups.is_empty() {
            return Ok(None);
        }
        let mut numbers = BTreeSet::new();
        for path in self.cgroups()? {
            let failed =
                |reason| FilterError::NoCgroup { path: path.display().to_string(), reason };
            collect(path, &mut numbers).map_err(failed)?;
        }
        Ok(Some(numbers))
    }

    /// The bytes of `struct lc_filters`.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut words = vec![0_u32; MOST * PREFIX_WORDS + MOST];
        for (place, prefix) in self.prefixes.iter().take(MOST).enumerate() {
            words[place * PREFIX_WORDS..][..PREFIX_WORDS].copy_from_slice(&prefix.words());
        }
        for (place, port) in self.ports.iter().take(MOST).enumerate() {
            words[MOST * PREFIX_WORDS + place] = u32::from(*port);
        }
        words.into_iter().flat_map(u32::to_ne_bytes).collect()
    }
}

fn at_most(count: usize, kind: &'static str) -> Result<(), FilterError> {
    if count > MOST { Err(FilterError::TooMany { kind, most: MOST }) } else { Ok(()) }
}

/// A control group's number is that of its folder.
fn collect(folder: &Path, numbers: &mut BTreeSet<u64>) -> io::Result<()> {
    numbers.insert(fs::metadata(folder)?.ino());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), numbers)?;
        }
    }
    Ok(())
}

impl Prefix {
    fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Some(most), |bits| bits.parse().ok())?;
        (bits <= most).then_some(Self { address, bits })
    }

    /// Family, address and mask of a `struct lc_prefix`, in network order.
    fn words(self) -> [u32; PREFIX_WORDS] {
        let mut words = [0; PREFIX_WORDS];
        let (family, address) = match self.address {
            IpAddr::V4(address) => (AF_INET, address.octets().to_vec()),
            IpAddr::V6(address) => (AF_INET6, address.octets().to_vec()),
        };
        words[0] = family;
        for (place, bytes) in address.chunks_exact(4).enumerate() {
            let [a, b, c, d] = [bytes[0], bytes[1], bytes[2], bytes[3]];
            words[1 + place] = u32::from_ne_bytes([a, b, c, d]);
            let bits = u32::from(self.bits).saturating_sub(32 * place as u32).min(32);
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            words[5 + place] = u32::from_ne_bytes(mask.to_be_bytes());
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(given: &str) -> String {
        Filter::default().add(given).expect_err(given).to_string()
    }

    #[test]
    fn a_filter_that_cannot_be_is_refused_in_one_sentence() {
        for given in ["prot=443", "443", "", "pid=1"] {
            assert_eq!(
                refusal(given),
                format!(
                    "the filter \"{given}\" is unknown, expected port=N, prefix=ADDRESS/BITS, cgroup=PATH or process=NAME"
                )
            );
        }
        for given in ["port=0", "port=65536", "port=https", "port="] {
            assert_eq!(
                refusal(given),
                format!("the filter \"{given}\" cannot be used, expected a port from 1 to 65535")
            );
        }
        for given in ["prefix=10.0.0.0/33", "prefix=2001:db8::/129", "prefix=host", "prefix=10/8"] {
            assert!(refusal(given).contains("cannot be used, expected an address"), "{given}");
        }
        for given in ["cgroup=", "process="] {
            assert!(refusal(given).contains("cannot be used"), "{given}");
        }
        let mut filter = Filter::default();
        (1..=MOST).for_each(|port| filter.add(&format!("port={port}")).expect("few"));
        let one_more = filter.add("port=9").expect_err("9 ports").to_string();
        assert_eq!(one_more, "there are more than 8 filters of the kind port");
    }

    #[test]
    fn a_prefix_is_its_address_and_mask_in_network_order() {
        let words = Prefix::parse("192.0.2.0/20").expect("a prefix").words();
        assert_eq!(words[0], AF_INET);
        assert_eq!(words[1].to_ne_bytes(), [192, 0, 2, 0]);
        assert_eq!(words[5].to_ne_bytes(), [255, 255, 240, 0]);
        assert_eq!((words[2], words[6]), (0, 0));
        let words = Prefix::parse("2001:db8::/36").expect("a prefix").words();
        assert_eq!(words[0], AF_INET6);
        assert_eq!(words[1].to_ne_bytes(), [0x20, 0x01, 0x0d, 0xb8]);
        assert_eq!((words[5], words[6].to_ne_bytes(), words[7]), (u32::MAX, [0xf0, 0, 0, 0], 0));
        assert_eq!(Prefix::parse("::/0").expect("a prefix").words()[5..], [0; 4]);
        assert_eq!(Prefix::parse("10.0.0.1").expect("an address").bits, 32);
    }

    #[test]
    fn what_is_not_filtered_is_zero() {
        let mut filter = Filter::default();
        assert_eq!(filter.bytes(), vec![0; 320]);
        filter.add("port=443").expect("a port");
        let bytes = filter.bytes();
        assert_eq!(bytes[288..292], 443_u32.to_ne_bytes());
        assert!(filter.passes_process("any", 1));
        filter.add("process=nginx").expect("a name");
        filter.add("process=77").expect("a number");
        assert!(filter.passes_process("nginx", 1) && filter.passes_process("x", 77));
        assert!(!filter.passes_process("nginx2", 7));
    }
}
