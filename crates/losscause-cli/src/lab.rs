//! `losscause lab`: serves the lab and the documentation to this computer's browser.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use losscause_study::InputError;

use crate::failure::Failure;
use crate::{output, served};

mod serve;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder to serve. Default: target/site, web/dist, or share/losscause/site beside the
    /// program's folder.
    #[arg(long, value_name = "FOLDER")]
    site: Option<PathBuf>,
    /// Port on this computer; 0 takes any that is free.
    #[arg(long, default_value_t = 4180)]
    port: u16,
}

/// Where a built site is looked for, in this order; the last one is relative to the program's
/// folder.
const BUILT: [&str; 2] = ["target/site", "web/dist"];
const INSTALLED: &str = "../share/losscause/site";
/// How to get one.
const BUILD: &str = "in the repository `cargo xtask lab` builds web/dist, `cargo xtask site` target/site with the documentation; \
                     elsewhere unpack losscause-VERSION-site.tar.gz and name its folder with --site";

/// Serves until it is interrupted.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let site = site(arguments.site.as_deref())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port));
    let bound = listener.and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (address, listener) = bound.map_err(|error| {
        let problem = format!("cannot be listened on ({error}), expected a free port, such as 0");
        InputError::option(format!("--port {}", arguments.port), problem)
    })?;
    let page = if site.join("lab/index.html").is_file() { "lab/" } else { "" };
    // The address first: a program that waits for it may stop reading.
    let place = site.display();
    let _ = output::text(&format!("http://{address}/{page}  serves {place}; Ctrl-C ends it\n"));
    served::for_ever(listener, |stream| serve::answer(stream, &site, address));
    Ok(())
}

/// The folder that is served, with its links resolved.
fn site(named: Option<&Path>) -> Result<PathBuf, InputError> {
    let beside =
        std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join(INSTALLED)));
    let places = match named {
        Some(folder) => vec![folder.to_owned()],
        None => BUILT.iter().map(PathBuf::from).chain(beside).collect(),
    };
    let found = places.iter().find(|folder| folder.join("index.html").is_file());
    found.and_then(|folder| folder.canonicalize().ok()).ok_or_else(|| {
        let folders: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        let problem =
            format!("no index.html in {}, expected a built site: {BUILD}", folders.join(", "));
        InputError::option(if named.is_some() { "--site" } else { "lab" }, problem)
    })
}
