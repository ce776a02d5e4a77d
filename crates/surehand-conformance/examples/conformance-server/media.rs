use surehand_model::ContentBlock;

/// A PNG of one red pixel, in base64.
pub(crate) const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
/// A WAV of one millisecond of silence, in base64.
const SILENCE: &str = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";

pub(crate) fn picture() -> ContentBlock {
    ContentBlock::Image { data: PIXEL.to_owned(), mime_type: "image/png".to_owned() }
}

pub(crate) fn sound() -> ContentBlock {
    ContentBlock::Audio { data: SILENCE.to_owned(), mime_type: "audio/wav".to_owned() }
}
