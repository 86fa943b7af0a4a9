//! The functions that a page calls, and the one that it offers. An instance decompresses one file:
//!
//! 1. `next(length)` returns how many of the next bytes, at most `length`, lie at `output()`; 0 at the
//!    end, or -1 if the file cannot be read or decompressed any further. Meanwhile it calls
//!    `page.read(at, length)`: the page writes at most so many of the file's next bytes there and
//!    returns how many, 0 at its end, or -1 if it cannot read it.
//! 2. `problem()` then returns the length of the reason in words, which lies at `output()`.
//!
//! An address holds until the next call.

use std::cell::RefCell;
use std::io::{self, Read};

use losscause_capture::frames::decompressed;

use crate::file::File;

thread_local! {
    static SOURCE: RefCell<Option<Box<dyn Read>>> = const { RefCell::new(None) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static PROBLEM: RefCell<String> = const { RefCell::new(String::new()) };
}

fn unreadable() -> io::Error {
    io::Error::other("the page cannot read the file")
}

/// The next bytes, written to `into`.
fn fill(into: &mut [u8]) -> io::Result<usize> {
    SOURCE.with_borrow_mut(|source| {
        let source = match source {
            Some(source) => source,
            none => none.insert(decompressed(Box::new(File(unreadable)))?),
        };
        source.read(into)
    })
}

#[expect(
    unsafe_code,
    reason = "the name of an exported function must be unique, which no compiler checks"
)]
#[unsafe(no_mangle)]
extern "C" fn next(length: usize) -> i32 {
    OUTPUT.with_borrow_mut(|output| {
        output.resize(length.min(i32::MAX as usize), 0);
        match fill(output) {
            // At most `length`, which fits.
            Ok(count) => count as i32,
            Err(error) => {
                PROBLEM.set(error.to_string());
                -1
            }
        }
    })
}

#[expect(unsafe_code, reason = "as above")]
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

#[expect(unsafe_code, reason = "as above")]
#[unsafe(no_mangle)]
extern "C" fn problem() -> usize {
    OUTPUT.set(PROBLEM.take().into_bytes());
    OUTPUT.with_borrow(Vec::len)
}
