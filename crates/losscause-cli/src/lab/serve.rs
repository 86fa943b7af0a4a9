//! Static files over HTTP/1.1, one request per connection.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::served::Timed;

/// Longest request that is read, bytes.
const MOST_BYTES: u64 = 16 * 1024;

/// From the beginning of a connection to the end of its answer, however the client divides it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Every page gets its parts from here and from nowhere else, and no other page may frame it. The
/// pages of the documentation have scripts within them; the lab's page forbids those by a stricter
/// policy of its own.
const POLICY: &str = "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; \
                      style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; object-src 'none'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// Reads one request from `stream` and answers it from the files below `site`, whose links are
/// resolved.
///
/// # Errors
/// The client is gone, or too slow.
pub(super) fn answer(stream: &TcpStream, site: &Path, address: SocketAddr) -> io::Result<()> {
    answer_until(Instant::now() + PATIENCE, stream, site, address)
}

fn answer_until(
    deadline: Instant,
    stream: &TcpStream,
    site: &Path,
    address: SocketAddr,
) -> io::Result<()> {
    let stream = Timed { stream, deadline };
    let mut head = Vec::new();
    let mut reader = BufReader::new(stream.take(MOST_BYTES));
    while !head.ends_with(b"\r\n\r\n") {
        if reader.read_until(b'\n', &mut head)? == 0 {
            return respond(
                stream,
                "400 Bad Request",
                Content::sentence("the request is cut or too long\n"),
                true,
            );
        }
    }
    let (status, content, with_body) = reply(&String::from_utf8_lossy(&head), site, address);
    respond(stream, status, content, with_body)
}

/// What is sent, apart from the status.
#[derive(Debug)]
struct Content {
    kind: &'static str,
    body: Body,
    /// Where the page is instead.
    location: Option<String>,
}

#[derive(Debug)]
enum Body {
    Sentence(&'static str),
    /// A file and its length, bytes. It is sent piece by piece.
    File(File, u64),
}

impl Content {
    fn sentence(text: &'static str) -> Self {
        Self { kind: kind(Path::new("error.txt")), body: Body::Sentence(text), location: None }
    }
}

/// The answer to a request: status, content, and whether the content is sent (HEAD asks for its
/// length only).
fn reply(head: &str, site: &Path, address: SocketAddr) -> (&'static str, Content, bool) {
    let mut lines = head.lines();
    let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let &[method, target, version] = words.as_slice() else {
        return ("400 Bad Request", Content::sentence("the request is not HTTP\n"), true);
    };
    let with_body = method != "HEAD";
    let refuse = |status, sentence| (status, Content::sentence(sentence), with_body);
    if !version.starts_with("HTTP/1.") {
        return refuse("505 HTTP Version Not Supported", "expected HTTP/1.1\n");
    }
    if !matches!(method, "GET" | "HEAD") {
        return refuse("405 Method Not Allowed", "expected GET or HEAD\n");
    }
    // A foreign page whose name was made to lead here must not read anything.
    let mut hosts = lines
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    if !hosts.next().is_some_and(|(_, host)| is_ours(host.trim(), address.port())) {
        return refuse("421 Misdirected Request", "expected the host 127.0.0.1 or localhost\n");
    }
    if hosts.next().is_some() {
        return refuse("400 Bad Request", "expected one host\n");
    }
    let path = target.split(['?', '#']).next().unwrap_or_default();
    match find(site, path) {
        None => refuse("404 Not Found", "there is no such page\n"),
        // Relative links of a folder's page need the slash.
        Some(file) if file.is_dir() && !path.ends_with('/') => {
            let content = Content {
                // Two slashes at the beginning would name another host.
                location: Some(format!("/{}/", path.trim_start_matches('/'))),
                ..Content::sentence("the page is a folder\n")
            };
            ("301 Moved Permanently", content, with_body)
        }
        Some(place) => {
            let file = if place.is_dir() { place.join("index.html") } else { place };
            match open(&file) {
                Some((opened, bytes)) => {
                    let body = Body::File(opened, bytes);
                    ("200 OK", Content { kind: kind(&file), body, location: None }, with_body)
                }
                None => refuse("404 Not Found", "there is no such page\n"),
            }
        }
    }
}

/// Opens a regular file, and tells its length in bytes. A pipe is not opened: it may have no end.
fn open(file: &Path) -> Option<(File, u64)> {
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let opened = File::open(file).ok()?;
    let about = opened.metadata().ok()?;
    about.is_file().then_some((opened, about.len()))
}

/// Whether a request's host, with the port unless it is HTTP's own, is this computer.
fn is_ours(host: &str, port: u16) -> bool {
    /// HTTP's own port.
    const HTTP: u16 = 80;
    let name = match host.strip_suffix(&format!(":{port}")) {
        None if port == HTTP => host,
        None => return false,
        Some(name) => name,
    };
    ["127.0.0.1", "[::1]", "localhost"].iter().any(|ours| name.eq_ignore_ascii_case(ours))
}

/// The file or folder below `site` that a request's path names. Nothing outside is found, by dots
/// or by links either.
fn find(site: &Path, path: &str) -> Option<PathBuf> {
    let path = decoded(path.strip_prefix('/')?)?;
    let mut place = site.to_owned();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        // Hidden files, "." and "..", and what other systems read as a separator or a drive.
        if part.starts_with('.') || part.contains(['\\', ':', '\0']) {
            return None;
        }
        place.push(part);
    }
    place.canonicalize().ok().filter(|place| place.starts_with(site))
}

/// With `%20` and the like decoded; none if it is no text then.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes().iter();
    while let Some(&byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(*rest.next()?).to_digit(16);
            bytes.push((digit()? * 16 + digit()?) as u8);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The media type of a file. With `nosniff` a browser trusts it.
fn kind(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        _ => "text/plain; charset=utf-8",
    }
}

fn respond(
    mut stream: Timed<'_>,
    status: &str,
    content: Content,
    with_body: bool,
) -> io::Result<()> {
    let Content { kind, body, location } = content;
    let location =
        location.map_or_else(String::new, |location| format!("Location: {location}\r\n"));
    let bytes = match &body {
        Body::Sentence(text) => text.len() as u64,
        Body::File(_, bytes) => *bytes,
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {bytes}\r\n{location}Content-Security-Policy: {POLICY}\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-cache\r\n\
         Connection: close\r\n\r\n",
    );
    stream.write_all(head.as_bytes())?;
    match body {
        _ if !with_body => {}
        Body::Sentence(text) => stream.write_all(text.as_bytes())?,
        // A file that has grown since is sent up to the length that was told.
        Body::File(file, bytes) => _ = io::copy(&mut file.take(bytes), &mut stream)?,
    }
    stream.flush()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A site with one page, beside a file that is not part of it.
    fn site() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let site = folder.path().join("site");
        fs::create_dir_all(site.join("lab")).expect("folders");
        fs::write(folder.path().join("secret.txt"), "secret").expect("a file");
        fs::write(site.join(".hidden"), "secret").expect("a file");
        fs::write(site.join("index.html"), "front").expect("a file");
        fs::write(site.join("lab/index.html"), "lab").expect("a file");
        fs::write(site.join("lab/a b.wasm"), "module").expect("a file");
        let site = site.canonicalize().expect("it exists");
        (folder, site)
    }

    fn ask(site: &Path, request: &str) -> (String, Content, bool) {
        let address = SocketAddr::from(([127, 0, 0, 1], 4180));
        let (status, content, with_body) = reply(request, site, address);
        (status.to_owned(), content, with_body)
    }

    /// What is sent.
    fn body(content: Content) -> Vec<u8> {
        let mut bytes = Vec::new();
        match content.body {
            Body::Sentence(text) => bytes.extend(text.as_bytes()),
            Body::File(mut file, _) => _ = file.read_to_end(&mut bytes).expect("a file"),
        }
        bytes
    }

    fn get(site: &Path, path: &str) -> (String, Content) {
        let (status, content, _) =
            ask(site, &format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:4180\r\n\r\n"));
        (status, content)
    }

    #[test]
    fn files_and_folders_are_served_with_their_types() {
        let (_folder, site) = site();
        let (status, content) = get(&site, "/");
        assert_eq!(
            (status.as_str(), content.kind, body(content)),
            ("200 OK", "text/html; charset=utf-8", b"front".to_vec())
        );
        assert_eq!(body(get(&site, "/lab/?a=b").1), b"lab");
        assert_eq!(get(&site, "/lab/a%20b.wasm").1.kind, "application/wasm");
        let (status, content) = get(&site, "/lab");
        assert_eq!(
            (status.as_str(), content.location.as_deref()),
            ("301 Moved Permanently", Some("/lab/"))
        );
        assert_eq!(get(&site, "/lab/none.js").0, "404 Not Found");
    }

    #[test]
    fn nothing_outside_the_site_is_served() {
        let (_folder, site) = site();
        for path in [
            "/../secret.txt",
            "/lab/../../secret.txt",
            "/%2e%2e/secret.txt",
            "/..%2fsecret.txt",
            "/%2e%2e%2fsecret.txt",
            "/..%5csecret.txt",
            "//../secret.txt",
            "../secret.txt",
            "/.hidden",
            "/lab/%00",
            "/%zz",
            "/%",
            "/%ff",
            "/index.html/",
        ] {
            let (status, content) = get(&site, path);
            assert!(path == "/index.html/" || status == "404 Not Found", "{path}: {status}");
            assert!(!body(content).starts_with(b"secret"), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_outside_is_not_followed() {
        let (folder, site) = site();
        std::os::unix::fs::symlink(folder.path().join("secret.txt"), site.join("link.txt"))
            .expect("a link");
        assert_eq!(get(&site, "/link.txt").0, "404 Not Found");
    }

    #[test]
    fn other_methods_hosts_and_protocols_are_refused() {
        let (_folder, site) = site();
        let status = |request: &str| ask(&site, request).0;
        assert_eq!(
            status("POST / HTTP/1.1\r\nHost: 127.0.0.1:4180\r\n\r\n"),
            "405 Method Not Allowed"
        );
        assert_eq!(
            status("GET / HTTP/1.1\r\nHost: evil.example:4180\r\n\r\n"),
            "421 Misdirected Request"
        );
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), "421 Misdirected Request");
        assert_eq!(
            status("GET / HTTP/2\r\nHost: 127.0.0.1:4180\r\n\r\n"),
            "505 HTTP Version Not Supported"
        );
        assert_eq!(status("nonsense\r\n\r\n"), "400 Bad Request");
        let (status, content, with_body) =
            ask(&site, "HEAD / HTTP/1.1\r\nHost: localhost:4180\r\n\r\n");
        assert_eq!(
            (status.as_str(), body(content).len(), with_body),
            ("200 OK", 5, false),
            "the length is told, and nothing is sent"
        );
    }

    #[test]
    fn this_computer_s_own_names_are_hosts_in_any_letters() {
        let (_folder, site) = site();
        let status = |host: &str| ask(&site, &format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")).0;
        for host in ["127.0.0.1:4180", "localhost:4180", "LOCALHOST:4180", "[::1]:4180"] {
            assert_eq!(status(host), "200 OK", "{host}");
        }
        for host in ["localhost", "localhost:80", "[::2]:4180", "localhost.evil:4180", ":4180"] {
            assert_eq!(status(host), "421 Misdirected Request", "{host}");
        }
        assert_eq!(status("localhost:4180\r\nHost: evil"), "400 Bad Request");
        assert!(is_ours("localhost", 80) && is_ours("localhost:80", 80));
    }

    #[test]
    fn a_folder_s_page_is_never_on_another_host() {
        let (_folder, site) = site();
        for path in ["/lab", "//lab", "///lab"] {
            let (status, content) = get(&site, path);
            let told = (status.as_str(), content.location.as_deref());
            assert_eq!(told, ("301 Moved Permanently", Some("/lab/")), "{path}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_is_no_page() {
        let (_folder, site) = site();
        let made = std::process::Command::new("mkfifo").arg(site.join("pipe.html")).status();
        assert!(made.expect("mkfifo").success());
        assert_eq!(get(&site, "/pipe.html").0, "404 Not Found");
    }

    #[test]
    fn a_request_whose_time_is_over_is_not_read_or_answered() {
        let (_folder, site) = site();
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let mut client = TcpStream::connect(address).expect("a client");
        let (stream, _) = listener.accept().expect("it is there");
        // A byte now and then does not prolong it: the deadline is that of the request.
        client.write_all(b"G").expect("a byte");
        let over = answer_until(Instant::now(), &stream, &site, address).expect_err("it is over");
        assert_eq!(over.kind(), io::ErrorKind::TimedOut);
        let head = format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n");
        client.write_all(&head.as_bytes()[1..]).expect("the rest");
        let in_time = Instant::now() + Duration::from_secs(600);
        // The first byte was not taken.
        answer_until(in_time, &stream, &site, address).expect("an answer");
        drop(stream);
        let mut told = String::new();
        client.read_to_string(&mut told).expect("an answer");
        assert!(told.starts_with("HTTP/1.1 200 OK") && told.ends_with("front"), "{told}");
    }
}
