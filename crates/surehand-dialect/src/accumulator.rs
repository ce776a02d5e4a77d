use surehand_model::{CallId, ModelEvent, Note, ProviderState, RawJson, ToolCall};

use crate::NameTable;
use crate::arguments::{is_whole_object, read_call};

/// How many calls one turn may hold.
const CALL_LIMIT: usize = 1024;

/// One piece of a call, as a stream brings it. Empty texts are the same as none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallDelta {
    /// Which call of the turn, as the provider counts; often missing, reused or wrong.
    pub index: Option<u64>,
    /// The provider's id.
    pub id: Option<String>,
    /// The name on the wire, or a piece of it.
    pub name: Option<String>,
    /// A piece of the text of the arguments.
    pub arguments: String,
    /// The piece is the whole of the arguments (they came as an object).
    pub whole: bool,
    /// Opaque state that belongs to the call.
    pub state: Vec<ProviderState>,
}

impl CallDelta {
    fn without_empty(self) -> Self {
        Self {
            id: self.id.filter(|id| !id.is_empty()),
            name: self.name.filter(|name| !name.is_empty()),
            ..self
        }
    }
}

/// Puts calls together from their pieces, whatever the provider does with indexes, ids and names.
///
/// A piece belongs to the call with its id; an id not seen before begins a call, even on an index in use. Without an id the index
/// decides, unless a whole call stands there and the piece plainly begins another. Without both, a name begins a call and anything
/// else goes on with the last one. Nothing is ever dropped without a note.
#[derive(Debug)]
pub struct CallAccumulator {
    slots: Vec<Slot>,
    notes: Vec<Note>,
}

#[derive(Debug)]
struct Slot {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
    /// The arguments came as one piece; nothing can follow.
    whole: bool,
    announced: bool,
    /// A piece was met that may have been this call's.
    doubtful: bool,
    state: Vec<ProviderState>,
}

impl Slot {
    fn is_open(&self) -> bool {
        !self.whole && !is_whole_object(&self.arguments)
    }
}

impl CallAccumulator {
    /// Without any call.
    pub fn new() -> Self {
        Self { slots: Vec::new(), notes: Vec::new() }
    }

    /// Whether no call has begun.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Takes the next piece. Gives the start of a call once its name is known.
    pub fn push(&mut self, delta: CallDelta, names: &NameTable) -> Vec<ModelEvent> {
        let delta = delta.without_empty();
        match self.place(&delta, names) {
            Some(at) => self.add(at, delta, names),
            None => Vec::new(),
        }
    }

    /// Takes a whole call, whatever its index and id.
    pub fn push_separate(&mut self, delta: CallDelta, names: &NameTable) -> Vec<ModelEvent> {
        match self.begin() {
            Some(at) => self.add(at, delta.without_empty(), names),
            None => Vec::new(),
        }
    }

    fn add(&mut self, at: usize, delta: CallDelta, names: &NameTable) -> Vec<ModelEvent> {
        let mut events = Vec::new();
        // A call whose name is as long as it gets is announced when the next one begins.
        for slot in &mut self.slots[..at] {
            announce(slot, names, &mut events);
        }
        let slot = &mut self.slots[at];
        if slot.id.is_none() {
            slot.id = delta.id;
        }
        if slot.index.is_none() {
            slot.index = delta.index;
        }
        if let Some(name) = delta.name.filter(|_| slot.arguments.is_empty() || slot.name.is_empty()) {
            join_name(&mut slot.name, &name, names);
        }
        slot.state.extend(delta.state);
        if !delta.arguments.is_empty() {
            // A whole `{}` at the start holds the place of what comes later.
            if slot.whole && slot.arguments == "{}" {
                slot.arguments.clear();
                slot.whole = false;
            }
            slot.arguments.push_str(&delta.arguments);
            slot.whole |= delta.whole;
        }
        if !slot.arguments.is_empty() || !names.knows_longer(&slot.name) {
            announce(slot, names, &mut events);
        }
        events
    }

    /// Which call a piece belongs to, begun if need be; `None` for a piece that repeats what is known or fits nowhere.
    fn place(&mut self, delta: &CallDelta, names: &NameTable) -> Option<usize> {
        let last = self.slots.len().checked_sub(1);
        let at_index =
            delta.index.and_then(|index| self.slots.iter().rposition(|slot| slot.index == Some(index)));
        if let Some(id) = &delta.id {
            let Some(at) = self.slots.iter().rposition(|slot| slot.id.as_deref() == Some(id)) else {
                // An id that comes late belongs to the call that has none yet.
                let late = at_index.or(last.filter(|_| delta.index.is_none())).filter(|&at| {
                    let slot = &self.slots[at];
                    slot.id.is_none() && !self.begins_another(at, delta) && continues_name(slot, delta, names)
                });
                return late.or_else(|| self.begin());
            };
            let slot = &self.slots[at];
            if is_whole_object(&slot.arguments) && !delta.arguments.trim().is_empty() {
                if slot.arguments.trim() == delta.arguments.trim() && delta.index == slot.index {
                    self.note(
                        "a call was sent twice",
                        "the provider repeated a whole call under its id; it counts once",
                    );
                    return None;
                }
                self.note("two calls share one id", "the second one was given an id of its own");
                return self.begin();
            }
            let other_call = delta.name.is_some()
                && delta.index.is_some()
                && slot.index.is_some()
                && delta.index != slot.index
                && delta.arguments.is_empty();
            if other_call {
                self.note("two calls share one id", "the second one was given an id of its own");
                return self.begin();
            }
            return Some(at);
        }
        if let Some(at) = at_index {
            if self.begins_another(at, delta) {
                self.note(
                    "an index was used twice",
                    "a new call began on the index of a whole one; both are kept",
                );
                return self.begin();
            }
            return Some(at);
        }
        match (delta.index, &delta.name, last) {
            (Some(_), None, Some(_)) => {
                if delta.arguments.trim().is_empty() {
                    return None;
                }
                let open: Vec<usize> = (0..self.slots.len()).filter(|&at| self.slots[at].is_open()).collect();
                match open[..] {
                    [only] => Some(only),
                    [] => self.begin(),
                    _ => {
                        self.note(
                            "a piece of arguments fits no call",
                            "its index was never begun and several calls are open; none of them can be run",
                        );
                        for at in open {
                            self.slots[at].doubtful = true;
                        }
                        None
                    }
                }
            }
            (None, None, Some(last)) => Some(last),
            (None, Some(_), Some(last)) if continues_name(&self.slots[last], delta, names) => Some(last),
            _ => self.begin(),
        }
    }

    /// Whether the call at `at` is whole and `delta`, by its name, is another one.
    fn begins_another(&self, at: usize, delta: &CallDelta) -> bool {
        let slot = &self.slots[at];
        !slot.is_open()
            && !slot.name.is_empty()
            && delta
                .name
                .as_ref()
                .is_some_and(|name| *name != slot.name || !delta.arguments.trim().is_empty())
    }

    fn begin(&mut self) -> Option<usize> {
        if self.slots.len() == CALL_LIMIT {
            if !self.notes.iter().any(|note| note.what == TOO_MANY) {
                self.note(TOO_MANY, "one turn holds at most 1024; the rest was left out");
            }
            return None;
        }
        self.slots.push(Slot {
            index: None,
            id: None,
            name: String::new(),
            arguments: String::new(),
            whole: false,
            announced: false,
            doubtful: false,
            state: Vec::new(),
        });
        Some(self.slots.len() - 1)
    }

    fn note(&mut self, what: &str, why: &str) {
        self.notes.push(Note::new("calls of the answer", what, why));
    }

    /// Ends the turn: what was held back, and the calls in their order with the state that belongs to each.
    pub fn finish(
        mut self,
        names: &NameTable,
        notes: &mut Vec<Note>,
    ) -> (Vec<ModelEvent>, Vec<(ToolCall, Vec<ProviderState>)>) {
        let mut events = Vec::new();
        for slot in &mut self.slots {
            announce(slot, names, &mut events);
        }
        notes.append(&mut self.notes);
        let given: Vec<(Option<String>, String)> =
            self.slots.iter().map(|slot| (slot.id.clone(), slot.name.clone())).collect();
        let ids = unique_ids(given.iter().map(|(id, _)| id.as_deref()));
        let calls = self
            .slots
            .into_iter()
            .zip(ids)
            .map(|(slot, (id, minted))| {
                let mut call = read_call(id, minted, names.name(&slot.name), slot.arguments, notes);
                if slot.doubtful {
                    call.arguments = None;
                }
                (call, slot.state)
            })
            .collect();
        (events, calls)
    }
}

impl Default for CallAccumulator {
    fn default() -> Self {
        Self::new()
    }
}

const TOO_MANY: &str = "too many calls in one answer";

fn announce(slot: &mut Slot, names: &NameTable, events: &mut Vec<ModelEvent>) {
    if !slot.announced && !slot.name.is_empty() {
        slot.announced = true;
        events.push(ModelEvent::CallStarted { name: names.name(&slot.name) });
    }
}

/// Whether a name in `delta` goes on with, or repeats, the one of a call that is still open.
fn continues_name(slot: &Slot, delta: &CallDelta, names: &NameTable) -> bool {
    let Some(name) = &delta.name else {
        return true;
    };
    if slot.name.is_empty() {
        return true;
    }
    if !slot.arguments.is_empty() {
        return *name == slot.name
            && !is_whole_object(&slot.arguments)
            && !delta.arguments.trim_start().starts_with('{');
    }
    let joined = format!("{}{name}", slot.name);
    names.knows(&joined)
        || names.knows_longer(&joined)
        || (name.starts_with(&slot.name) && !names.knows(&slot.name))
}

/// Joins a name that comes in pieces, or again and again as a whole, or ever longer.
fn join_name(known: &mut String, name: &str, names: &NameTable) {
    let joined = format!("{known}{name}");
    if known.is_empty() || names.knows(&joined) || (names.knows_longer(&joined) && !names.knows(name)) {
        *known = joined;
    } else if name.starts_with(known.as_str()) {
        *known = name.to_owned();
    } else if !known.starts_with(name) && !names.knows(known) {
        *known = joined;
    }
}

/// An id for each call: the provider's where it gave one that is new in this turn, else one made here.
/// The flag tells that it was made here because there was none.
pub(crate) fn unique_ids<'a>(given: impl Iterator<Item = Option<&'a str>> + Clone) -> Vec<(CallId, bool)> {
    let mut taken: Vec<String> = given.clone().flatten().map(str::to_owned).collect();
    let mut seen: Vec<&str> = Vec::new();
    let mut ids = Vec::new();
    for (position, id) in given.enumerate() {
        let base = match id {
            Some(id) if !seen.contains(&id) => {
                seen.push(id);
                ids.push((CallId(id.to_owned()), false));
                continue;
            }
            Some(id) => id.to_owned(),
            None => "call".to_owned(),
        };
        let mut number = position + 1;
        let mut made = format!("{base}_{number}");
        while taken.contains(&made) {
            number += 1;
            made = format!("{base}_{number}");
        }
        taken.push(made.clone());
        ids.push((CallId(made), id.is_none()));
    }
    ids
}

/// The text of arguments as a delta brings it, and whether it is all of them.
pub(crate) fn delta_arguments(raw: Option<&RawJson>) -> (String, bool) {
    let whole = raw.is_some_and(|raw| raw.as_str().starts_with(['{', '[']));
    (crate::arguments::text_of(raw), whole)
}
