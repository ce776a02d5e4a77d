//! A server over standard streams that does one harmful thing. It leads a group: a helper of it would outlive it.

use std::io::{self, BufRead, Write};
use std::process::{Command, ExitCode};

/// Serves as `name` says; the ids of its processes go to the file `pids`.
pub(crate) fn serve(name: &str, pids: &str) -> ExitCode {
    let mut helper = Command::new("/bin/sleep").arg("600").spawn().unwrap();
    std::fs::write(pids, format!("{} {}", std::process::id(), helper.id())).unwrap();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(message) = serde_json::from_str::<serde_json::Value>(&line) else { continue };
        let id = &message["id"];
        let is_plain = message["params"]["name"] == "plain";
        let written = match message["method"].as_str() {
            Some("initialize") => writeln!(out, "{}", opened(id)),
            Some("tools/call") if is_plain => writeln!(out, "{}", text(id, "plain")),
            Some("tools/call") => harm(name, id, &mut out),
            Some(_) if !id.is_null() => writeln!(out, "{}", unknown(id)),
            _ => Ok(()),
        };
        if written.and_then(|()| out.flush()).is_err() {
            break;
        }
    }
    // It does not end by itself.
    let _ = helper.wait();
    ExitCode::SUCCESS
}

fn harm(name: &str, id: &serde_json::Value, out: &mut impl Write) -> io::Result<()> {
    match name {
        "endless line" => endless(out),
        "100 MB" => writeln!(out, "{}", large(id)),
        "100,000 deep" => writeln!(out, "{}", deep(id)),
        "1 GiB of stderr" => {
            let lines = "log line\n".repeat(1 << 13);
            let mut stderr = io::stderr().lock();
            for _ in 0..((1 << 30) / lines.len()) + 1 {
                stderr.write_all(lines.as_bytes())?;
            }
            writeln!(out, "{}", text(id, "done"))
        }
        "answers twice" => {
            writeln!(out, "{}", text(id, "first"))?;
            writeln!(out, "{}", text(id, "second"))
        }
        _ => Ok(()),
    }
}

/// Bytes without end.
pub(crate) fn endless(out: &mut impl Write) -> io::Result<()> {
    let bytes = vec![b'x'; 1 << 16];
    loop {
        out.write_all(&bytes)?;
    }
}

pub(crate) fn opened(id: &serde_json::Value) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"hostile","version":"1"}}}}}}"#
    )
}

pub(crate) fn text(id: &serde_json::Value, text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
}

pub(crate) fn large(id: &serde_json::Value) -> String {
    text(id, &"x".repeat(100_000_000))
}

pub(crate) fn deep(id: &serde_json::Value) -> String {
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"structuredContent":{open}{close}}}}}"#)
}

pub(crate) fn unknown(id: &serde_json::Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"?"}}}}"#)
}
