use std::time::Duration;

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::{ChildSpec, Ended, SpawnError, Tail, spawn};

/// How long and how much a one-shot child may.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// From start to end; the child and all it started are killed then.
    pub timeout: Duration,
    /// Bytes kept of each of the two output streams. The child may write more; it is read and dropped.
    pub max_output: usize,
}

/// What a one-shot child said, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// How it ended.
    pub ended: Ended,
    /// The first `max_output` bytes of its standard output.
    pub stdout: Vec<u8>,
    /// How many bytes of the standard output were dropped after those.
    pub stdout_dropped: u64,
    /// The last `max_output` bytes of its error output, where tools write what went wrong last.
    pub stderr: Vec<u8>,
    /// How many bytes of the error output were dropped before those.
    pub stderr_dropped: u64,
}

/// Why a one-shot child gave no [`Output`].
#[derive(Debug, Error)]
pub enum RunError {
    /// It did not start.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// It was killed because its time was over.
    #[error("`{command}` did not end within {} s", after.as_secs_f64())]
    Timeout {
        /// As it was written.
        command: String,
        /// The time it had.
        after: Duration,
    },
}

/// Runs a child to its end: hands it `stdin`, collects its output. An exit code other than 0 is an [`Output`], not an error.
///
/// Dropping the future kills the child and all it started.
///
/// # Errors
///
/// [`RunError::Spawn`] where it did not start, [`RunError::Timeout`] where it had to be killed.
pub async fn run(spec: &ChildSpec, stdin: &[u8], limits: RunLimits) -> Result<Output, RunError> {
    let mut child = spawn(spec)?;
    let input = child.stdin.take();
    let (output, errors) = (child.stdout.take(), child.stderr.take());

    let feed = async {
        if let Some(mut input) = input {
            // A child may end, or close its input, without having read all of it; its exit code tells whether that is bad.
            drop(input.write_all(stdin).await);
        }
    };
    let exchange = async {
        // The end of the child ends what it left behind, so that no forgotten helper holds the streams open.
        let (ended, (), (stdout, stdout_dropped), (stderr, stderr_dropped)) = tokio::join!(
            child.wait(),
            feed,
            read_head(output, limits.max_output),
            read_tail(errors, limits.max_output)
        );
        Output { ended, stdout, stdout_dropped, stderr, stderr_dropped }
    };
    let outcome = timeout(limits.timeout, exchange).await;
    match outcome {
        Ok(output) => Ok(output),
        Err(_) => {
            child.kill().await;
            Err(RunError::Timeout { command: spec.command.clone(), after: limits.timeout })
        }
    }
}

async fn read_head(stream: Option<impl AsyncRead + Unpin>, limit: usize) -> (Vec<u8>, u64) {
    let (mut kept, mut dropped) = (Vec::new(), 0);
    read_all(stream, |bytes| {
        let room = bytes.len().min(limit - kept.len());
        kept.extend_from_slice(&bytes[..room]);
        dropped += (bytes.len() - room) as u64;
    })
    .await;
    (kept, dropped)
}

async fn read_tail(stream: Option<impl AsyncRead + Unpin>, limit: usize) -> (Vec<u8>, u64) {
    let mut tail = Tail::new(limit);
    read_all(stream, |bytes| tail.push(bytes)).await;
    (tail.bytes(), tail.dropped())
}

async fn read_all(stream: Option<impl AsyncRead + Unpin>, mut take: impl FnMut(&[u8])) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; 16 * 1024];
    // A stream that breaks has nothing more to say, as one that ended.
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        take(&buffer[..count]);
    }
}
