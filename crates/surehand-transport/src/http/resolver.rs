use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::is_public;
use super::client::AddressGuard;

/// Turns a name into addresses.
pub(super) trait Lookup: Send + Sync {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The system's own resolver.
pub(super) struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            Ok(tokio::net::lookup_host((host.as_str(), 0)).await?.map(|address| address.ip()).collect())
        })
    }
}

/// Hands the connector only addresses that the guard lets through.
///
/// The addresses judged are the very ones connected to, so a name that answers differently the second time gains nothing.
pub(super) struct GuardedResolver {
    pub(super) lookup: Arc<dyn Lookup>,
    pub(super) guard: AddressGuard,
    /// The names of proxies, which the user configured and which usually have private addresses.
    pub(super) exempt: Vec<String>,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let is_guarded = self.guard == AddressGuard::PublicOnly && !self.exempt.contains(&host);
        let lookup = self.lookup.lookup(host.clone());
        Box::pin(async move {
            let mut addresses = lookup.await?;
            if addresses.is_empty() {
                return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address").into());
            }
            if is_guarded {
                addresses.retain(|address| is_public(*address));
                if addresses.is_empty() {
                    return Err(Refused { host }.into());
                }
            }
            // Port 0 is replaced by the port of the URL.
            let addresses: Addrs = Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

/// No address of the name may be used. Found again in the chain of the connector's error.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) host: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` leads to an address that is not public", self.host)
    }
}

impl Error for Refused {}
