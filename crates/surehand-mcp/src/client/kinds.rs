use crate::method::{CancelTask, GetTask, ListTasks, Method, TaskResult, name};

/// What a server may ask of the client: as a request of its own, or before it answers one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// Something of the person behind the client.
    Elicitation,
    /// A completion by the client's model.
    Sampling,
    /// The folders that the client works in.
    Roots,
    /// How a task of the client stands (2025-11-25).
    GetTask,
    /// What came of one.
    TaskResult,
    /// All of them.
    ListTasks,
    /// To give one up.
    CancelTask,
}

impl InputKind {
    const ALL: [Self; 7] = [
        Self::Elicitation,
        Self::Sampling,
        Self::Roots,
        Self::GetTask,
        Self::TaskResult,
        Self::ListTasks,
        Self::CancelTask,
    ];

    /// Its method on the wire.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Elicitation => name::ELICIT,
            Self::Sampling => name::SAMPLE,
            Self::Roots => name::ROOTS,
            Self::GetTask => GetTask::NAME,
            Self::TaskResult => TaskResult::NAME,
            Self::ListTasks => ListTasks::NAME,
            Self::CancelTask => CancelTask::NAME,
        }
    }

    /// The kind of that method.
    pub fn of(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.method() == method)
    }

    /// Whether a stateless server may ask for it before it answers.
    pub const fn is_input(self) -> bool {
        matches!(self, Self::Elicitation | Self::Sampling | Self::Roots)
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
    /// Everything about tasks of the client.
    pub tasks: bool,
}

impl InputKinds {
    /// Whether this kind is among them.
    pub fn has(self, kind: InputKind) -> bool {
        match kind {
            InputKind::Elicitation => self.elicitation,
            InputKind::Sampling => self.sampling,
            InputKind::Roots => self.roots,
            InputKind::GetTask | InputKind::TaskResult | InputKind::ListTasks | InputKind::CancelTask => {
                self.tasks
            }
        }
    }

    /// Whether there is any.
    pub fn any(self) -> bool {
        self != Self::default()
    }
}
