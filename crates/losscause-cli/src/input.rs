//! The scenario that a command reads, and the files that its output must not overwrite.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use losscause_laboratory::papers::record;
use losscause_study::files::{Inputs, Watched};
use losscause_study::{Context, InputError, Registry, Scenario, Setting};

use crate::templates;

/// What stands for standard input or output in place of a file's name.
pub(crate) const STANDARD: &str = "-";

/// Whether `file` stands for standard input or output.
pub(crate) fn is_standard(file: &Path) -> bool {
    file == Path::new(STANDARD)
}

/// Why `file` cannot be read a second time: it is no regular file, such as standard input or a pipe.
/// To open a pipe again would wait for another writer.
pub(crate) fn is_read_once(file: &Path) -> Option<&'static str> {
    match file.metadata() {
        _ if is_standard(file) => Some("standard input"),
        Ok(found) if !found.is_file() && !found.is_dir() => Some("a pipe or a device"),
        _ => None,
    }
}

/// The files that a scenario reads.
pub(crate) struct Sources {
    scenario: PathBuf,
    named: Watched,
}

/// Opens a scenario: a file, `-` for standard input, or a paper's scenario.
pub(crate) fn scenario(
    file: &Path,
    settings: &[Setting],
    registry: &Registry,
) -> Result<(Scenario, Sources), InputError> {
    let context = Context::new(registry.clone());
    let scenario = if is_standard(file) {
        piped(&context)?
    } else {
        record::open_scenario(file, Path::new(""), &context)
            .map_err(|error| templates::named_in(error, false))?
    };
    let (scenario, named) = scenario.with(settings)?.watched();
    Ok((scenario, Sources { scenario: file.to_owned(), named }))
}

impl Sources {
    /// The files that were read so far: complete once the scenario's experiment was made.
    pub(crate) fn inputs(&self) -> Inputs {
        Inputs::of(
            [self.scenario.clone()]
                .into_iter()
                .chain(self.named.read().into_iter().map(PathBuf::from)),
        )
    }
}

/// A scenario from standard input. Files that it names are relative to the current directory.
fn piped(context: &Context) -> Result<Scenario, InputError> {
    const NAME: &str = "standard input";
    /// A larger text is no scenario, bytes.
    const LARGEST: u64 = 1 << 20;
    let unreadable = |reason: io::Error| {
        InputError::unreadable(Path::new(NAME), &reason, losscause_study::scenario::EXPECTED)
    };
    let mut text = String::new();
    let read =
        io::stdin().lock().take(LARGEST + 1).read_to_string(&mut text).map_err(unreadable)?;
    if read as u64 > LARGEST {
        let problem = format!("is larger than {} MiB", LARGEST >> 20);
        return Err(InputError::file(NAME, problem, losscause_study::scenario::EXPECTED));
    }
    Scenario::parse(&text, NAME, &record::with_papers(context))
}
