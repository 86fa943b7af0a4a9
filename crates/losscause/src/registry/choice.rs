//! Settings that are words, numbers or flags, reachable by key.

use crate::Span;

/// An enum whose values have names in scenario files.
pub(crate) trait Choice {
    /// Becomes the value of that name; false if there is none.
    fn select(&mut self, name: &str) -> bool;
    /// The name of the present value.
    fn selected(&self) -> &'static str;
    /// All names.
    fn names(&self) -> &'static [&'static str];
}

/// Declares such an enum.
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
pub(crate) use choice;

/// A setting's place in its configuration.
pub(crate) enum Field<'a> {
    Number(&'a mut f64),
    /// A span, set in milliseconds.
    Millis(&'a mut Span),
    Count(&'a mut u32),
    Flag(&'a mut bool),
    Choice(&'a mut dyn Choice),
}
