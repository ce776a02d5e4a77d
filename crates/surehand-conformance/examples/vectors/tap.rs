//! The server's side, with every line written down.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use surehand_transport::serve_streams;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex};
use tokio_util::sync::CancellationToken;

use crate::handler::Everything;

/// Serves over standard streams. Lines go to `log`, marked with who sent them.
pub(crate) async fn serve(log: &Path, revision: &str) {
    let file = Arc::new(Mutex::new(std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap()));
    let note = |who: &'static str, file: Arc<Mutex<std::fs::File>>| {
        move |line: &str| file.lock().unwrap().write_all(format!("{who}\t{line}\n").as_bytes()).unwrap()
    };
    let (from_client, noted) = (note("client", file.clone()), revision.to_owned());
    let from_server = note("server", file);
    let (mut to_server, server_input) = duplex(1 << 20);
    let (server_output, to_client) = duplex(1 << 20);
    let inward = async move {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        while let Ok(Some(mut line)) = lines.next_line().await {
            if line.contains(r#""method":"initialize""#) {
                line = line.replace("2025-11-25", &noted);
            }
            from_client(&line);
            if to_server.write_all(format!("{line}\n").as_bytes()).await.is_err() {
                break;
            }
        }
        drop(to_server);
    };
    let outward = async move {
        let mut lines = BufReader::new(to_client).lines();
        let mut output = tokio::io::stdout();
        while let Ok(Some(line)) = lines.next_line().await {
            from_server(&line);
            if output.write_all(format!("{line}\n").as_bytes()).await.is_err()
                || output.flush().await.is_err()
            {
                break;
            }
        }
    };
    let serving =
        serve_streams(Arc::new(Everything::default()), server_input, server_output, CancellationToken::new());
    let (ended, (), ()) = tokio::join!(serving, inward, outward);
    ended.unwrap();
}
