//! Streams do not depend on where the network cuts them.

use std::path::{Path, PathBuf};

use surehand_dialect::{Anthropic, Dialect, Gemini, NameRule, NameTable, OpenAi};
use surehand_model::{ModelEvent, ModelTurn};
use surehand_transport::SseDecoder;

fn streams(dialect: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../surehand-dialect/tests/golden").join(dialect);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "sse"))
        .collect();
    files.sort();
    files
}

fn read<'a>(dialect: &dyn Dialect, chunks: impl Iterator<Item = &'a [u8]>) -> (Vec<ModelEvent>, ModelTurn) {
    let names = NameTable::new(NameRule { max: 64, also: "", starts_with_letter: false });
    let (mut bytes, mut decoder) = (SseDecoder::new(1 << 20), dialect.stream(&names));
    let mut said = Vec::new();
    for chunk in chunks {
        for event in bytes.push(chunk).unwrap() {
            said.extend(decoder.event(Some(&event.event), &event.data).unwrap());
        }
    }
    let (last, turn) = decoder.finish().unwrap();
    said.extend(last);
    (said, turn)
}

#[test]
fn a_stream_cut_at_every_byte_gives_the_same_events() {
    let dialects: [(&str, Box<dyn Dialect>); 3] = [
        ("openai", Box::new(OpenAi::new())),
        ("anthropic", Box::new(Anthropic)),
        ("gemini", Box::new(Gemini)),
    ];
    let mut cuts = 0;
    for (name, dialect) in &dialects {
        for file in streams(name) {
            let bytes = std::fs::read(&file).unwrap();
            let whole = read(dialect.as_ref(), std::iter::once(&bytes[..]));
            for cut in 1..bytes.len() {
                let (head, tail) = bytes.split_at(cut);
                assert_eq!(
                    read(dialect.as_ref(), [head, tail].into_iter()),
                    whole,
                    "{} at {cut}",
                    file.display()
                );
                cuts += 1;
            }
            assert_eq!(read(dialect.as_ref(), bytes.chunks(1)), whole, "{}", file.display());
        }
    }
    assert!(cuts > 5000, "only {cuts} cuts were tried");
}
