//! A whole server over standard streams; the tests start it as a process.

#[path = "../tests/it/echo.rs"]
mod echo;

use tokio_util::sync::CancellationToken;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), surehand_transport::ServeError> {
    surehand_transport::serve_stdio(echo::Echo::handler(), CancellationToken::new()).await
}
