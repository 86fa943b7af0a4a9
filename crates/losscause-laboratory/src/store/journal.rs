//! The finished cells of an experiment in one file, one line each, in the order in which they were
//! finished. A cell is what is measured at once: a cell of a sweep, or a run of a paper's plan.
//!
//! A line is `{"check":"…","outcome":{…}}`. The check is a hash of the text of the outcome. Threads
//! append whole lines, and none waits for the disk. If the program is killed, what it has written
//! is kept; if the machine loses power, what its system has not written yet is lost, some half a
//! minute's cells. A line that is cut short or overwritten does not have its check, so its cell is
//! measured again.
//!
//! At the end the lines can be sorted by cell, so the file does not depend on the threads
//! or on interruptions.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::origin::fnv1a;
use losscause_study::RunError;
use losscause_study::tools::atomic::AtomicFile;

/// What is kept of a finished cell.
pub(crate) trait Outcome: Serialize + DeserializeOwned {
    /// The cell's number, from 0 on.
    fn number(&self) -> usize;
}

/// The finished cells, on disk.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    lines: Mutex<Lines>,
}

/// The lines of a journal.
#[derive(Debug)]
struct Lines {
    file: File,
    /// Bytes that are lines, or damaged.
    end: u64,
    /// The line of every cell.
    places: Vec<Place>,
}

/// Where a line is, its end included; of no length if there is none.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    start: u64,
    bytes: usize,
}

impl Journal {
    /// The journal at `path` for `cells` cells. With `resumes`, the cells that it has are kept if
    /// `is_known` finds that their outcomes are of these cells, and `take` gets each; without, it is
    /// emptied.
    ///
    /// # Errors
    /// The file cannot be written or read.
    pub(super) fn open<T: Outcome>(
        path: &Path,
        cells: usize,
        resumes: bool,
        is_known: impl Fn(&T) -> bool,
        take: impl FnMut(T),
    ) -> Result<Self, RunError> {
        let failed = |reason| RunError::unwritable(path, reason);
        let file = File::options()
            .create(true)
            .truncate(!resumes)
            .read(true)
            .write(true)
            .open(path)
            .map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(failed(io::Error::other("is no regular file")));
        }
        let mut lines = Lines { file, end: 0, places: vec![Place::default(); cells] };
        lines.read(is_known, take).map_err(failed)?;
        Ok(Self { path: path.to_owned(), lines: Mutex::new(lines) })
    }

    /// Whether it has the cell of that number.
    pub(crate) fn has(&self, number: usize) -> bool {
        self.lines().places[number].bytes > 0
    }

    /// Keeps the outcome of a cell. Any thread may call it.
    ///
    /// # Errors
    /// The file cannot be written; it then has the cells that it had before.
    pub(crate) fn keep(&self, outcome: &impl Outcome) -> Result<(), RunError> {
        let line = line(outcome);
        let mut lines = self.lines();
        let start = lines.end;
        if let Err(reason) = lines.file.write_all(line.as_bytes()) {
            // The next line must not be joined to a part of this one.
            let _ =
                lines.file.set_len(start).and_then(|()| lines.file.seek(SeekFrom::Start(start)));
            return Err(self.failed(reason));
        }
        lines.end += line.len() as u64;
        lines.places[outcome.number()] = Place { start, bytes: line.len() };
        Ok(())
    }

    /// The outcomes of all cells that it has, in the order of their numbers.
    ///
    /// # Errors
    /// The file cannot be read; each outcome is one of its own.
    pub(crate) fn outcomes<T: Outcome>(
        &self,
    ) -> Result<impl Iterator<Item = Result<T, RunError>>, RunError> {
        let damaged =
            || io::Error::new(io::ErrorKind::InvalidData, "it was changed by another program");
        let read = move |text: io::Result<Vec<u8>>| {
            text.and_then(|text| outcome(&text).ok_or_else(damaged))
        };
        Ok(self.texts()?.map(move |text| read(text).map_err(|reason| self.failed(reason))))
    }

    /// Sorts the lines by cell.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn sort(self) -> Result<(), RunError> {
        let mut sorted = AtomicFile::create(&self.path)?;
        for text in self.texts()? {
            let text = text.map_err(|reason| self.failed(reason))?;
            sorted.write_all(&text).map_err(|reason| sorted.failed(reason))?;
        }
        // Some systems replace no open file.
        drop(self);
        sorted.finish()
    }

    /// The lines of all cells, in the order of their numbers.
    fn texts(&self) -> Result<impl Iterator<Item = io::Result<Vec<u8>>>, RunError> {
        let mut reader =
            BufReader::with_capacity(1 << 16, File::open(&self.path).map_err(|e| self.failed(e))?);
        let mut at = 0_u64;
        let read = move |Place { start, bytes }: Place| {
            // Neighbours finish at about the same time: mostly, the next line is in the buffer.
            reader.seek_relative(start as i64 - at as i64)?;
            let mut text = vec![0; bytes];
            reader.read_exact(&mut text)?;
            at = start + bytes as u64;
            Ok(text)
        };
        let places = self.lines().places.clone();
        Ok(places.into_iter().filter(|place| place.bytes > 0).map(read))
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, reason: io::Error) -> RunError {
        RunError::unwritable(&self.path, reason)
    }
}

impl Lines {
    /// Reads all lines, and cuts off one that is not finished.
    fn read<T: Outcome>(
        &mut self,
        is_known: impl Fn(&T) -> bool,
        mut take: impl FnMut(T),
    ) -> io::Result<()> {
        let mut reader = BufReader::new(&self.file);
        let mut text = Vec::new();
        let mut next = |text: &mut Vec<u8>| (&mut reader).take(LONGEST).read_until(b'\n', text);
        while next(&mut text)? > 0 && text.ends_with(b"\n") {
            let place = Place { start: self.end, bytes: text.len() };
            self.end += text.len() as u64;
            // A cell of a number above these is one of a larger sweep.
            if let Some(found) = outcome::<T>(&text)
                && let Some(old) = self.places.get_mut(found.number())
                && is_known(&found)
                && old.bytes == 0
            {
                *old = place;
                take(found);
            }
            text.clear();
        }
        self.file.set_len(self.end)?;
        self.file.seek(SeekFrom::Start(self.end))?;
        Ok(())
    }
}

/// A longer line is damaged, bytes.
const LONGEST: u64 = 64 << 20;
const BEFORE_CHECK: &str = "{\"check\":\"";
const BEFORE_OUTCOME: &str = "\",\"outcome\":";
const END: &str = "}\n";

/// The line of an outcome.
fn line(outcome: &impl Outcome) -> String {
    let text =
        serde_json::to_string(outcome).expect("results have text keys and finite or no numbers");
    format!("{BEFORE_CHECK}{:016x}{BEFORE_OUTCOME}{text}{END}", fnv1a(text.as_bytes()))
}

/// The outcome in a line; none if the line is damaged.
fn outcome<T: Outcome>(line: &[u8]) -> Option<T> {
    let line = std::str::from_utf8(line).ok()?;
    let (check, text) =
        line.strip_prefix(BEFORE_CHECK)?.strip_suffix(END)?.split_once(BEFORE_OUTCOME)?;
    let is_whole =
        check.len() == 16 && u64::from_str_radix(check, 16) == Ok(fnv1a(text.as_bytes()));
    is_whole.then(|| serde_json::from_str(text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use serde::Deserialize;

    use super::*;

    const CELLS: usize = 40;

    #[derive(Serialize, Deserialize)]
    struct Toy {
        number: usize,
        setting: String,
    }

    impl Outcome for Toy {
        fn number(&self) -> usize {
            self.number
        }
    }

    fn of(number: usize) -> Toy {
        Toy { number, setting: format!("duration_s={}", 100 + number) }
    }

    fn open(path: &Path, resumes: bool, take: impl FnMut(Toy)) -> Journal {
        let is_known = |toy: &Toy| toy.setting == of(toy.number).setting;
        Journal::open(path, CELLS, resumes, is_known, take).unwrap()
    }

    /// Opens a journal at `path`; which cells it has.
    fn opened(path: &Path) -> (Journal, Vec<usize>) {
        let mut found = vec![];
        let journal = open(path, true, |toy| found.push(toy.number));
        (journal, found)
    }

    #[test]
    fn cells_are_read_in_their_order_however_they_were_kept() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("finished.jsonl");
        let (journal, found) = opened(&path);
        assert!(found.is_empty());
        for number in [7, 3, 39] {
            journal.keep(&of(number)).unwrap();
        }
        assert!(journal.has(7) && !journal.has(8));
        let read: Vec<usize> =
            journal.outcomes::<Toy>().unwrap().map(|toy| toy.unwrap().number).collect();
        assert_eq!(read, [3, 7, 39]);
        journal.sort().unwrap();
        assert_eq!(opened(&path).1, [3, 7, 39]);
        open(&path, false, |_| panic!("it is emptied"));
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }

    #[cfg(unix)]
    #[test]
    fn a_journal_without_an_end_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("finished.jsonl");
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let refused = Journal::open(&path, CELLS, true, |_: &Toy| true, |_| ()).unwrap_err();
        let problem = "cannot be written (is no regular file)";
        assert_eq!(refused.to_string(), format!("{}: {problem}", path.display()));
    }

    #[test]
    fn a_line_of_another_or_a_repeated_cell_is_passed_over() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("finished.jsonl");
        let other = Toy { setting: "duration_s=1".into(), ..of(3) };
        let text = [other, of(CELLS), of(2), of(2)].map(|toy| line(&toy)).concat();
        std::fs::write(&path, text).unwrap();
        assert_eq!(opened(&path).1, [2]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// As a power failure or a kill leaves it: cut anywhere, with zeros or anything else in
        /// place of some bytes.
        #[test]
        fn a_damaged_line_is_not_believed_and_all_others_are(
            cut in 0.0_f64..1.0,
            at in 0.0_f64..1.0,
            with in prop::collection::vec(prop_oneof![Just(0), any::<u8>()], 0..300),
        ) {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join("finished.jsonl");
            let lines: Vec<String> = (0..CELLS).map(|number| line(&of(number))).collect();
            let whole = lines.concat().into_bytes();
            let mut text = whole[..(cut * whole.len() as f64) as usize].to_vec();
            let start = (at * text.len() as f64) as usize;
            for (byte, with) in text[start..].iter_mut().zip(with) {
                *byte = with;
            }
            std::fs::write(&path, &text).unwrap();
            let (journal, found) = opened(&path);
            // A line whose start is lost, because the end of the line before it is damaged, is
            // damaged too.
            let mut start = 0;
            let is_intact = |line: &String| {
                let end = start + line.len();
                let before = start.saturating_sub(1);
                let is = text.get(before..end) == Some(&whole[before..end]);
                start = end;
                is
            };
            let expected: Vec<bool> = lines.iter().map(is_intact).collect();
            let expected: Vec<usize> = (0..CELLS).filter(|&number| expected[number]).collect();
            prop_assert_eq!(&found, &expected);
            // What is appended is whole again.
            for number in (0..CELLS).filter(|number| !found.contains(number)) {
                journal.keep(&of(number)).unwrap();
            }
            drop(journal);
            let (journal, found) = opened(&path);
            prop_assert_eq!(found.len(), CELLS);
            journal.sort().unwrap();
            prop_assert!(std::fs::read(&path).unwrap() == whole);
        }
    }
}
