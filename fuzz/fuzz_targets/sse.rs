//! A stream of events is the same wherever it is cut. The first byte says where to cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use surehand_transport::SseDecoder;

const LIMIT: usize = 1 << 12;

fuzz_target!(|bytes: &[u8]| {
    let [step, stream @ ..] = bytes else { return };
    let mut whole = SseDecoder::new(LIMIT);
    let expected = whole.push(stream);
    let mut decoder = SseDecoder::new(LIMIT);
    let mut events = Vec::new();
    let mut spent = false;
    for piece in stream.chunks(usize::from(*step).max(1)) {
        match decoder.push(piece) {
            Ok(more) => events.extend(more),
            Err(_) => {
                spent = true;
                break;
            }
        }
    }
    match expected {
        Ok(expected) => {
            assert!(!spent);
            assert_eq!(events, expected);
            assert_eq!((decoder.last_id(), decoder.retry()), (whole.last_id(), whole.retry()));
        }
        Err(_) => assert!(spent),
    }
    for event in &events {
        assert!(!event.event.is_empty() && event.data.len() <= 3 * LIMIT);
    }
});
