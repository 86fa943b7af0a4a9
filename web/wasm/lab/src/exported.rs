//! The functions that a page calls. Texts and numbers lie in the module's memory, where the page
//! reads and writes them:
//!
//! 1. `input(length)` returns where a request of so many bytes is to be written,
//! 2. `call()` carries it out and returns the length of the answer, which lies at `output()`.
//! 3. `advance(lab, to_s)` advances a run and returns its instant; an unknown run returns NaN.
//! 4. `read(lab, what)` returns how many numbers there are (`what` counts the variants of `Numbers`
//!    from 0), which lie at `numbers()` as 64-bit floats.
//!
//! An address holds until the next call.

use std::cell::RefCell;

use crate::Numbers;
use crate::memory::{answer, request};
use crate::request::Labs;

thread_local! {
    static LABS: RefCell<Labs> = const { RefCell::new(Labs::new()) };
    static NUMBERS: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

#[expect(unsafe_code, reason = "as in `memory`")]
#[unsafe(no_mangle)]
extern "C" fn call() -> usize {
    answer(LABS.with_borrow_mut(|labs| labs.answer(&request())).into_bytes())
}

#[expect(unsafe_code, reason = "as above")]
#[unsafe(no_mangle)]
extern "C" fn advance(lab: usize, to_s: f64) -> f64 {
    LABS.with_borrow_mut(|labs| {
        labs.get(lab).map_or(f64::NAN, |lab| {
            lab.advance(to_s);
            lab.now_s()
        })
    })
}

#[expect(unsafe_code, reason = "as above")]
#[unsafe(no_mangle)]
extern "C" fn read(lab: usize, what: u32) -> usize {
    let what = match what {
        0 => Numbers::Rows,
        1 => Numbers::Losses,
        2 => Numbers::Packets,
        3 => Numbers::Lost,
        _ => Numbers::Verdicts,
    };
    NUMBERS.with_borrow_mut(|numbers| {
        numbers.clear();
        LABS.with_borrow_mut(|labs| labs.get(lab).map(|lab| lab.read(what, numbers)));
        numbers.len()
    })
}

#[expect(unsafe_code, reason = "as above")]
#[unsafe(no_mangle)]
extern "C" fn numbers() -> *const f64 {
    NUMBERS.with_borrow(|numbers| numbers.as_ptr())
}
