//! `--check FILE`: what got worse since an earlier result.

use std::path::Path;

use losscause_laboratory::papers::reproduce::{Comparison, Plan, Reproduction};
use losscause_laboratory::sweep::Beside;
use losscause_study::InputError;
use losscause_study::files::{self, Disk, Files};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::notice;

/// The result of an earlier `what`, such as a sweep, which is `expected`.
///
/// # Errors
/// The file cannot be read, or is none.
pub(crate) fn earlier<T: DeserializeOwned>(
    file: &Path,
    files: &dyn Files,
    what: &str,
    expected: &'static str,
) -> Result<T, InputError> {
    let text = files::text(files, file, files::LARGEST_RESULT, expected)?;
    serde_json::from_str(&text).map_err(|error| {
        InputError::file(
            file.display().to_string(),
            format!("is no result of a {what} ({error})"),
            expected,
        )
    })
}

/// Says how the results compare with earlier ones.
///
/// # Errors
/// A value differs.
pub(crate) fn agree(beside: &Beside) -> Result<(), Failure> {
    let Beside { same, within, differing } = beside;
    let differ = differing.len();
    notice::print(&format!(
        "{same} values are the same as before, {within} within both intervals, {differ} differ"
    ));
    differing.iter().take(MOST_DIFFERENCES).for_each(|line| notice::print(line));
    if differing.is_empty() {
        return Ok(());
    }
    Err(Failure::Worse(format!(
        "--check: {differ} values differ from the earlier ones by more than the intervals of both"
    )))
}

/// Most differences from an earlier sweep that are printed.
const MOST_DIFFERENCES: usize = 20;

/// An earlier result of a reproduction, read before the runs.
pub(crate) struct Check {
    file: String,
    earlier: Reproduction,
}

/// The one field that every version of a result has.
#[derive(Deserialize)]
struct Version {
    version: String,
}

const EXPECTED: &str = "a result.json or the output of `losscause reproduce --format json`";

impl Check {
    /// Reads the file.
    ///
    /// # Errors
    /// It cannot be read, or is no result, or one of another version.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let file = path.display().to_string();
        let text = files::text(&Disk, path, files::LARGEST_RESULT, EXPECTED)?;
        let refuse = |problem: String, expected| InputError::file(file.clone(), problem, expected);
        let Version { version } = serde_json::from_str(&text)
            .map_err(|_| refuse("is no result of a reproduction".to_owned(), EXPECTED))?;
        let ours = env!("CARGO_PKG_VERSION");
        let other = |what: String| refuse(what, "a result of the same version");
        if version != ours {
            return Err(
                other(format!("was written by version {version}, and this is {ours}")).into()
            );
        }
        let earlier = serde_json::from_str(&text)
            .map_err(|_| other(format!("was written by another build of version {version}")))?;
        Ok(Self { file, earlier })
    }

    /// Whether anything of `plan` can be compared, before the runs.
    ///
    /// # Errors
    /// Nothing can.
    pub(crate) fn can_compare(&self, plan: &Plan) -> Result<(), Failure> {
        Ok(plan.can_be_compared(&self.earlier, &self.file)?)
    }

    /// Prints the comparison to standard error.
    ///
    /// # Errors
    /// Something got worse, or nothing can be compared.
    pub(crate) fn compare(&self, now: &Reproduction) -> Result<(), Failure> {
        let comparison = now.against(&self.earlier, &self.file)?;
        for worse in &comparison.worse {
            notice::told(&format!("worse: {worse}"));
        }
        let sentence = self.sentence(&comparison);
        if comparison.worse.is_empty() {
            notice::told(&sentence);
            return Ok(());
        }
        Err(Failure::Worse(sentence))
    }

    /// `out/result.json: of 120 numbers and claims, 1 got worse and 2 better; 3 only there, 0 only
    /// here`.
    fn sentence(&self, comparison: &Comparison) -> String {
        let Comparison { worse, better, compared, only_earlier, only_now, other_runs } = comparison;
        let file = &self.file;
        let mut text = format!(
            "{file}: of {compared} numbers and claims in both, {} got worse, {better} better",
            worse.len()
        );
        for (count, what) in [
            (only_earlier, "measured only there"),
            (only_now, "measured only now"),
            (other_runs, "not compared because one side has fewer runs than the paper"),
        ] {
            if *count > 0 {
                text += &format!("; {count} {what}");
            }
        }
        text
    }
}
