//! What watches a run: a trace, what a report draws, captures, or none of them.

use losscause::Time;
use losscause_sim::{Detail, Event, Recorder};
use losscause_study::RunError;
use losscause_study::capture_files::CaptureFiles;
use losscause_study::run::{RunRecord, RunRecorder};
use losscause_study::trace_file::TraceFile;

use super::Plan;

/// Those that were asked for.
pub(super) struct Observers<'a> {
    trace: Option<TraceFile<'a>>,
    record: Option<RunRecorder>,
    captures: Option<CaptureFiles<'a>>,
}

impl<'a> Observers<'a> {
    /// Creates the files of the trace and the captures.
    pub(super) fn create(plan: &'a Plan<'_>) -> Result<Self, RunError> {
        let Plan { arguments, scenario, experiment, .. } = plan;
        let record = || RunRecorder::new(scenario, experiment, arguments.seed);
        let record = arguments.out.as_ref().map(|_| record()).transpose()?;
        let filter = arguments.filter.parse(&experiment.network)?;
        let trace = arguments
            .trace
            .as_ref()
            .map(|file| TraceFile::create(file, &experiment.network))
            .transpose()?;
        let trace = trace.map(|trace| trace.filtered(filter));
        let captures = arguments.captures.create(experiment, arguments.seed)?;
        Ok(Self { trace, record, captures })
    }

    /// Completes the files. Returns what a report draws.
    pub(super) fn finish(self) -> Result<Option<RunRecord>, RunError> {
        if let Some(trace) = self.trace {
            trace.finish()?;
        }
        if let Some(captures) = self.captures {
            captures.finish()?;
        }
        Ok(self.record.map(RunRecorder::finish))
    }

    /// Whether anything was asked for.
    pub(super) fn is_any(&self) -> bool {
        self.trace.is_some() || self.record.is_some() || self.captures.is_some()
    }

    /// Writes to files what was recorded up to `until`.
    pub(super) fn write_until(&mut self, until: Time) {
        if let Some(trace) = &mut self.trace {
            trace.write_until(until);
        }
        if let Some(captures) = &mut self.captures {
            captures.write_until(until);
        }
    }
}

impl Recorder for Observers<'_> {
    fn detail(&self) -> Detail {
        Detail::Headers
    }

    fn record(&mut self, event: &Event) {
        fn pass<R: Recorder>(recorder: Option<&mut R>, event: &Event) {
            if let Some(recorder) =
                recorder.filter(|recorder| recorder.detail().includes(&event.kind))
            {
                recorder.record(event);
            }
        }
        pass(self.trace.as_mut(), event);
        pass(self.record.as_mut(), event);
        pass(self.captures.as_mut(), event);
    }
}
