//! The servers as processes, and what the system says about them.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Whose server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Floor,
    Ours,
    Peer,
}

/// How it serves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Stdio,
    Http,
    /// With sessions, where that is another setting.
    Sessions,
}

impl Kind {
    fn program(self) -> PathBuf {
        let name = match self {
            Self::Floor => "bench-floor",
            Self::Ours => "bench-ours",
            Self::Peer => "bench-peer",
        };
        std::env::current_exe().unwrap().with_file_name(name)
    }

    pub(crate) fn is_built(self) -> bool {
        self.program().exists()
    }

    pub(crate) fn command(self, mode: Mode) -> Command {
        let mut command = Command::new(self.program());
        command.arg(match mode {
            Mode::Stdio => "stdio",
            Mode::Http => "http",
            Mode::Sessions => "sessions",
        });
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        command
    }
}

/// A server behind an address; ended with this.
pub(crate) struct HttpServer {
    pub(crate) address: SocketAddr,
    child: Child,
}

impl HttpServer {
    pub(crate) fn start(kind: Kind, mode: Mode) -> Self {
        // The floor knows one way only.
        let mode = if kind == Kind::Peer { mode } else { Mode::Http };
        let mut child = kind.command(mode).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { address: line.trim().parse().unwrap(), child }
    }

    pub(crate) fn cpu_seconds(&self) -> f64 {
        cpu_seconds(self.child.id())
    }

    /// Resident, in KB.
    pub(crate) fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a process has used of the processors, its threads that have ended included.
pub(crate) fn cpu_seconds(id: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    ticks / 100.0
}
