//! Sets of files that get their names together.
//!
//! A set's list is on the disk before the first name changes, and is removed after the last one. It
//! says which unfinished file gets which name. So if the program is killed in between, every file of
//! the new set is still there, and the next process that writes to the directory gives the rest
//! their names ([`complete`]).

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::lock::{Attempt, try_lock};
use super::unfinished::{PREFIX, Registry, is_unfinished_file};

const SUFFIX: &str = ".set";

/// A line of a list.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The name of the file as long as it is unfinished.
    pub(super) unfinished: String,
    /// The name that it gets.
    pub(super) name: String,
}

/// The list of a set on the disk. It is locked as long as this process gives the names.
#[derive(Debug)]
pub(super) struct List {
    path: PathBuf,
    _locked: File,
}

impl List {
    /// Writes the list of a set whose files are all in `directory`.
    pub(super) fn write(
        registry: &mut Registry,
        directory: &Path,
        entries: &[Entry],
    ) -> io::Result<Self> {
        let (mut file, registration) = registry.create(directory)?;
        let text = serde_json::to_string(entries)?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all());
        let path = file.path().with_extension(SUFFIX.trim_start_matches('.'));
        let persisted = written.and_then(|()| file.persist(&path).map_err(|error| error.error));
        registration.end_in(registry);
        Ok(Self { path, _locked: persisted? })
    }

    /// Removes the list: the set is complete, or was given up.
    pub(super) fn remove(self) {
        // A list that stays is removed by the next process that writes there.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether a file of this name is the list of a set.
pub(super) fn is_list(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// Completes the set of the list at `path`, unless the process that wrote it still runs. As there,
/// no old file is left beside a new one.
pub(super) fn complete(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    if try_lock(&file) != Attempt::Locked {
        return;
    }
    let Ok(entries) = serde_json::from_reader::<_, Vec<Entry>>(io::BufReader::new(&file)) else {
        return;
    };
    let directory = path.parent().unwrap_or(Path::new("."));
    let left: Vec<(PathBuf, PathBuf)> = entries
        .iter()
        .filter(|entry| is_unfinished_file(&entry.unfinished) && is_plain(&entry.name))
        .map(|entry| (directory.join(&entry.unfinished), directory.join(&entry.name)))
        .filter(|(unfinished, _)| unfinished.exists())
        .collect();
    for (_, target) in &left {
        let _ = fs::remove_file(target);
    }
    let named = left.iter().try_for_each(|(unfinished, target)| fs::rename(unfinished, target));
    if named.is_ok() {
        let _ = fs::remove_file(path);
    }
}

/// Whether a name is that of a file in the directory itself.
fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!(parts.next(), Some(Component::Normal(_))) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::super::{finish_together, remove_abandoned, whole};
    use super::*;

    const NAMES: [&str; 3] = ["a.csv", "b.csv", "origin.json"];

    fn names_in(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A directory whose process was killed after it had removed so many old names and given so many
    /// new ones.
    fn killed(removed: usize, named: usize) -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let entries: Vec<Entry> = NAMES
            .iter()
            .enumerate()
            .map(|(place, name)| Entry {
                unfinished: format!("{PREFIX}{place}.part"),
                name: (*name).to_owned(),
            })
            .collect();
        fs::write(at(".losscause-x.set"), serde_json::to_string(&entries).unwrap()).unwrap();
        for (place, Entry { unfinished, name }) in entries.iter().enumerate() {
            if place >= removed {
                fs::write(at(name), "old").unwrap();
            }
            fs::write(at(if place < named { name } else { unfinished }), "new").unwrap();
        }
        place
    }

    #[test]
    fn a_set_whose_process_was_killed_at_any_step_is_completed() {
        let steps = (0..=3).map(|removed| (removed, 0)).chain((1..=3).map(|named| (3, named)));
        for (removed, named) in steps {
            let place = killed(removed, named);
            remove_abandoned(place.path());
            assert_eq!(names_in(place.path()), NAMES, "{removed} removed, {named} named");
            let texts = NAMES.map(|name| fs::read_to_string(place.path().join(name)).unwrap());
            assert_eq!(texts, ["new"; 3], "{removed} removed, {named} named");
        }
    }

    #[test]
    fn the_next_file_in_the_directory_completes_the_set_before_it() {
        let place = killed(3, 1);
        super::super::write(&place.path().join("a.csv"), b"newer").unwrap();
        assert_eq!(names_in(place.path()), NAMES);
        let texts = NAMES.map(|name| fs::read_to_string(place.path().join(name)).unwrap());
        assert_eq!(texts, ["newer", "new", "new"]);
    }

    #[test]
    fn a_set_of_a_running_process_is_left_to_it() {
        let place = killed(3, 1);
        let list = place.path().join(".losscause-x.set");
        let running = File::open(&list).unwrap();
        assert_eq!(try_lock(&running), Attempt::Locked);
        complete(&list);
        assert_eq!(
            names_in(place.path()),
            [".losscause-1.part", ".losscause-2.part", ".losscause-x.set", "a.csv"]
        );
    }

    #[test]
    fn a_list_names_only_unfinished_files_of_its_own_directory() {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("notes.txt"), "mine").unwrap();
        fs::write(inner.join(".losscause-1.part"), "new").unwrap();
        let list = r#"[{ "unfinished": "notes.txt", "name": "a.csv" },
                       { "unfinished": ".losscause-1.part", "name": "../b.csv" }]"#;
        fs::write(inner.join(".losscause-x.set"), list).unwrap();
        complete(&inner.join(".losscause-x.set"));
        assert_eq!(names_in(&inner), [".losscause-1.part", "notes.txt"]);
        assert_eq!(names_in(place.path()), ["inner"]);
    }

    #[test]
    fn a_finished_set_leaves_no_list() {
        let place = tempfile::tempdir().unwrap();
        for text in ["old", "new"] {
            let files = NAMES.map(|name| whole(&place.path().join(name), text.as_bytes()).unwrap());
            finish_together(files.into()).unwrap();
            assert_eq!(names_in(place.path()), NAMES);
        }
    }
}
