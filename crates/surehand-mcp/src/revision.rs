use std::fmt;

use Revision::*;

/// A revision of the protocol, oldest first. Nothing outside this file knows how one is spelled, and nothing compares
/// spellings: ask [`Revision::has`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// The first: `initialize`, HTTP+SSE.
    V2024_11_05,
    /// Streamable HTTP, batches, tool annotations, audio.
    V2025_03_26,
    /// Structured output, elicitation, the version header; batches gone.
    V2025_06_18,
    /// Icons, experimental tasks, URL elicitation.
    V2025_11_25,
    /// Stateless: every request says who asks and in which revision.
    V2026_07_28,
}

/// Something that exists in some revisions and not in others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// No handshake: each request carries revision, capabilities and identity in `_meta`, and no session exists.
    Stateless,
    /// `server/discover`.
    Discover,
    /// `initialize`, `notifications/initialized`, `ping`, `logging/setLevel`.
    Handshake,
    /// Arrays of messages.
    Batch,
    /// The Streamable HTTP transport.
    StreamableHttp,
    /// `Mcp-Session-Id`.
    Sessions,
    /// `MCP-Protocol-Version` on each request after the handshake.
    VersionHeader,
    /// `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*`, which repeat what the body says.
    RoutingHeaders,
    /// `resultType` in each result.
    ResultType,
    /// `ttlMs` and `cacheScope` in lists, reads and discovery.
    CacheHints,
    /// `annotations` on tools.
    ToolAnnotations,
    /// `audio` content blocks.
    AudioContent,
    /// `title` beside `name`.
    Titles,
    /// `outputSchema` and `structuredContent`, with an object at the root.
    StructuredOutput,
    /// Structured output of any JSON type.
    StructuredOutputOfAnyType,
    /// `resource_link` content blocks.
    ResourceLinks,
    /// `elicitation/create`: a server asks the person behind the client.
    Elicitation,
    /// The client says in which ways it may be asked.
    ElicitationModes,
    /// The client says what its model may be asked beyond a plain completion.
    SamplingModes,
    /// An error may name addresses that the person has to open first.
    AddressErrors,
    /// Both sides name extensions among their capabilities. Named by the last revision with a handshake too, where hosts and
    /// servers do so in practice.
    Extensions,
    /// The `completions` capability; before it, completion was there without being told.
    CompletionsCapability,
    /// `message` in reports of progress.
    ProgressMessages,
    /// `icons` on whatever has a name.
    Icons,
    /// Tasks of the core protocol, which later became an extension.
    CoreTasks,
    /// Resources that do not exist have an error code of their own.
    ResourceNotFoundCode,
    /// A broken event stream is taken up again by `GET` and `Last-Event-ID`.
    StreamResumption,
    /// A stream begins with an event of no data, and may be closed and taken up again before its answer is there.
    PrimingEvents,
}

impl Feature {
    /// The first and the last revision that have it; no last means that it is still there.
    const fn span(self) -> (Revision, Option<Revision>) {
        match self {
            Self::Handshake | Self::ResourceNotFoundCode => (V2024_11_05, Some(V2025_11_25)),
            Self::CoreTasks | Self::PrimingEvents => (V2025_11_25, Some(V2025_11_25)),
            Self::Batch => (V2025_03_26, Some(V2025_03_26)),
            Self::Sessions | Self::StreamResumption => (V2025_03_26, Some(V2025_11_25)),
            Self::StreamableHttp
            | Self::ToolAnnotations
            | Self::AudioContent
            | Self::CompletionsCapability
            | Self::ProgressMessages => (V2025_03_26, None),
            Self::VersionHeader
            | Self::Titles
            | Self::StructuredOutput
            | Self::ResourceLinks
            | Self::Elicitation => (V2025_06_18, None),
            Self::ElicitationModes | Self::SamplingModes | Self::Extensions | Self::Icons => {
                (V2025_11_25, None)
            }
            Self::AddressErrors => (V2025_11_25, Some(V2025_11_25)),
            Self::Stateless
            | Self::Discover
            | Self::RoutingHeaders
            | Self::ResultType
            | Self::CacheHints
            | Self::StructuredOutputOfAnyType => (V2026_07_28, None),
        }
    }
}

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] = [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];
    /// The newest.
    pub const LATEST: Self = V2026_07_28;
    /// The newest that opens with `initialize`.
    pub const LATEST_LEGACY: Self = V2025_11_25;
    /// What an HTTP request without a version header speaks. Source: MCP 2025-06-18, "Protocol Version Header".
    pub const WITHOUT_HEADER: Self = V2025_03_26;

    /// The date that names it on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            V2024_11_05 => "2024-11-05",
            V2025_03_26 => "2025-03-26",
            V2025_06_18 => "2025-06-18",
            V2025_11_25 => "2025-11-25",
            V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that name, exactly.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// Whether it has this.
    pub fn has(self, feature: Feature) -> bool {
        let (first, last) = feature.span();
        first <= self && last.is_none_or(|last| self <= last)
    }

    /// Whether each request stands for itself, without handshake or session.
    pub fn is_modern(self) -> bool {
        self.has(Feature::Stateless)
    }

    /// Whether `text` names a stateless revision, be it one that came after this program: a date later than that of the last
    /// revision with a handshake.
    pub fn names_modern(text: &str) -> bool {
        let is_date = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        is_date && text > Self::LATEST_LEGACY.as_str()
    }

    /// The newest of the named revisions that is stateless (`modern`) or opens with a handshake (not `modern`).
    /// Names that mean nothing to us are passed over.
    pub fn newest_of<'a>(names: impl IntoIterator<Item = &'a str>, modern: bool) -> Option<Self> {
        names.into_iter().filter_map(Self::parse).filter(|revision| revision.is_modern() == modern).max()
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_revision_is_found_by_its_own_name_and_by_no_other() {
        for revision in Revision::ALL {
            assert_eq!(Revision::parse(revision.as_str()), Some(revision));
        }
        assert_eq!(["2025-11-24", "draft", "", "1.0.0"].map(Revision::parse), [None; 4]);
    }

    #[test]
    fn batches_live_in_one_revision_and_sessions_in_three() {
        let with = |feature| Revision::ALL.into_iter().filter(move |r| r.has(feature)).collect::<Vec<_>>();
        assert_eq!(with(Feature::Batch), [V2025_03_26]);
        assert_eq!(with(Feature::Sessions), [V2025_03_26, V2025_06_18, V2025_11_25]);
        assert_eq!(with(Feature::Stateless), [V2026_07_28]);
        assert_eq!(with(Feature::Handshake), [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25]);
    }

    #[test]
    fn the_newest_common_revision_is_chosen_within_an_era() {
        let names = ["2025-03-26", "2027-01-01", "2025-11-25", "2026-07-28"];
        assert_eq!(Revision::newest_of(names, true), Some(V2026_07_28));
        assert_eq!(Revision::newest_of(names, false), Some(V2025_11_25));
        assert_eq!(Revision::newest_of(["2027-01-01"], true), None);
    }
}
