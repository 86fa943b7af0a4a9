//! Cookies: a sender that returns one has received a packet at its address, and the receiver had to
//! remember nothing (the idea of Photuris, RFC 2522, and of QUIC's Retry, RFC 9000, section 8.1).
//!
//! ```text
//! cookie = issued (ms, 8 bytes) | first 16 bytes of HMAC(secret, issued | packet size | nonce | address)
//! ```
//!
//! The secret is the receiver's own and random. A cookie is valid for 10 s and good for one stream:
//! each stream needs one that was issued after that of the stream before.

use std::net::{IpAddr, SocketAddr};

use losscause::{Span, Time};

use crate::auth::Tagger;
use crate::wire::control::{COOKIE_BYTES, Cookie, Nonce};

const VALID: Span = Span::from_secs(10);

/// Issues cookies and recognises them.
#[derive(Clone)]
pub(crate) struct Cookies {
    secret: Tagger,
    /// Valid cookies were issued after this, ms.
    used_up: Option<u64>,
}

/// What a cookie is bound to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) from: SocketAddr,
    pub(crate) nonce: &'a Nonce,
    pub(crate) packet_bytes: u16,
}

impl Cookies {
    pub(crate) fn new(secret: &[u8; 32]) -> Self {
        Self { secret: Tagger::new(secret), used_up: None }
    }

    pub(crate) fn issue(&self, now: Time, request: Request<'_>) -> Cookie {
        self.cookie(millis(now), request)
    }

    /// Whether `cookie` was issued for this request, not long ago, and for no stream yet. Then it
    /// is used up.
    pub(crate) fn redeem(&mut self, now: Time, request: Request<'_>, cookie: &Cookie) -> bool {
        let Some((issued, _)) = cookie.split_first_chunk::<8>() else { return false };
        let issued = u64::from_be_bytes(*issued);
        let now = millis(now);
        let fresh = issued <= now && now - issued <= millis(Time::ZERO + VALID);
        let unused = self.used_up.is_none_or(|used_up| issued > used_up);
        let valid = fresh && unused && self.is_own(issued, request, cookie);
        if valid {
            self.used_up = Some(issued);
        }
        valid
    }

    fn cookie(&self, issued: u64, request: Request<'_>) -> Cookie {
        let issued = issued.to_be_bytes();
        let digest = self.secret.digest(&[&issued, &message(request)]);
        let mut cookie = [0; COOKIE_BYTES];
        cookie[..8].copy_from_slice(&issued);
        cookie[8..].copy_from_slice(&digest[..COOKIE_BYTES - 8]);
        cookie
    }

    /// Takes the same time for every wrong cookie.
    fn is_own(&self, issued: u64, request: Request<'_>, cookie: &Cookie) -> bool {
        let mut signed = issued.to_be_bytes().to_vec();
        signed.extend(message(request));
        signed.extend(&cookie[8..]);
        self.secret.open(&signed).is_some()
    }
}

fn message(Request { from, nonce, packet_bytes }: Request<'_>) -> Vec<u8> {
    let mut message = packet_bytes.to_be_bytes().to_vec();
    message.extend(nonce);
    match from.ip() {
        IpAddr::V4(ip) => message.extend(ip.octets()),
        IpAddr::V6(ip) => message.extend(ip.octets()),
    }
    message.extend(from.port().to_be_bytes());
    message
}

/// Milliseconds since the zero of the receiver's clock.
fn millis(at: Time) -> u64 {
    (at.as_nanos() / 1_000_000).max(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn request(from: &str, nonce: &'static Nonce) -> Request<'static> {
        Request { from: from.parse().unwrap(), nonce, packet_bytes: 1200 }
    }

    #[test]
    fn a_cookie_is_good_once_for_its_address_and_for_ten_seconds() {
        let mut cookies = Cookies::new(&[1; 32]);
        let own = request("10.0.0.1:5000", &[1; 16]);
        let cookie = cookies.issue(at(1000), own);
        assert!(
            !cookies.redeem(at(1100), request("10.0.0.2:5000", &[1; 16]), &cookie),
            "another address"
        );
        assert!(
            !cookies.redeem(at(1100), request("10.0.0.1:5001", &[1; 16]), &cookie),
            "another port"
        );
        assert!(
            !cookies.redeem(at(1100), request("10.0.0.1:5000", &[2; 16]), &cookie),
            "another nonce"
        );
        assert!(
            !cookies.redeem(at(1100), Request { packet_bytes: 100, ..own }, &cookie),
            "another size"
        );
        assert!(!Cookies::new(&[2; 32]).redeem(at(1100), own, &cookie), "another receiver");
        assert!(!cookies.redeem(at(11_001), own, &cookie), "too old");
        assert!(!cookies.redeem(at(999), own, &cookie), "from the future");
        let mut later = cookie;
        later[7] += 1;
        assert!(!cookies.redeem(at(1100), own, &later), "with another time");
        assert!(cookies.redeem(at(11_000), own, &cookie));
        assert!(!cookies.redeem(at(11_000), own, &cookie), "a second time");
        let earlier = cookies.issue(at(500), own);
        assert!(!cookies.redeem(at(1100), own, &earlier), "issued before the one that was used");
    }
}
