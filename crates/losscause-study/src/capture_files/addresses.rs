//! The addresses of flows. The senders' network is 10.0.0.0/9, the receivers' 10.128.0.0/9; flow
//! `n` has the host `n + 1` in both.

use std::net::{Ipv4Addr, SocketAddrV4};

/// Address and port of the sending and the receiving end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) sender: SocketAddrV4,
    pub(super) receiver: SocketAddrV4,
}

impl Ends {
    /// Flow number `flow` at these ports.
    pub(super) fn of(flow: usize, sender_port: u16, receiver_port: u16) -> Self {
        let address = |network: u8| {
            let host = (flow as u32 + 1) & 0x7f_ffff;
            Ipv4Addr::from(u32::from_be_bytes([10, network, 0, 0]) | host)
        };
        Self {
            sender: SocketAddrV4::new(address(0), sender_port),
            receiver: SocketAddrV4::new(address(128), receiver_port),
        }
    }
}
