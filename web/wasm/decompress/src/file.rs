//! The file that a page reads for the module, piece by piece. `capture` has this source too.

use std::io::{self, Read};

#[expect(unsafe_code, reason = "no compiler checks what a page offers")]
#[link(wasm_import_module = "page")]
unsafe extern "C" {
    fn read(at: *mut u8, length: usize) -> i32;
}

/// The file, with what is said if the page cannot read it.
pub(crate) struct File(pub(crate) fn() -> io::Error);

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(i32::MAX as usize);
        #[expect(unsafe_code, reason = "the page writes into the module's memory")]
        // SAFETY: the page writes at most `length` bytes from there on, which `buffer` has, and
        // keeps no address.
        let count = unsafe { read(buffer.as_mut_ptr(), length) };
        usize::try_from(count).ok().filter(|count| *count <= length).ok_or_else(self.0)
    }
}
