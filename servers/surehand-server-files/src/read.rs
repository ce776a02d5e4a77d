use std::io::{self, Read, Seek, SeekFrom};

use cap_std::fs::{File, OpenOptions, OpenOptionsExt};
use surehand_mcp::{ToolFailure, ToolOutput, nothing_found};
use surehand_model::ContentBlock;

use crate::roots::{Place, Roots};

/// Which part of a file is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    /// Lines.
    Head(usize),
    /// Lines.
    Tail(usize),
}

/// What files that are no text begin with.
const KINDS: [(&[u8], &str); 9] = [
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\xff\xfe", "text in UTF-16"),
];

/// The text of a file. A note of its own says what was left out, so that the text stays as it is in the file.
pub(crate) fn read_text(
    roots: &Roots,
    path: &str,
    part: Part,
    limit: usize,
) -> Result<ToolOutput, ToolFailure> {
    let place = roots.place(path)?;
    let (mut file, size) = open_file(roots, &place)?;
    let failed = |error: io::Error| roots.explain(&place, &error);

    // One byte more than is shown tells whether there is more.
    let mut bytes = Vec::new();
    let mut skipped = 0;
    if let Part::Tail(_) = part {
        skipped = size.saturating_sub(limit as u64);
        file.seek(SeekFrom::Start(skipped)).map_err(failed)?;
    }
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    let cut_at_end = bytes.len() > limit;
    bytes.truncate(limit);

    let text = as_text(&bytes, skipped > 0, cut_at_end).ok_or_else(|| not_text(&place, &bytes, size))?;
    let (text, lines_left) = match part {
        Part::Whole => (text, false),
        Part::Head(lines) => first_lines(text, lines),
        Part::Tail(lines) => last_lines(whole_lines(text, skipped > 0), lines),
    };
    let note = match part {
        Part::Whole if cut_at_end => Some(format!(
            "Only the first {limit} of {size} bytes are shown. Use `head` or `tail` to see chosen lines."
        )),
        Part::Head(_) if !lines_left && cut_at_end => {
            Some(format!("The file is long: only the first {limit} of {size} bytes were looked at."))
        }
        Part::Tail(_) if !lines_left && skipped > 0 => {
            Some(format!("The file is long: only the last {limit} of {size} bytes were looked at."))
        }
        _ => None,
    };
    if text.is_empty() {
        return Ok(ToolOutput::text(nothing_found("The file is empty.")));
    }
    let mut output = ToolOutput::text(text);
    output.content.extend(note.map(|note| ContentBlock::Text(format!("[{note}]"))));
    Ok(output)
}

/// Opens a regular file and nothing else: a pipe would never end, a device may do something when it is opened.
fn open_file(roots: &Roots, place: &Place) -> Result<(File, u64), ToolFailure> {
    let failed = |error: io::Error| roots.explain(place, &error);
    let metadata = place.dir.metadata(&place.inside).map_err(failed)?;
    let wrong_kind = |what: &str| {
        ToolFailure::new(format!("`{}` is {what}, not a file.", place.shown.display())).code("not_a_file")
    };
    if metadata.is_dir() {
        return Err(wrong_kind("a folder").suggest("Use list_directory to see what is in it."));
    }
    if !metadata.is_file() {
        return Err(wrong_kind("a device, pipe or socket"));
    }
    let mut options = OpenOptions::new();
    // Should it be exchanged for a pipe this very moment, opening it must not wait.
    options.read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let file = place.dir.open_with(&place.inside, &options).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(wrong_kind("a device, pipe or socket"));
    }
    Ok((file, metadata.len()))
}

/// The bytes as text, whole characters only where they were cut out of a longer text. `None` for what is no UTF-8 text.
fn as_text(bytes: &[u8], cut_at_start: bool, cut_at_end: bool) -> Option<&str> {
    if bytes.contains(&0) {
        return None;
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let start = if cut_at_start { bytes.iter().take(4).position(|byte| byte & 0xc0 != 0x80)? } else { 0 };
    let bytes = &bytes[start..];
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        // `error_len` is absent when the text merely ends inside a character.
        Err(fault) if cut_at_end && fault.error_len().is_none() => {
            std::str::from_utf8(&bytes[..fault.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

fn not_text(place: &Place, bytes: &[u8], size: u64) -> ToolFailure {
    let kind = KINDS.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| *kind);
    let kind = kind.unwrap_or(if bytes.contains(&0) { "binary data" } else { "not UTF-8 text" });
    ToolFailure::new(format!(
        "`{}` is {kind} of {size} bytes and cannot be read as text.",
        place.shown.display()
    ))
    .code("not_text")
}

/// The first lines, and whether more follow.
fn first_lines(text: &str, lines: usize) -> (&str, bool) {
    match text.split_inclusive('\n').take(lines).map(str::len).sum::<usize>() {
        end if end < text.len() => (&text[..end], true),
        _ => (text, false),
    }
}

/// Without the rest of a line whose start was not read, unless there is nothing else.
fn whole_lines(text: &str, starts_inside: bool) -> &str {
    match text.split_once('\n') {
        Some((_, rest)) if starts_inside && !rest.is_empty() => rest,
        _ => text,
    }
}

/// The last lines, and whether more stand before them.
fn last_lines(text: &str, lines: usize) -> (&str, bool) {
    let taken: usize = text.split_inclusive('\n').rev().take(lines).map(str::len).sum();
    let start = text.len() - taken;
    (&text[start..], start > 0)
}
