//! A server behind an address that does one harmful thing. It prints its address; `GET /gone` says how many of its harmful answers
//! nobody reads any more.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::hostile::{deep, large, opened, text, unknown};

pub(crate) fn serve(name: &str) -> ExitCode {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    let gone = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming().flatten() {
        let (name, gone) = (name.to_owned(), gone.clone());
        std::thread::spawn(move || {
            // Whoever hangs up ends the connection, and nothing else.
            let _ = converse(&name, stream, &gone);
        });
    }
    ExitCode::SUCCESS
}

fn converse(name: &str, mut out: TcpStream, gone: &AtomicUsize) -> std::io::Result<()> {
    let mut input = BufReader::new(out.try_clone()?);
    loop {
        let (mut first, mut length) = (String::new(), 0);
        if input.read_line(&mut first)? == 0 {
            return Ok(());
        }
        loop {
            let mut line = String::new();
            input.read_line(&mut line)?;
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        input.read_exact(&mut body)?;
        if first.starts_with("GET /gone") {
            respond(&mut out, "200 OK", "text/plain", &gone.load(Ordering::Acquire).to_string())?;
            continue;
        }
        let message: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let id = &message["id"];
        match message["method"].as_str() {
            Some("initialize") => respond(&mut out, "200 OK", "application/json", &opened(id))?,
            Some("tools/call") if message["params"]["name"] == "plain" => {
                respond(&mut out, "200 OK", "application/json", &text(id, "plain"))?;
            }
            Some("tools/call") => {
                let harmed = harm(name, id, &mut out);
                if harmed.is_err() {
                    gone.fetch_add(1, Ordering::AcqRel);
                }
                return harmed;
            }
            Some(_) if !id.is_null() => respond(&mut out, "200 OK", "application/json", &unknown(id))?,
            Some(_) => respond(&mut out, "202 Accepted", "text/plain", "")?,
            None => respond(&mut out, "405 Method Not Allowed", "text/plain", "")?,
        }
    }
}

/// Ends with an error once the other side has hung up.
fn harm(name: &str, id: &serde_json::Value, out: &mut TcpStream) -> std::io::Result<()> {
    match name {
        "endless event" => {
            stream(out)?;
            out.write_all(b"data: ")?;
            crate::hostile::endless(out)
        }
        "endless small events" => {
            stream(out)?;
            let event = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n".repeat(1_000);
            loop {
                out.write_all(event.as_bytes())?;
            }
        }
        "100 MB" => respond(out, "200 OK", "application/json", &large(id)),
        "100 MB event" => {
            stream(out)?;
            out.write_all(format!("data: {}\n\n", large(id)).as_bytes())
        }
        "100,000 deep" => respond(out, "200 OK", "application/json", &deep(id)),
        "answers twice" => {
            stream(out)?;
            let event = |words| format!("data: {}\n\n", text(id, words));
            out.write_all((event("first") + &event("second")).as_bytes())
        }
        // Never answers: reads until the other side hangs up.
        _ => {
            let mut byte = [0];
            while out.read(&mut byte)? > 0 {}
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    }
}

fn stream(out: &mut TcpStream) -> std::io::Result<()> {
    out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
}

fn respond(out: &mut TcpStream, status: &str, kind: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n");
    out.write_all((head + body).as_bytes())
}
