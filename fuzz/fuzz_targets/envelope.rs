//! A message that is read is written again under the same id with the same payload, and reads as the same message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use surehand_mcp::{
    EnvelopeFault, EnvelopeLimits, Message, parse_message, split_batch, write_notification, write_request,
    write_result,
};

const LIMITS: EnvelopeLimits = EnvelopeLimits { bytes: 1 << 16, depth: 32, values: 1 << 10 };

fn check(text: &str) {
    let (written, payload) = match parse_message(text, LIMITS) {
        Ok(Message::Request { id, method, params }) => {
            (write_request(&id, &method, params.map(|raw| raw.get())), params)
        }
        Ok(Message::Notification { method, params }) => {
            (write_notification(&method, params.map(|raw| raw.get())), params)
        }
        Ok(Message::Answer { id: Some(id), outcome: Ok(result) }) => {
            (write_result(&id, result.get()), Some(result))
        }
        Ok(Message::Answer { .. }) => return,
        Err(fault) => {
            // Whatever is wrong can be told.
            let _ = (fault.to_rpc_error(), fault.id());
            return;
        }
    };
    let again =
        match parse_message(&written, EnvelopeLimits { bytes: usize::MAX, values: usize::MAX, ..LIMITS }) {
            Ok(Message::Request { params, .. } | Message::Notification { params, .. }) => params,
            Ok(Message::Answer { outcome: Ok(result), .. }) => Some(result),
            other => panic!("{written} is read as {other:?}"),
        };
    assert_eq!(again.map(|raw| raw.get()), payload.map(|raw| raw.get()));
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    check(text);
    if matches!(parse_message(text, LIMITS), Err(EnvelopeFault::Batch)) {
        for item in split_batch(text, LIMITS).unwrap_or_default() {
            check(item);
        }
    }
});
