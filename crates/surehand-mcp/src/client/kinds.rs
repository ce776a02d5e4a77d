use crate::method::name;

/// What a server may ask of the client: as a request of its own, or before it answers one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// Something of the person behind the client.
    Elicitation,
    /// A completion by the client's model.
    Sampling,
    /// The folders that the client works in.
    Roots,
}

impl InputKind {
    /// Its method on the wire.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Elicitation => name::ELICIT,
            Self::Sampling => name::SAMPLE,
            Self::Roots => name::ROOTS,
        }
    }

    /// The kind of that method.
    pub fn of(method: &str) -> Option<Self> {
        [Self::Elicitation, Self::Sampling, Self::Roots].into_iter().find(|kind| kind.method() == method)
    }
}

/// Which questions of a server have somebody to answer them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputKinds {
    /// [`InputKind::Elicitation`].
    pub elicitation: bool,
    /// [`InputKind::Sampling`].
    pub sampling: bool,
    /// [`InputKind::Roots`].
    pub roots: bool,
}

impl InputKinds {
    /// Whether this kind is among them.
    pub fn has(self, kind: InputKind) -> bool {
        match kind {
            InputKind::Elicitation => self.elicitation,
            InputKind::Sampling => self.sampling,
            InputKind::Roots => self.roots,
        }
    }

    /// Whether there is any.
    pub fn any(self) -> bool {
        self != Self::default()
    }
}
