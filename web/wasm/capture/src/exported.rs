//! The functions that a page calls, and the one that it offers. Texts lie in the module's memory:
//!
//! 1. `input(length)` returns where the file's name of so many bytes is to be written,
//! 2. `analyze()` reads the file to its end and returns the length of the answer in JSON, which
//!    lies at `output()`: a [`View`](crate::View), or `{"error": …}` with the program's sentence.
//!    Meanwhile it calls `page.read(at, length)`: the page writes at most so many of the file's
//!    next bytes there and returns how many, 0 at its end, or -1 if it cannot. Then
//!    `page.problem(at, length)` writes why, in at most so many bytes, and returns how many; 0 if
//!    it is the browser that cannot read the file.
//! 3. `told(flow, loss)` returns the length of a loss in words, two sentences in JSON or null,
//! 4. `json()` the length of what `losscause analyze --format json` writes. Both lie at `output()`.
//!
//! An address holds until the next call.

use std::cell::RefCell;
use std::io::{self, Read};

use serde::Serialize;
use serde_json::json;

use crate::Capture;

thread_local! {
    static CAPTURE: RefCell<Option<Capture>> = const { RefCell::new(None) };
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[expect(unsafe_code, reason = "no compiler checks what a page offers")]
#[link(wasm_import_module = "page")]
unsafe extern "C" {
    fn read(at: *mut u8, length: usize) -> i32;
    fn problem(at: *mut u8, length: usize) -> usize;
}

/// Longest reason that the page tells, bytes.
const LONGEST_PROBLEM: usize = 1 << 10;

/// Why the page could not give the file's next bytes.
fn told_problem() -> io::Error {
    let mut text = [0; LONGEST_PROBLEM];
    #[expect(unsafe_code, reason = "the page writes into the module's memory")]
    // SAFETY: the page writes at most `LONGEST_PROBLEM` bytes from there on, which `text` has, and
    // keeps no address.
    let length = unsafe { problem(text.as_mut_ptr(), LONGEST_PROBLEM) };
    match text.get(..length) {
        None | Some([]) => io::Error::other("the browser cannot read the file, or it has changed"),
        Some(told) => io::Error::other(String::from_utf8_lossy(told)),
    }
}

/// The file that the page reads.
struct File;

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(i32::MAX as usize);
        #[expect(unsafe_code, reason = "the page writes into the module's memory")]
        // SAFETY: the page writes at most `length` bytes from there on, which `buffer` has, and
        // keeps no address.
        let count = unsafe { read(buffer.as_mut_ptr(), length) };
        usize::try_from(count).ok().filter(|count| *count <= length).ok_or_else(told_problem)
    }
}

#[expect(
    unsafe_code,
    reason = "the name of an exported function must be unique, which no compiler checks"
)]
#[unsafe(no_mangle)]
extern "C" fn input(length: usize) -> *const u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_ptr()
    })
}

#[expect(unsafe_code, reason = "as above")]
#[unsafe(no_mangle)]
extern "C" fn analyze() -> usize {
    let name = INPUT.take();
    match Capture::read(File, &String::from_utf8_lossy(&name)) {
        Ok(capture) => {
            let length = answer(&capture.view());
            CAPTURE.set(Some(capture));
            length
        }
        Err(error) => answer(&json!({ "error": error })),
    }
}

#[expect(unsafe_code, reason = "as above")]
#[unsafe(no_mangle)]
extern "C" fn told(flow: usize, loss: usize) -> usize {
    answer(
        &CAPTURE
            .with_borrow(|capture| capture.as_ref().and_then(|capture| capture.told(flow, loss))),
    )
}

#[expect(unsafe_code, reason = "as above")]
#[unsafe(no_mangle)]
extern "C" fn json() -> usize {
    let mut out = Vec::new();
    // Memory takes all that is written.
    let _ =
        CAPTURE.with_borrow(|capture| capture.as_ref().map(|capture| capture.write_json(&mut out)));
    put(out)
}

#[expect(unsafe_code, reason = "as above")]
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

fn answer(value: &impl Serialize) -> usize {
    // A view has no key that is no text, and no number that JSON lacks stops it.
    put(serde_json::to_vec(value).unwrap_or_default())
}

fn put(bytes: Vec<u8>) -> usize {
    OUTPUT.set(bytes);
    OUTPUT.with_borrow(Vec::len)
}
