use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use super::{FetchEvent, FetchProgress, FetchWatcher};

/// How much is copied between two looks at whether anybody still waits, in bytes.
const STRETCH: u64 = 32 << 20;
/// How often progress is told at most.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Where the unfinished download of `path` lies.
pub(crate) fn part_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// An unfinished download, open for appending and locked against other processes.
pub(crate) struct PartFile {
    file: File,
    path: PathBuf,
    length: u64,
    total: u64,
    began: (Instant, u64),
    told: Option<Instant>,
}

impl PartFile {
    /// Opens or makes it. [`io::ErrorKind::WouldBlock`] where another process has it.
    pub(super) fn open(path: &Path, total: u64) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            // A file system without locks is no reason to do without the model.
            Err(TryLockError::Error(_)) => {}
        }
        let mut length = file.metadata()?.len();
        if length > total {
            file.set_len(0)?;
            length = 0;
        }
        Ok(Self { file, path: path.to_owned(), length, total, began: (Instant::now(), length), told: None })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that are there.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Bytes of the whole file.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Throws away what is there.
    pub(super) fn start_over(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.length = 0;
        self.began = (Instant::now(), 0);
        Ok(())
    }

    /// Writes everything out to the disk.
    pub(super) fn close(&mut self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Appends bytes that have just come. More than the whole file is an error.
    pub(super) fn append(&mut self, bytes: &[u8], watcher: FetchWatcher<'_>) -> io::Result<()> {
        if self.length + bytes.len() as u64 > self.total {
            return Err(io::Error::other("more bytes came than the file has"));
        }
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        self.tell(watcher);
        Ok(())
    }

    /// Appends what a reader gives, on a thread that may block.
    pub(super) async fn append_reader<O>(&mut self, open: O, watcher: FetchWatcher<'_>) -> io::Result<()>
    where
        O: FnOnce() -> io::Result<Box<dyn Read + Send>> + Send + 'static,
    {
        let mut reader = tokio::task::spawn_blocking(open).await.map_err(io::Error::other)??;
        loop {
            let mut file = self.file.try_clone()?;
            let room = (self.total - self.length).min(STRETCH);
            let copy = move || {
                let copied = io::copy(&mut (&mut reader).take(room), &mut file)?;
                Ok::<_, io::Error>((reader, copied))
            };
            let (back, copied) = tokio::task::spawn_blocking(copy).await.map_err(io::Error::other)??;
            reader = back;
            self.length += copied;
            self.tell(watcher);
            if copied < room || self.length == self.total {
                return Ok(());
            }
        }
    }

    fn tell(&mut self, watcher: FetchWatcher<'_>) {
        let now = Instant::now();
        let is_whole = self.length == self.total;
        if !is_whole && self.told.is_some_and(|before| now - before < TELL_EVERY) {
            return;
        }
        self.told = Some(now);
        let seconds = (now - self.began.0).as_secs_f64();
        let rate = if seconds > 0.0 { (self.length - self.began.1) as f64 / seconds } else { 0.0 };
        let left = (self.total - self.length) as f64 / rate;
        watcher(FetchEvent::Progress(FetchProgress {
            bytes: self.length,
            total: self.total,
            rate,
            left: Duration::try_from_secs_f64(left).ok(),
        }));
    }
}
