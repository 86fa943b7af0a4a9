//! Files that a command reads, which its output must not overwrite.

use std::path::{Path, PathBuf};

use crate::error::InputError;

/// The inputs of a command. Only regular files count: a terminal or a pipe may be read and written.
#[derive(Clone, Debug, Default)]
pub struct Inputs(Vec<PathBuf>);

impl Inputs {
    /// The inputs `files`. Names that are not on the disk, as of files in the program, are ignored.
    pub fn of(files: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        Self(files.into_iter().filter_map(|file| regular(file.as_ref())).collect())
    }

    /// Refuses an output that is one of the inputs, by whatever name, or a directory that contains
    /// one.
    ///
    /// # Errors
    /// The file or directory at `output` is or contains an input.
    pub fn keep_from(&self, output: &Path) -> Result<(), InputError> {
        let is_input = |output: PathBuf| self.0.iter().any(|input| input.starts_with(&output));
        if !output.canonicalize().is_ok_and(is_input) {
            return Ok(());
        }
        Err(InputError::file(
            output.display().to_string(),
            "is also an input and would be overwritten",
            "another place for the output",
        ))
    }
}

/// The one name of a regular file that exists.
fn regular(file: &Path) -> Option<PathBuf> {
    file.canonicalize().ok().filter(|name| name.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_refused_as_output_by_every_name_others_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("x.toml"), "").unwrap();
        std::fs::write(at("y.toml"), "").unwrap();
        let inputs = Inputs::of([at("x.toml"), at("none.toml"), directory.path().to_owned()]);
        for name in ["x.toml", "./x.toml"] {
            assert!(inputs.keep_from(&at(name)).is_err(), "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("x.toml"), at("link.toml")).unwrap();
            let refused = inputs.keep_from(&at("link.toml")).unwrap_err().to_string();
            let name = at("link.toml").display().to_string();
            let problem =
                "is also an input and would be overwritten, expected another place for the output";
            assert_eq!(refused, format!("{name}: {problem}"));
        }
        assert!(inputs.keep_from(directory.path()).is_err());
        assert_eq!(inputs.keep_from(&at("y.toml")), Ok(()));
        assert_eq!(inputs.keep_from(&at("none.toml")), Ok(()));
    }

    #[cfg(unix)]
    #[test]
    fn a_device_may_be_both() {
        assert_eq!(Inputs::of(["/dev/null"]).keep_from(Path::new("/dev/null")), Ok(()));
    }
}
