use surehand_model::RawJson;

use crate::meta::push_member;
use crate::revision::{Feature, Revision};

/// What a client offers to servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    /// In which ways a server may ask the person behind the client.
    pub elicitation: ElicitationModes,
    /// How a server may have the client's model complete something; none where it may not.
    pub sampling: Option<SamplingModes>,
    /// A server may ask for the folders that the client works in.
    pub roots: bool,
    /// What may take long can be asked as a task, where the revision has that: elicitation and sampling, as far as offered.
    pub tasks: bool,
    /// Extensions by identifier, each with its settings.
    pub extensions: Vec<(String, RawJson)>,
}

/// In which ways a server may ask the person behind the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ElicitationModes {
    /// By a form.
    pub forms: bool,
    /// By an address to open.
    pub addresses: bool,
}

/// What a server may ask of the client's model beyond a plain completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SamplingModes {
    /// To use tools that the server describes.
    pub tools: bool,
    /// To see what this or other servers have said.
    pub context: bool,
}

impl ClientCapabilities {
    /// As one revision spells them; what it has no word for is not offered.
    pub(crate) fn write(&self, revision: Revision) -> RawJson {
        let mut out = String::from("{");
        if let Some(elicitation) = self.elicitation.write(revision) {
            push_member(&mut out, "elicitation", &elicitation);
        }
        if let Some(SamplingModes { tools, context }) = self.sampling {
            let has_modes = revision.has(Feature::SamplingModes);
            let modes = [("context", has_modes && context), ("tools", has_modes && tools)];
            push_member(&mut out, "sampling", &switches(modes));
        }
        if self.roots {
            // A stateless client asks anew each time, so there is no change to tell of.
            let changes = revision.has(Feature::Handshake);
            push_member(&mut out, "roots", if changes { r#"{"listChanged":true}"# } else { "{}" });
        }
        if self.tasks && revision.has(Feature::CoreTasks) {
            let mut requests = String::from("{");
            if self.elicitation != ElicitationModes::default() {
                push_member(&mut requests, "elicitation", r#"{"create":{}}"#);
            }
            if self.sampling.is_some() {
                push_member(&mut requests, "sampling", r#"{"createMessage":{}}"#);
            }
            requests.push('}');
            push_member(
                &mut out,
                "tasks",
                &format!(r#"{{"list":{{}},"cancel":{{}},"requests":{requests}}}"#),
            );
        }
        if revision.has(Feature::Extensions) && !self.extensions.is_empty() {
            let mut extensions = String::from("{");
            for (id, settings) in &self.extensions {
                push_member(&mut extensions, id, settings.as_str());
            }
            extensions.push('}');
            push_member(&mut out, "extensions", &extensions);
        }
        out.push('}');
        RawJson::parse(out).unwrap_or_else(|_| RawJson::empty_object())
    }
}

impl ElicitationModes {
    fn write(self, revision: Revision) -> Option<String> {
        let Self { forms, addresses } = self;
        match (revision.has(Feature::Elicitation), revision.has(Feature::ElicitationModes)) {
            (false, _) => None,
            (true, false) => forms.then(|| "{}".to_owned()),
            (true, true) => (forms || addresses).then(|| switches([("form", forms), ("url", addresses)])),
        }
    }
}

/// An object with an empty object for each key that is on.
fn switches<const N: usize>(keys: [(&str, bool); N]) -> String {
    let mut out = String::from("{");
    for (key, _) in keys.into_iter().filter(|(_, is_on)| *is_on) {
        push_member(&mut out, key, "{}");
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_revision_offers_what_it_has_a_word_for() {
        let written = |forms, addresses, revision| {
            let elicitation = ElicitationModes { forms, addresses };
            let capabilities = ClientCapabilities { elicitation, ..ClientCapabilities::default() };
            capabilities.write(revision).as_str().to_owned()
        };
        assert_eq!(written(true, true, Revision::V2025_03_26), "{}");
        assert_eq!(written(true, true, Revision::V2025_06_18), r#"{"elicitation":{}}"#);
        assert_eq!(written(false, true, Revision::V2025_06_18), "{}");
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            assert_eq!(written(true, true, revision), r#"{"elicitation":{"form":{},"url":{}}}"#);
            assert_eq!(written(true, false, revision), r#"{"elicitation":{"form":{}}}"#);
            assert_eq!(written(false, false, revision), "{}");
        }
    }

    #[test]
    fn sampling_roots_and_extensions_are_spelled_as_the_revision_spells_them() {
        let capabilities = ClientCapabilities {
            sampling: Some(SamplingModes { tools: true, context: false }),
            roots: true,
            tasks: true,
            extensions: vec![("a.test/x".to_owned(), RawJson::empty_object())],
            ..ClientCapabilities::default()
        };
        let written = |revision| capabilities.write(revision).as_str().to_owned();
        assert_eq!(written(Revision::V2024_11_05), r#"{"sampling":{},"roots":{"listChanged":true}}"#);
        assert_eq!(
            written(Revision::V2025_11_25),
            r#"{"sampling":{"tools":{}},"roots":{"listChanged":true},"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}}}},"extensions":{"a.test/x":{}}}"#
        );
        assert_eq!(
            written(Revision::V2026_07_28),
            r#"{"sampling":{"tools":{}},"roots":{},"extensions":{"a.test/x":{}}}"#
        );
    }
}
