use std::path::Path;

use surehand_provider::BoxFuture;

use super::part::PartFile;
use super::*;

const CONTENT: &[u8] = b"the whole model";
const SHA256: &str = "f8ed39269996b8f7df3bc99796c0d4ef8bcd42b3d5ae1bdecef8f5b1ca443990";

/// Gives what its turn says, from the present end of the file on, and breaks off where it says so.
struct Fake {
    name: &'static str,
    content: &'static [u8],
    breaks_at: Option<usize>,
}

impl Source for Fake {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn append<'a>(
        &'a self,
        part: &'a mut PartFile,
        watcher: FetchWatcher<'a>,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let from = part.length() as usize;
            let to = self.breaks_at.unwrap_or(self.content.len());
            part.append(&self.content[from..to.max(from)], watcher).map_err(|error| error.to_string())?;
            if self.breaks_at.is_some() { Err("the line is cut".to_owned()) } else { Ok(()) }
        })
    }
}

fn fake(name: &'static str, content: &'static [u8], breaks_at: Option<usize>) -> Box<dyn Source> {
    Box::new(Fake { name, content, breaks_at })
}

async fn run(sources: &[Box<dyn Source>], path: &Path) -> (Result<PathBuf, FetchError>, Vec<FetchEvent>) {
    let wanted = Wanted { name: "local/test", size: CONTENT.len() as u64, sha256: SHA256 };
    let mut events = Vec::new();
    let result = fetch_from(sources, &wanted, path, &mut |event| events.push(event)).await;
    (result, events)
}

fn trying(events: &[FetchEvent]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|event| match event {
            FetchEvent::Trying { source } => Some(source.as_str()),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn the_first_source_that_has_the_file_ends_the_search() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/model.gguf");
    let sources = [fake("a", CONTENT, None), fake("b", CONTENT, None)];
    let (result, events) = run(&sources, &path).await;
    assert_eq!(result.unwrap(), path);
    assert_eq!(std::fs::read(&path).unwrap(), CONTENT);
    assert_eq!(trying(&events), ["a"]);
    assert!(
        matches!(&events[1], FetchEvent::Progress(progress) if (progress.bytes, progress.total) == (15, 15))
    );
    assert_eq!(events[2], FetchEvent::Checking);
    assert!(!part_path(&path).exists());
}

#[tokio::test]
async fn a_source_goes_on_where_the_one_before_broke_off() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.gguf");
    let sources = [fake("broken", CONTENT, Some(6)), fake("whole", CONTENT, None)];
    let (result, events) = run(&sources, &path).await;
    assert_eq!(std::fs::read(result.unwrap()).unwrap(), CONTENT);
    assert_eq!(trying(&events), ["broken", "whole"]);
}

#[tokio::test]
async fn the_next_attempt_goes_on_from_the_part_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.gguf");
    let (result, _) = run(&[fake("broken", CONTENT, Some(6))], &path).await;
    assert!(matches!(result, Err(FetchError::Sources { .. })));
    assert_eq!(std::fs::read(part_path(&path)).unwrap(), &CONTENT[..6]);
    // Only the rest is right here: had the first bytes been asked for again, the hash would be wrong.
    let (result, _) = run(&[fake("rest", b"??????ole model", None)], &path).await;
    assert_eq!(std::fs::read(result.unwrap()).unwrap(), CONTENT);
}

#[tokio::test]
async fn rotten_bytes_of_an_earlier_attempt_are_thrown_away_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.gguf");
    std::fs::write(part_path(&path), b"rotten").unwrap();
    let (result, _) = run(&[fake("a", CONTENT, None)], &path).await;
    assert_eq!(std::fs::read(result.unwrap()).unwrap(), CONTENT);
}

#[tokio::test]
async fn when_all_fail_the_error_names_every_source_and_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.gguf");
    let sources = [
        fake("wrong", b"the other model", None),
        fake("long", b"the whole model and more", None),
        fake("short", b"the", None),
        fake("cut", CONTENT, Some(2)),
        Box::new(LocalFile { path: dir.path().join("absent") }),
    ];
    let (result, _) = run(&sources, &path).await;
    let text = result.unwrap_err().to_string().replace(&dir.path().display().to_string(), "DIR");
    let hash_line = text.lines().nth(1).unwrap();
    assert!(hash_line.starts_with("  - wrong: its SHA-256 is ") && hash_line.ends_with(SHA256), "{text}");
    let rest: Vec<&str> = text.lines().skip(2).collect();
    assert_eq!(
        rest,
        [
            "  - long: more bytes came than the file has",
            "  - short: it gave 3 bytes instead of 15",
            "  - cut: the line is cut",
            "  - the file DIR/absent: No such file or directory (os error 2)",
            "put the file at DIR/model.gguf by hand, or try again",
        ]
    );
    assert!(!path.exists());
}

#[tokio::test]
async fn a_file_on_this_machine_is_taken_whole_or_from_the_middle() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.gguf");
    let given = dir.path().join("given");
    std::fs::write(&given, CONTENT).unwrap();
    std::fs::write(part_path(&path), &CONTENT[..3]).unwrap();
    let (result, _) = run(&[Box::new(LocalFile { path: given })], &path).await;
    assert_eq!(std::fs::read(result.unwrap()).unwrap(), CONTENT);
}

#[tokio::test]
async fn a_file_that_is_there_is_not_fetched_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.gguf");
    std::fs::write(&path, CONTENT).unwrap();
    let (result, events) = run(&[], &path).await;
    assert_eq!((result.unwrap(), events), (path, vec![]));
}

#[tokio::test]
async fn two_at_once_do_not_write_into_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.gguf");
    let _held = PartFile::open(&part_path(&path), 15).unwrap();
    let (result, _) = run(&[fake("a", CONTENT, None)], &path).await;
    assert!(matches!(result, Err(FetchError::Busy { .. })));
}
