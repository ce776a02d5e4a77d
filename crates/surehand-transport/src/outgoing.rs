use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

/// Lines on their way out. Whoever sends only appends; one writer takes everything that has gathered at once, so many messages
/// cost one system call.
#[derive(Debug)]
pub(crate) struct Outgoing {
    gathered: Mutex<Vec<u8>>,
    ready: Notify,
    taken: Notify,
    /// Nothing more will be pushed.
    finished: AtomicBool,
    limit: usize,
}

/// The other side does not read: more bytes wait for it than are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    /// How many wait.
    pub(crate) waiting: usize,
}

impl Outgoing {
    /// Holds at most `limit` bytes beside a last message.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            gathered: Mutex::new(Vec::new()),
            ready: Notify::new(),
            taken: Notify::new(),
            finished: AtomicBool::new(false),
            limit,
        }
    }

    /// Appends one message as one line. A line break inside it can only stand between tokens, where a space means the same.
    pub(crate) fn push(&self, message: &str) -> Result<(), Full> {
        let waiting = self.lock().len();
        if waiting > self.limit {
            return Err(Full { waiting });
        }
        self.push_anyway(message);
        Ok(())
    }

    /// The same for what must not be lost; the caller sees to it that there is [`room`](Self::room).
    pub(crate) fn push_anyway(&self, message: &str) {
        {
            let mut gathered = self.lock();
            let start = gathered.len();
            gathered.extend_from_slice(message.as_bytes());
            for byte in &mut gathered[start..] {
                if matches!(byte, b'\n' | b'\r') {
                    *byte = b' ';
                }
            }
            gathered.push(b'\n');
        }
        self.ready.notify_one();
    }

    /// Waits until no more than the limit waits to be written. For one waiter.
    pub(crate) async fn room(&self) {
        while self.lock().len() > self.limit {
            self.taken.notified().await;
        }
    }

    /// Lets [`Outgoing::write_to`] end once everything is written. A writer that was dropped instead could leave half a message.
    pub(crate) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
        self.ready.notify_one();
    }

    /// Writes everything that is pushed, until [`Outgoing::finish`].
    ///
    /// # Errors
    ///
    /// What the stream answers.
    pub(crate) async fn write_to(&self, stream: &mut (impl AsyncWrite + Unpin)) -> std::io::Result<()> {
        let mut writing = Vec::new();
        loop {
            std::mem::swap(&mut writing, &mut *self.lock());
            if writing.is_empty() {
                if self.finished.load(Ordering::Acquire) {
                    return Ok(());
                }
                self.ready.notified().await;
                continue;
            }
            self.taken.notify_one();
            stream.write_all(&writing).await?;
            stream.flush().await?;
            writing.clear();
            writing.shrink_to(KEPT);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much of a buffer is kept for the next messages.
const KEPT: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_message_is_one_line_whatever_line_breaks_it_holds() {
        let outgoing = Outgoing::new(100);
        outgoing.push("{\n  \"a\": 1\r\n}").unwrap();
        outgoing.push("{}").unwrap();
        let mut written = Vec::new();
        outgoing.finish();
        outgoing.write_to(&mut written).await.unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), "{   \"a\": 1  }\n{}\n");
    }

    #[test]
    fn a_server_that_does_not_read_is_noticed() {
        let outgoing = Outgoing::new(5);
        outgoing.push("123456").unwrap();
        assert_eq!(outgoing.push("7"), Err(Full { waiting: 7 }));
    }
}
