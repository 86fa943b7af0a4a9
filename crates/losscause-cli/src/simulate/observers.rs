//! What watches a run: a trace, what a report draws, captures, or none of them.

use losscause::Time;
use losscause_sim::{Detail, Event, Recorder};
use losscause_study::capture_files::CaptureFiles;
use losscause_study::run::RunRecorder;
use losscause_study::trace_file::TraceFile;

/// Those that were asked for.
pub(super) struct Observers<'a, 'b> {
    pub(super) trace: Option<&'a mut TraceFile<'b>>,
    pub(super) record: Option<&'a mut RunRecorder>,
    pub(super) captures: Option<&'a mut CaptureFiles<'b>>,
}

impl Observers<'_, '_> {
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

impl Recorder for Observers<'_, '_> {
    fn detail(&self) -> Detail {
        Detail::Headers
    }

    fn record(&mut self, event: &Event) {
        fn pass<R: Recorder>(recorder: Option<&mut R>, event: &Event) {
            if let Some(recorder) = recorder.filter(|recorder| recorder.detail().includes(&event.kind)) {
                recorder.record(event);
            }
        }
        pass(self.trace.as_deref_mut(), event);
        pass(self.record.as_deref_mut(), event);
        pass(self.captures.as_deref_mut(), event);
    }
}
