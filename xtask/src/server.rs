//! A server on this machine, for as long as somebody talks to it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::shell::Fault;
use crate::waiting::end_group;

/// Within what time it must listen.
const READY: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(20);

/// A server that listens on this machine. Dropping it ends it.
pub(crate) struct RunningServer {
    pub(crate) address: SocketAddr,
    child: Child,
}

impl RunningServer {
    /// Starts a program that was told to listen at this address, and waits until it does.
    pub(crate) fn start(command: &mut Command, address: SocketAddr) -> Result<Self, Fault> {
        let name = command.get_program().to_string_lossy().into_owned();
        let fault = |error: io::Error| Fault::new(format!("{name}: {error}"));
        let child = command.process_group(0).stdin(Stdio::null()).spawn().map_err(fault)?;
        let mut server = Self { address, child };
        let started = Instant::now();
        while TcpStream::connect(address).is_err() {
            if let Some(status) = server.child.try_wait().map_err(fault)? {
                return Err(Fault::new(format!("{name} ended with {status}")));
            }
            if started.elapsed() > READY {
                return Err(Fault::new(format!("{name} does not listen at {address}")));
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
pub(crate) fn free_address() -> Result<SocketAddr, Fault> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address.map_err(|error| Fault::new(format!("no address of this machine is free: {error}")))
}
