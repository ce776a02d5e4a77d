use surehand_mcp::BoxFuture;
use url::Url;

/// Takes a person to a login and brings back the answer.
pub trait Browser: Send + Sync {
    /// Gets ready to take the answer. `wanted` is the redirect address of an earlier registration, which is used again if it can
    /// be. An error is in words.
    fn prepare<'a>(&'a self, wanted: Option<&'a str>) -> BoxFuture<'a, Result<Box<dyn Visit>, String>>;
}

/// One login. Whatever waits for its answer ends when this is dropped.
pub trait Visit: Send {
    /// Where the answer will be sent: an address on this machine, the same text for registration, login and token.
    fn redirect_uri(&self) -> &str;

    /// Opens the address and waits for the answer: the query of the redirect, as it came. Ends by itself if nobody comes. An error is
    /// in words.
    fn go(self: Box<Self>, url: Url) -> BoxFuture<'static, Result<String, String>>;
}
