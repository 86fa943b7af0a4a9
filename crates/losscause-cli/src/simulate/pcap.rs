//! The captures that `--pcap` writes.

use std::path::{Path, PathBuf};

use losscause::Span;
use losscause_study::capture_files::{CaptureFiles, CaptureSettings, FILE_NAMES};
use losscause_study::trace_file::Filter;
use losscause_study::{Experiment, InputError, RunError};

use crate::input::is_standard;

// The arguments about captures.
#[derive(Debug, clap::Args)]
pub(super) struct Captures {
    /// Write captures of the run to this directory: sender.pcap, bottleneck.pcap and receiver.pcap,
    /// and the true cause of every drop in drops.csv. It must be new or empty, or hold captures of
    /// an earlier run, which are replaced.
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// Capture only these flows; the name of a group stands for all of its flows.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', requires = "pcap")]
    pcap_flow: Vec<String>,
    /// Tick of the clock of TCP's timestamps, milliseconds from 0.001 to 1000 [default: 1]
    #[arg(long, value_name = "MS", requires = "pcap")]
    pcap_tick: Option<f64>,
    /// Write at most this many bytes of each packet, from 80 to 65535 [default: 128]
    #[arg(long, value_name = "BYTES", requires = "pcap")]
    pcap_snap: Option<u32>,
}

impl Captures {
    /// The directory, if there are to be captures.
    pub(super) fn directory(&self) -> Option<&Path> {
        self.pcap.as_deref()
    }

    /// The files that will be written.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.pcap.iter().flat_map(|directory| FILE_NAMES.map(|name| directory.join(name)))
    }

    /// Starts the captures.
    pub(super) fn create<'a>(
        &self,
        experiment: &'a Experiment,
        seed: u64,
    ) -> Result<Option<CaptureFiles<'a>>, RunError> {
        let Some(directory) = &self.pcap else { return Ok(None) };
        if is_standard(directory) {
            let problem = "captures are several files, expected a directory";
            return Err(InputError::option("--pcap -", problem).into());
        }
        let settings = self.settings()?;
        let mut filter = Filter::default();
        if !self.pcap_flow.is_empty() {
            filter = filter.flows(&self.pcap_flow, &experiment.network, "--pcap-flow")?;
        }
        Ok(Some(CaptureFiles::create(directory, experiment, seed, settings)?.filtered(filter)))
    }

    fn settings(&self) -> Result<CaptureSettings, InputError> {
        let mut settings = CaptureSettings::default();
        if let Some(ms) = self.pcap_tick {
            if !(1e-3..=1e3).contains(&ms) {
                let problem = "expected milliseconds from 0.001 to 1000";
                return Err(InputError::option(format!("--pcap-tick {ms}"), problem));
            }
            settings.tick = Span::from_secs_f64_rounded(ms / 1e3);
        }
        if let Some(bytes) = self.pcap_snap {
            let smallest = CaptureSettings::SMALLEST_SNAP_BYTES;
            if !(smallest..=65_535).contains(&bytes) {
                let problem =
                    format!("expected bytes from {smallest}, which hold all headers, to 65535");
                return Err(InputError::option(format!("--pcap-snap {bytes}"), problem));
            }
            settings.snap_bytes = bytes;
        }
        Ok(settings)
    }
}
