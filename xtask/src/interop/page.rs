//! A web page on this machine, for the server that fetches pages.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

/// What stands on it.
pub(crate) const WORDS: &str = "Nothing but these words stands on the page.";

/// Serves it under every path, for as long as this process lives.
pub(crate) fn serve() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // Whoever hangs up early has had what it wanted.
            let _ = answer(&mut stream);
        }
    });
    Ok(address)
}

fn answer(stream: &mut std::net::TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let body = format!(
        "<html><head><title>Page</title></head><body><article><p>{WORDS}</p></article></body></html>"
    );
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}
