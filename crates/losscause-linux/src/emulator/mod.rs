//! A link between two network namespaces, made of the simulator's queues and channels, with a real
//! clock.
//!
//! ```text
//! path        a flow's path and return path in a network, whose links are emulated
//! host        a network namespace with a TUN device, and a thread in it; loopback brings up its own device
//! link        the links between two TUN devices: reads, passes packets over the path, delivers, loses
//! stall       how long the hosts stood still, beside the link's own lateness
//! priority    the real-time priority of the link's thread
//! launcher    the first process of a host: starts a command, and takes all its processes along when it ends
//! run         hosts, link and commands of one run
//! record      counts, logs and captures what the link sees; goodput, summary
//! packet      the headers that the link reads, and the mark that it writes
//! ```
//!
//! [`emulate`] runs two commands over a path. [`enter`] and [`EmulatedLink`] are its parts, for
//! programs that open the sockets themselves.
//!
//! Both ends are network namespaces without names: the machine's own network is not touched, and
//! nothing is left behind when the program ends, however it ends.

mod clock;
mod error;
mod goodput;
mod host;
mod launcher;
mod link;
mod loopback;
mod packet;
mod path;
mod priority;
mod record;
mod run;
mod stall;
mod summary;

pub use clock::Clock;
pub use error::Error;
pub use host::{DEVICE, Host, MTU_BYTES, PEER, SENDER, device_drops, enter};
pub use launcher::{Output, intercept, itself, state_itself};
pub use link::{EmulatedLink, LinkReport, Sight};
pub use packet::Header;
pub use path::Path;
pub use priority::take_real_time_priority;
pub use record::{LOG_COLUMNS, Outputs, SNAP_BYTES};
pub use run::{PEER_VARIABLE, Setup, emulate};
pub use stall::{HostStall, StallWatch};
pub use summary::{DeviceDrops, DirectionSummary, Quantiles, Summary};
