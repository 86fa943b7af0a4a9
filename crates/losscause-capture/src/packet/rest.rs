//! What is left of a frame behind the headers that were read.

use super::Unread;
use crate::frames::Frame;

/// The part of a frame from some header on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest<'a> {
    /// What was captured of it.
    pub(super) bytes: &'a [u8],
    /// The part's length on the link, bytes: more than the packet if the link pads short frames.
    pub(super) original: u32,
}

impl<'a> Rest<'a> {
    #[inline]
    pub(super) fn of(frame: &Frame<'a>) -> Self {
        Self { bytes: frame.data, original: frame.original_bytes }
    }

    /// The part's first `N` bytes.
    #[inline]
    pub(super) fn first<const N: usize>(self) -> Result<&'a [u8; N], Unread> {
        self.bytes.first_chunk().ok_or_else(|| self.ends_before(N))
    }

    /// The part behind the first `bytes` bytes.
    #[inline]
    pub(super) fn skip(self, bytes: usize) -> Result<Self, Unread> {
        match self.bytes.get(bytes..) {
            Some(rest) => {
                Ok(Self { bytes: rest, original: self.original.saturating_sub(bytes as u32) })
            }
            None => Err(self.ends_before(bytes)),
        }
    }

    /// The part's first `N` bytes and what is behind them.
    #[inline]
    pub(super) fn split<const N: usize>(self) -> Result<(&'a [u8; N], Self), Unread> {
        Ok((self.first()?, self.skip(N)?))
    }

    /// The part before byte `bytes`, as a header's field for the length says.
    #[inline]
    pub(super) fn up_to(self, bytes: u32) -> Self {
        let captured = self.bytes.len().min(bytes as usize);
        Self { bytes: &self.bytes[..captured], original: self.original.min(bytes) }
    }

    /// Why byte `bytes` is not there: it was not captured, or a length contradicts another.
    #[cold]
    pub(super) fn ends_before(self, bytes: usize) -> Unread {
        if self.original as usize >= bytes { Unread::Cut } else { Unread::Malformed }
    }
}

/// The header that stands next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Header {
    /// Two addresses, then an EtherType.
    Ethernet,
    /// What an EtherType announces.
    EtherType(u16),
    /// IP of either version.
    Ip,
}

/// A header and what is left of the frame from there on.
pub(super) type Next<'a> = (Header, Rest<'a>);

pub(super) fn be16(high: u8, low: u8) -> u16 {
    u16::from_be_bytes([high, low])
}
