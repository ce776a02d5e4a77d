//! A stream of lines is the same wherever it is cut, and no line is longer than the limit. The first byte says where to cut, the
//! second how long a line may be.
#![no_main]

use libfuzzer_sys::fuzz_target;
use surehand_transport::{Line, LineSplitter};

fuzz_target!(|bytes: &[u8]| {
    let [step, limit, stream @ ..] = bytes else { return };
    let limit = usize::from(*limit);
    let mut whole = LineSplitter::new(limit);
    let mut expected = whole.push(stream);
    expected.extend(whole.finish());
    let mut splitter = LineSplitter::new(limit);
    let mut lines = Vec::new();
    for piece in stream.chunks(usize::from(*step).max(1)) {
        lines.extend(splitter.push(piece));
    }
    lines.extend(splitter.finish());
    assert_eq!(lines, expected);
    for line in &lines {
        if let Line::Text(text) = line {
            // A byte that is no text becomes a character of three.
            assert!(text.len() <= 3 * limit && !text.contains('\n'));
        }
    }
});
