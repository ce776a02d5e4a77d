use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use surehand_model::RawJson;

use crate::envelope::write_notification;
use crate::method::name;

/// Something of a server that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The set of tools.
    Tools,
    /// The set of prompts.
    Prompts,
    /// The set of resources.
    Resources,
    /// One resource, by its URI.
    Resource(String),
    /// One task: its id, and all of it as it stands now.
    Task(String, RawJson),
}

impl Change {
    /// The notification that tells of it in the era of handshakes; none for a task, which that era asks for.
    pub fn to_notification(&self) -> Option<String> {
        let (method, params) = self.parts(None)?;
        Some(write_notification(method, params.as_deref()))
    }

    /// Method and parameters; `meta` is put into the parameters.
    pub(crate) fn parts(&self, meta: Option<&str>) -> Option<(&'static str, Option<String>)> {
        let with_meta = |first: &str| {
            let comma = if first.is_empty() || meta.is_none() { "" } else { "," };
            let meta = meta.map(|meta| format!("\"_meta\":{meta}")).unwrap_or_default();
            (!first.is_empty() || !meta.is_empty()).then(|| format!("{{{first}{comma}{meta}}}"))
        };
        Some(match self {
            Self::Tools => (name::TOOLS_CHANGED, with_meta("")),
            Self::Prompts => (name::PROMPTS_CHANGED, with_meta("")),
            Self::Resources => (name::RESOURCES_CHANGED, with_meta("")),
            Self::Resource(uri) => {
                (name::RESOURCE_UPDATED, with_meta(&format!("\"uri\":{}", RawJson::from_serialize(uri))))
            }
            Self::Task(_, task) => {
                meta?;
                let inner = task.as_str().trim().strip_prefix('{')?.strip_suffix('}')?;
                (name::TASK_CHANGED, with_meta(inner))
            }
        })
    }
}

type Listener = dyn Fn(&Change) + Send + Sync;

/// Whoever wants to hear of changes. It is called on the thread of whoever announces, and must not wait.
pub type ChangeListener = Arc<Listener>;

/// Where a server tells of changes, and transports listen.
#[derive(Default)]
pub struct Changes {
    listeners: Mutex<Vec<Weak<Listener>>>,
}

impl Changes {
    /// Nobody listens yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells everybody who listens.
    pub fn announce(&self, change: &Change) {
        // Called without the lock, so that a listener may subscribe another.
        let listeners: Vec<ChangeListener> = {
            let mut all = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|listener| listener.strong_count() > 0);
            all.iter().filter_map(Weak::upgrade).collect()
        };
        for listener in listeners {
            listener(change);
        }
    }

    /// Whether anybody listens, or did until just now.
    pub(crate) fn has_listeners(&self) -> bool {
        !self.listeners.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Listens for as long as the caller keeps `listener`.
    pub fn listen(&self, listener: &ChangeListener) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(listener));
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").finish_non_exhaustive()
    }
}
