//! Files whose readers want to know later whether they were changed.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::Files;

/// The files of another source, and a hash of each that was read.
#[derive(Clone, Debug)]
pub struct Watched {
    files: Arc<dyn Files>,
    hashes: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl Watched {
    /// The files of `files`, none of them read yet.
    pub fn new(files: Arc<dyn Files>) -> Self {
        Self { files, hashes: Arc::default() }
    }

    /// The names of the files read so far.
    pub fn read(&self) -> Vec<String> {
        self.hashes().into_keys().collect()
    }

    /// The files read so far, with a hash of what was read of each.
    pub fn hashes(&self) -> BTreeMap<String, u64> {
        self.hashes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Files for Watched {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + '_>> {
        let content = self.files.open(path)?;
        let name = path.display().to_string();
        Ok(Box::new(WatchedContent { content, name, hash: Hash::default(), hashes: &self.hashes }))
    }

    fn alternatives(&self, path: &Path) -> Vec<String> {
        self.files.alternatives(path)
    }
}

/// A file that is being read.
struct WatchedContent<'a> {
    content: Box<dyn Read + 'a>,
    name: String,
    hash: Hash,
    hashes: &'a Mutex<BTreeMap<String, u64>>,
}

impl Read for WatchedContent<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(buffer)?;
        self.hash.take(&buffer[..count]);
        Ok(count)
    }
}

impl Drop for WatchedContent<'_> {
    fn drop(&mut self) {
        let name = std::mem::take(&mut self.name);
        self.hashes.lock().unwrap_or_else(PoisonError::into_inner).insert(name, self.hash.0);
    }
}

/// A hash that does not depend on the version of the compiler: FNV-1a.
#[derive(Clone, Copy, Debug)]
pub struct Hash(pub u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    /// Adds bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        let next = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        self.0 = bytes.iter().fold(self.0, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;

    #[test]
    fn a_file_that_was_read_is_told_with_the_hash_of_its_content() {
        let watched = Watched::new(Arc::new(Memory::new().with("a", "foobar").with("b", "")));
        assert!(watched.hashes().is_empty());
        watched.open(Path::new("a")).unwrap().read_to_end(&mut Vec::new()).unwrap();
        assert!(watched.open(Path::new("c")).is_err());
        // The hash of "foobar" in the table of FNV's authors.
        assert_eq!(watched.read(), ["a"]);
        assert_eq!(
            watched.clone().hashes(),
            BTreeMap::from([("a".to_owned(), 0x8594_4171_f739_67e8)])
        );
    }
}
