//! Papers: what they publish ([`record`]), how it is measured again ([`reproduce`], [`model`]), and
//! how the two compare ([`score`], [`claims`]).

pub mod claims;
pub mod model;
pub mod record;
pub mod reproduce;
pub mod score;
