use surehand_model::RawJson;

use crate::members::Members;
use crate::method::name;
use crate::revision::{Feature, Revision};

/// Something that a server wants from the client while it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Asks the person: the parameters of `elicitation/create`.
    Elicit(RawJson),
    /// Asks the client's model: the parameters of `sampling/createMessage`.
    Sample(RawJson),
    /// Asks for the client's roots.
    Roots,
}

/// Something that a client may be able to do, and then declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientFeature<'a> {
    /// It shows forms to a person.
    ElicitForm,
    /// It shows addresses to open to a person.
    ElicitAddress,
    /// It asks its model.
    Sampling,
    /// It asks its model and lets it call tools.
    SamplingTools,
    /// It has roots.
    Roots,
    /// It speaks the extension of this identifier.
    Extension(&'a str),
}

impl Question {
    /// The method that carries it.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Elicit(_) => name::ELICIT,
            Self::Sample(_) => name::SAMPLE,
            Self::Roots => name::ROOTS,
        }
    }

    /// The parameters of that method.
    pub fn params(&self) -> RawJson {
        match self {
            Self::Elicit(params) | Self::Sample(params) => params.clone(),
            Self::Roots => RawJson::empty_object(),
        }
    }

    /// Method and parameters as one object, as they stand where questions are carried inside a result.
    pub(crate) fn write(&self) -> String {
        format!("{{\"method\":\"{}\",\"params\":{}}}", self.method(), self.params().as_str())
    }

    /// What a client must have declared before it may be asked.
    pub fn needs(&self) -> ClientFeature<'static> {
        match self {
            Self::Elicit(params) => {
                match Members::parse(params.as_str()).and_then(|all| all.string("mode")) {
                    Some(mode) if mode == "url" => ClientFeature::ElicitAddress,
                    _ => ClientFeature::ElicitForm,
                }
            }
            Self::Sample(params) => match Members::parse(params.as_str()) {
                Some(all) if all.present("tools").is_some() || all.present("toolChoice").is_some() => {
                    ClientFeature::SamplingTools
                }
                _ => ClientFeature::Sampling,
            },
            Self::Roots => ClientFeature::Roots,
        }
    }

    /// Whether `answer` is one to this question; anything else counts as none.
    pub(crate) fn is_answered_by(&self, answer: &RawJson) -> bool {
        let Some(members) = Members::parse(answer.as_str()) else { return false };
        match self {
            Self::Elicit(_) => {
                matches!(members.string("action").as_deref(), Some("accept" | "decline" | "cancel"))
            }
            Self::Sample(_) => members.present("content").is_some(),
            Self::Roots => members.array("roots").is_some(),
        }
    }
}

impl ClientFeature<'_> {
    /// Whether a capabilities object declares it.
    pub(crate) fn is_declared(self, capabilities: &RawJson, revision: Revision) -> bool {
        let Some(all) = Members::parse(capabilities.as_str()) else { return false };
        match self {
            Self::ElicitForm | Self::ElicitAddress => {
                let Some(modes) = all.object("elicitation") else { return false };
                if !revision.has(Feature::Elicitation) {
                    return false;
                }
                // No mode named means forms, as it did before there were modes.
                match self {
                    Self::ElicitAddress => {
                        revision.has(Feature::ElicitationModes) && modes.object("url").is_some()
                    }
                    _ => modes.present("form").is_some() || modes.present("url").is_none(),
                }
            }
            Self::Sampling => all.object("sampling").is_some(),
            Self::SamplingTools => {
                all.object("sampling").is_some_and(|sampling| sampling.object("tools").is_some())
            }
            Self::Roots => all.object("roots").is_some(),
            Self::Extension(identifier) => {
                all.object("extensions").is_some_and(|extensions| extensions.object(identifier).is_some())
            }
        }
    }

    /// The capabilities object that declares it.
    pub(crate) fn to_capabilities(self) -> RawJson {
        let text = match self {
            Self::ElicitForm => r#"{"elicitation":{"form":{}}}"#.to_owned(),
            Self::ElicitAddress => r#"{"elicitation":{"url":{}}}"#.to_owned(),
            Self::Sampling => r#"{"sampling":{}}"#.to_owned(),
            Self::SamplingTools => r#"{"sampling":{"tools":{}}}"#.to_owned(),
            Self::Roots => r#"{"roots":{}}"#.to_owned(),
            Self::Extension(identifier) => {
                format!(r#"{{"extensions":{{{}:{{}}}}}}"#, RawJson::from_serialize(identifier))
            }
        };
        RawJson::parse(text).unwrap_or_else(|_| RawJson::empty_object())
    }
}
