use std::borrow::Cow;

use crate::names::DEFAULT_NAME_MAX;

/// What sets one vendor apart from the dialect it speaks, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// What it wants to see again of its own words.
    pub echo: Cow<'static, [Echo]>,
    /// What ids of calls must look like.
    pub ids: IdRule,
    /// How long a tool's name may be, in characters.
    pub name_max: usize,
    /// An assistant message that only calls carries `"content": ""` instead of none.
    pub empty_content: bool,
    /// The field that limits the answer's length.
    pub max_tokens_field: &'static str,
    /// When `parallel_tool_calls` is sent.
    pub parallel_flag: ParallelFlag,
    /// It understands `stream_options`, which asks for usage at the end of a stream.
    pub stream_usage: bool,
    /// The word of `tool_choice` that demands a call.
    pub required_word: &'static str,
    /// Further members of every request: key and JSON text.
    pub extra_body: Cow<'static, [(&'static str, &'static str)]>,
}

impl Quirks {
    /// What most endpoints take.
    pub const DEFAULT: Self = Self {
        echo: Cow::Borrowed(&[]),
        ids: IdRule::Any,
        name_max: DEFAULT_NAME_MAX,
        empty_content: false,
        max_tokens_field: "max_tokens",
        parallel_flag: ParallelFlag::WhenOff,
        stream_usage: true,
        required_word: "required",
        extra_body: Cow::Borrowed(&[]),
    };
}

impl Default for Quirks {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// One key of an assistant message that goes back to the vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// For example `reasoning_content`.
    pub key: &'static str,
    /// On which messages.
    pub when: EchoWhen,
}

/// On which assistant messages a key goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoWhen {
    /// Where the vendor said it.
    Said,
    /// On every message that calls; this text where the vendor said nothing.
    Calls(&'static str),
    /// On every message; this text where the vendor said nothing.
    Always(&'static str),
}

/// What ids of calls must look like on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdRule {
    /// Anything but nothing.
    Any,
    /// Letters, digits, `_` and `-`, as Anthropic demands.
    Word,
    /// Exactly nine letters or digits, as Mistral demands.
    NineAlphanumeric,
    /// `functions.NAME:INDEX`, counted over the whole conversation, as Kimi's own template demands.
    Kimi,
}

/// When `parallel_tool_calls` is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParallelFlag {
    /// Never: the vendor does not know it.
    Never,
    /// Where several calls in one turn are not welcome; they are by default.
    WhenOff,
    /// Always, with either value: by default this vendor makes one call a turn.
    Always,
}
