use surehand_model::RawJson;

use crate::revision::{Feature, Revision};

/// What a client offers to servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    /// In which ways a server may ask the person behind the client.
    pub elicitation: ElicitationModes,
}

/// In which ways a server may ask the person behind the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ElicitationModes {
    /// By a form.
    pub forms: bool,
    /// By an address to open.
    pub addresses: bool,
}

impl ClientCapabilities {
    /// As one revision spells them; what it has no word for is not offered.
    pub(crate) fn write(self, revision: Revision) -> RawJson {
        let ElicitationModes { forms, addresses } = self.elicitation;
        let offer = match (revision.has(Feature::Elicitation), revision.has(Feature::ElicitationModes)) {
            (false, _) => None,
            (true, false) => forms.then(|| "{}".to_owned()),
            (true, true) => {
                let modes: Vec<&str> = [(forms, r#""form":{}"#), (addresses, r#""url":{}"#)]
                    .into_iter()
                    .filter_map(|(offered, text)| offered.then_some(text))
                    .collect();
                (!modes.is_empty()).then(|| format!("{{{}}}", modes.join(",")))
            }
        };
        let text = offer.map(|offer| format!(r#"{{"elicitation":{offer}}}"#));
        text.and_then(|text| RawJson::parse(text).ok()).unwrap_or_else(RawJson::empty_object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_revision_offers_what_it_has_a_word_for() {
        let written = |forms, addresses, revision| {
            let elicitation = ElicitationModes { forms, addresses };
            ClientCapabilities { elicitation }.write(revision).as_str().to_owned()
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
}
