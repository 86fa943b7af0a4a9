//! The processes that have watched connections open.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::kernel::record::Fields;

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Process {
    /// Its number (PID).
    pub number: u32,
    /// Its name, of at most 15 bytes.
    pub name: String,
}

/// Size of a `struct lc_holder`.
const HOLDER: usize = 32;

/// Reads the list of `lc_holders`, by socket.
pub(super) fn read(bytes: &[u8]) -> BTreeMap<u64, Process> {
    let mut processes = BTreeMap::new();
    for row in bytes.chunks_exact(HOLDER) {
        let mut fields = Fields::of(row);
        let socket = fields.u64();
        let number = fields.u32();
        let name: [u8; 16] = fields.take();
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        processes.entry(socket).or_insert(Process { number, name });
    }
    processes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_process_of_a_socket_is_its_own() {
        let row = |socket: u64, number: u32, name: &str| {
            let mut bytes = [socket.to_ne_bytes().to_vec(), number.to_ne_bytes().to_vec()].concat();
            bytes.extend(name.as_bytes());
            bytes.resize(HOLDER, 0);
            bytes
        };
        let bytes = [row(7, 100, "nginx"), row(7, 101, "nginx"), row(8, 5, "ssh")].concat();
        let processes = read(&bytes);
        assert_eq!(processes[&7], Process { number: 100, name: "nginx".to_owned() });
        assert_eq!(processes[&8].name, "ssh");
    }
}
