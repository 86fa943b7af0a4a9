//! A page's request and the module's answer, in the module's memory. `capture` has this file too.

use std::cell::RefCell;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
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
extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

/// The request.
pub(crate) fn request() -> String {
    String::from_utf8_lossy(&INPUT.take()).into_owned()
}

/// Keeps the answer, and returns its length.
pub(crate) fn answer(bytes: Vec<u8>) -> usize {
    OUTPUT.set(bytes);
    OUTPUT.with_borrow(Vec::len)
}
