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
use std::io;

use serde::Serialize;
use serde_json::json;

use crate::Capture;
use crate::file::File;
use crate::memory::{answer, request};

thread_local! {
    static CAPTURE: RefCell<Option<Capture>> = const { RefCell::new(None) };
}

#[expect(unsafe_code, reason = "no compiler checks what a page offers")]
#[link(wasm_import_module = "page")]
unsafe extern "C" {
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

#[expect(unsafe_code, reason = "as in `memory`")]
#[unsafe(no_mangle)]
extern "C" fn analyze() -> usize {
    match Capture::read(File(told_problem), &request()) {
        Ok(capture) => {
            let length = in_json(&capture.view());
            CAPTURE.set(Some(capture));
            length
        }
        Err(error) => in_json(&json!({ "error": error })),
    }
}

#[expect(unsafe_code, reason = "as in `memory`")]
#[unsafe(no_mangle)]
extern "C" fn told(flow: usize, loss: usize) -> usize {
    let told = |capture: &Option<Capture>| capture.as_ref()?.told(flow, loss);
    in_json(&CAPTURE.with_borrow(told))
}

#[expect(unsafe_code, reason = "as in `memory`")]
#[unsafe(no_mangle)]
extern "C" fn json() -> usize {
    let mut out = Vec::new();
    // Memory takes all that is written.
    let _ =
        CAPTURE.with_borrow(|capture| capture.as_ref().map(|capture| capture.write_json(&mut out)));
    answer(out)
}

fn in_json(value: &impl Serialize) -> usize {
    // A view has no key that is no text, and no number that JSON lacks stops it.
    answer(serde_json::to_vec(value).unwrap_or_default())
}
