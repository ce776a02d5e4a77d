use std::fs;
use std::path::Path;

use super::FetchError;
use crate::LocalModel;

/// Bytes of memory that programs may still take, where the system tells.
pub fn free_memory() -> Option<u64> {
    available(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

pub(super) fn check_memory(model: &LocalModel) -> Result<(), FetchError> {
    match free_memory() {
        Some(free) if free < model.memory => {
            Err(FetchError::Memory { name: model.name.to_owned(), needed: model.memory, free })
        }
        _ => Ok(()),
    }
}

/// Whether `needed` more bytes fit beside `path`. Where the system does not tell, they are taken to fit.
pub(super) fn check_disk(path: &Path, needed: u64) -> Result<(), FetchError> {
    let dir = path.parent().unwrap_or(path);
    let Ok(facts) = rustix::fs::statvfs(dir) else { return Ok(()) };
    let free = facts.f_bavail.saturating_mul(facts.f_frsize);
    if free < needed { Err(FetchError::Disk { dir: dir.to_owned(), needed, free }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_in_bytes() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), Some(2_097_152));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
    }

    #[test]
    fn a_file_larger_than_the_disk_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let error = check_disk(&dir.path().join("m"), u64::MAX).unwrap_err();
        assert!(matches!(error, FetchError::Disk { needed: u64::MAX, .. }), "{error}");
        assert!(check_disk(&dir.path().join("m"), 1).is_ok());
    }
}
