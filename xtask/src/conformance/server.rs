//! The server under test while the suite talks to it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::shell::Fault;

use super::waiting::end_group;

/// Within what time it must listen.
const READY: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(20);

/// A server that listens on this machine. Dropping it ends it.
pub(crate) struct RunningServer {
    pub(crate) address: SocketAddr,
    child: Child,
}

impl RunningServer {
    /// Starts the program at a free port and waits until it listens.
    pub(crate) fn start(program: &Path) -> Result<Self, Fault> {
        let fault = |error: io::Error| Fault::new(format!("{}: {error}", program.display()));
        let address = free_address().map_err(fault)?;
        let mut command = Command::new(program);
        command.args(["--listen", &address.to_string()]).process_group(0).stdin(Stdio::null());
        let child = command.spawn().map_err(fault)?;
        let mut server = Self { address, child };
        let started = Instant::now();
        while TcpStream::connect(address).is_err() {
            if let Some(status) = server.child.try_wait().map_err(fault)? {
                return Err(Fault::new(format!("{} ended with {status}", program.display())));
            }
            if started.elapsed() > READY {
                return Err(Fault::new(format!("{} does not listen", program.display())));
            }
            thread::sleep(LOOK);
        }
        Ok(server)
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // Where it has ended already there is nothing left to do.
        let _ = end_group(&mut self.child);
    }
}

/// An address on this machine that nobody listens at.
pub(crate) fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}
