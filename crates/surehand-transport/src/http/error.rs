use std::error::Error;
use std::time::Duration;

use thiserror::Error;

/// Why a request got no answer, or an answer could not be read to its end.
///
/// No variant shows a URL's path, query or user part, a header or a body: keys may be in them.
#[derive(Debug, Error)]
pub enum HttpError {
    /// The URL is not one to send a request to.
    #[error("`{origin}` is no http or https address")]
    UnsupportedUrl {
        /// Scheme, host and port.
        origin: String,
    },
    /// The address guard refused the address.
    #[error("`{host}` leads to an address that is not public, and only public ones are allowed here")]
    AddressRefused {
        /// The host named in the URL.
        host: String,
    },
    /// No connection came about: no such name, nobody listening, a certificate that is not trusted.
    #[error("`{origin}` could not be reached ({reason})")]
    Unreachable {
        /// Scheme, host and port.
        origin: String,
        /// The last link of the chain of causes.
        reason: String,
    },
    /// The peer said nothing for too long.
    #[error("`{origin}` gave no answer within {} s", after.as_secs_f64())]
    Timeout {
        /// Scheme, host and port.
        origin: String,
        /// How long it was silent.
        after: Duration,
    },
    /// The connection broke while the answer was read.
    #[error("the connection to `{origin}` broke ({reason})")]
    Broken {
        /// Scheme, host and port.
        origin: String,
        /// The last link of the chain of causes.
        reason: String,
    },
    /// The answer is larger than the caller takes.
    #[error("the answer of `{origin}` is larger than {limit} bytes")]
    TooLarge {
        /// Scheme, host and port.
        origin: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The answer sends us on and on.
    #[error("`{origin}` redirects more than {limit} times")]
    TooManyRedirects {
        /// Scheme, host and port of the first request.
        origin: String,
        /// How many are followed.
        limit: usize,
    },
    /// The answer sends us somewhere we do not go.
    #[error("`{origin}` redirects to {target}, which is not followed")]
    RedirectRefused {
        /// Scheme, host and port.
        origin: String,
        /// Scheme, host and port of the target, and why where it helps.
        target: String,
    },
    /// A header's name or value has characters that no header may have.
    #[error("the header `{name}` has characters that are not allowed")]
    BadHeader {
        /// The name of the header.
        name: String,
    },
    /// The proxy setting is no URL that can be used.
    #[error("the proxy setting is not usable ({reason})")]
    Proxy {
        /// What is wrong with it.
        reason: String,
    },
    /// The system has no certificates to trust.
    #[error(
        "this system has no CA certificates to check `https` with ({reason}); install the package `ca-certificates`, or set \
         SSL_CERT_FILE"
    )]
    NoCertificates {
        /// The loader's words.
        reason: String,
    },
}

/// The words of the innermost cause, which say what really happened.
pub(super) fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

/// The first cause of a given type in the chain.
pub(super) fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        cause = error.source();
    }
    None
}
