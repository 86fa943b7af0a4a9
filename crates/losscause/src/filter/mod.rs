//! Running estimates that several algorithms share.
