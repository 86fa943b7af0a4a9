//! `losscause lab`: a site served on loopback.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

fn lab(arguments: &[&str], folder: &std::path::Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_losscause"));
    command.arg("lab").args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

#[test]
fn an_unbuilt_site_is_refused_with_the_command_to_build_it() {
    let place = tempfile::tempdir().unwrap();
    let refused = [
        (&["--site", "nowhere"][..], "--site: no index.html in nowhere, "),
        (&[], "lab: no index.html in target/site, web/dist, "),
    ];
    for (arguments, place_told) in refused {
        let output = lab(arguments, place.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        let expected = "expected a built site: in the repository `cargo xtask lab` builds web/dist, `cargo xtask site` target/site with the documentation; elsewhere unpack losscause-VERSION-site.tar.gz and name its folder with --site";
        assert!(said.contains(place_told) && said.contains(expected), "{said}");
        assert_eq!(said.lines().count(), 1);
    }
}

#[test]
fn a_taken_port_is_refused() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("index.html"), "front").unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = lab(&["--site", ".", "--port", &port], place.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(&format!("--port {port}: cannot be listened on")), "{said}");
}

#[test]
fn pages_are_served_to_this_computer_with_policy_and_types() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("index.html"), "front").unwrap();
    fs::write(place.path().join("lab.wasm"), [0, b'a', b's', b'm']).unwrap();
    let mut child =
        lab(&["--site", ".", "--port", "0"], place.path()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let host = line.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    let ask = |request: &str| {
        let mut stream = TcpStream::connect(&host).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let page = ask(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    let module = ask(&format!("GET /lab.wasm HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    let outside = ask(&format!("GET /../etc/passwd HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    let too_long = ask(&"x".repeat(16 * 1024));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(host.starts_with("127.0.0.1:"), "{line}");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.ends_with("\r\n\r\nfront"), "{page}");
    assert!(
        page.contains("Content-Security-Policy: default-src 'self'; ")
            && page.contains("frame-ancestors 'self'")
    );
    assert!(module.contains("\r\nContent-Type: application/wasm\r\n"), "{module}");
    assert!(outside.starts_with("HTTP/1.1 404 "), "{outside}");
    assert!(too_long.starts_with("HTTP/1.1 400 "), "{too_long}");
}
