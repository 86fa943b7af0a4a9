//! Prints scenarios of every kind into a directory.
use losscause_experiments::abroad::{KINDS, Role};
fn main() {
    let mut args = std::env::args().skip(1);
    let dir = args.next().unwrap();
    let from: u64 = args.next().unwrap().parse().unwrap();
    let n: u64 = args.next().unwrap().parse().unwrap();
    for kind in &KINDS {
        let role = if kind.role == Role::Fitted { "fit" } else { "held" };
        for seed in from..from + n {
            let name = format!("{dir}/{role}.{}.{seed}.toml", kind.name.replace(' ', "_"));
            std::fs::write(name, kind.draw(seed).scenario("none")).unwrap();
        }
    }
}
