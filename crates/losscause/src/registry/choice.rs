//! Settings that are words, numbers or flags, reachable by key.

use crate::Span;

/// An enum whose values have names in scenario files; `registry::choice!` declares one.
///
/// ```
/// use losscause::lda::MinimumOver;
/// use losscause::registry::{Choice, Field};
///
/// // What a registry does with a key and a word.
/// let mut over = MinimumOver::AllIntervals;
/// match Field::Choice(&mut over) {
///     Field::Choice(choice) => {
///         assert!(choice.select("consecutive-packets") && !choice.select("none"))
///     }
///     _ => unreachable!(),
/// }
/// assert_eq!(over, MinimumOver::ConsecutivePackets);
/// let names = |choice: &dyn Choice| choice.names();
/// assert_eq!(names(&over), ["all-intervals", "consecutive-packets"]);
/// ```
pub trait Choice {
    /// Becomes the value of that name; false if there is none.
    fn select(&mut self, name: &str) -> bool;
    /// The name of the present value.
    fn selected(&self) -> &'static str;
    /// All names.
    fn names(&self) -> &'static [&'static str];
}

/// Declares an enum whose values have names in scenario files, one of them the default.
///
/// ```
/// use losscause::registry::{Choice, choice};
///
/// choice! {
///     /// Which end of a range counts.
///     pub enum End {
///         /// The lower one.
///         #[default]
///         Lower = "lower",
///         /// The upper one.
///         Upper = "upper",
///     }
/// }
/// let mut end = End::default();
/// assert!(end.select("upper") && end == End::Upper);
/// ```
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_meta])* $variant,)+ }

        impl $crate::registry::Choice for $name {
            fn select(&mut self, name: &str) -> bool {
                match name {
                    $($text => *self = $name::$variant,)+
                    _ => return false,
                }
                true
            }
            fn selected(&self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }
            fn names(&self) -> &'static [&'static str] {
                &[$($text),+]
            }
        }
    };
}
pub use crate::choice;

/// A setting's place in its configuration.
#[non_exhaustive]
pub enum Field<'a> {
    /// A number.
    Number(&'a mut f64),
    /// A span, set in milliseconds.
    Millis(&'a mut Span),
    /// A whole number from 0 to 2^32 - 1.
    Count(&'a mut u32),
    /// True or false.
    Flag(&'a mut bool),
    /// One of several words.
    Choice(&'a mut dyn Choice),
}
