//! Brings up the loopback device of the calling thread's network namespace, by netlink (RFC 3549;
//! linux/rtnetlink.h).

use std::io;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
};

/// The numbers of linux/netlink.h, linux/rtnetlink.h and linux/if.h.
const RTM_NEWLINK: u16 = 16;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST_AND_ACK: u16 = 0x01 | 0x04;
const IFF_UP: u32 = 1;
/// The loopback device is the first of every namespace.
const LOOPBACK: u32 = 1;

/// Bytes of `nlmsghdr` and `ifinfomsg`.
const REQUEST_BYTES: u32 = 16 + 16;

/// Sets the device up.
///
/// # Errors
/// The kernel refuses.
pub(super) fn bring_up() -> io::Result<()> {
    let route = SockProtocol::NetlinkRoute;
    let socket = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, route)?;
    sendto(socket.as_raw_fd(), &request(), &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
    let mut answer = [0; 256];
    let bytes = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    match outcome(&answer[..bytes]) {
        Some(0) => Ok(()),
        Some(error) => Err(Errno::from_raw(-error).into()),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// A request to change the flag "up" of the loopback device.
fn request() -> Vec<u8> {
    let mut request = Vec::with_capacity(REQUEST_BYTES as usize);
    request.extend(REQUEST_BYTES.to_ne_bytes());
    request.extend(RTM_NEWLINK.to_ne_bytes());
    request.extend(NLM_F_REQUEST_AND_ACK.to_ne_bytes());
    // Sequence number and port.
    request.extend([0; 8]);
    // Family and type.
    request.extend([0; 4]);
    for field in [LOOPBACK, IFF_UP, IFF_UP] {
        request.extend(field.to_ne_bytes());
    }
    request
}

/// The error number of an answer, 0 or negative; none if it is no answer.
fn outcome(answer: &[u8]) -> Option<i32> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let error = i32::from_ne_bytes(answer.get(16..20)?.try_into().ok()?);
    (kind == NLMSG_ERROR).then_some(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_tells_the_error_s_number() {
        let mut answer = [0; 36];
        answer[4..6].copy_from_slice(&2_u16.to_ne_bytes());
        assert_eq!(outcome(&answer), Some(0));
        answer[16..20].copy_from_slice(&(-1_i32).to_ne_bytes());
        assert_eq!(outcome(&answer), Some(-1));
        answer[4..6].copy_from_slice(&16_u16.to_ne_bytes());
        assert_eq!(outcome(&answer), None);
        assert_eq!(outcome(&answer[..10]), None);
    }

    #[test]
    fn a_request_is_as_long_as_it_says() {
        assert_eq!(request().len(), 32);
    }
}
