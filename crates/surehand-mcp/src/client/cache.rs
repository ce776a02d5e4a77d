use std::collections::HashMap;

use surehand_model::RawJson;

use super::exchange::ServerNotice;
use crate::members::Members;
use crate::method::{
    ListPrompts, ListResourceTemplates, ListResources, ListTools, Method, ReadResource, name,
};
use crate::revision::{Feature, Revision};
use crate::skills::{GetSkill, ListSkills, READ_DIRECTORY};

/// What a server says about keeping a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheHints {
    /// For how long the result is fresh, in milliseconds. 0 where the server does not say, or says nonsense.
    pub ttl: u64,
    /// It is the same for everybody. Where the server does not say so, it is for whoever asked alone.
    pub is_public: bool,
}

impl CacheHints {
    /// Reads them off a result.
    pub fn read(result: &RawJson) -> Self {
        let members = Members::parse(result.as_str());
        let member = |key| members.as_ref().and_then(|members: &Members<'_>| members.present(key));
        let ttl = member("ttlMs").and_then(|raw| serde_json::from_str::<f64>(raw.get()).ok());
        let scope = members.as_ref().and_then(|members| members.string("cacheScope"));
        Self {
            // A cast of a float keeps within the bounds, and makes 0 of what is below.
            ttl: ttl.map_or(0, |ttl| ttl as u64),
            is_public: scope.as_deref() == Some("public"),
        }
    }
}

/// One request whose result may be kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheKey {
    /// Its method.
    pub method: &'static str,
    /// The resource it is about, where it is about one.
    pub subject: Option<String>,
    /// Its parameters as they are sent, without `_meta`.
    pub params: String,
    /// In which revision.
    pub revision: Revision,
}

/// What one cache holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLimits {
    /// How many results.
    pub entries: usize,
    /// Their bytes in all.
    pub bytes: usize,
    /// For how long one result is kept, whatever the server says, in milliseconds.
    pub ttl: u64,
}

impl Default for CacheLimits {
    /// 256 results, 16 MiB, one day.
    fn default() -> Self {
        Self { entries: 256, bytes: 16 * 1024 * 1024, ttl: 24 * 60 * 60 * 1_000 }
    }
}

/// The results of one server that are still fresh. Time is handed in, in milliseconds from any start that stays the same.
///
/// Only what the server allows is kept, and only as long; a result that is not public is found only with the credential it was
/// got with. What the server says has changed is dropped at once, and an answer that was on its way meanwhile is not kept.
///
/// Source: MCP 2026-07-28, "Caching".
#[derive(Debug, Default)]
pub struct ResultCache {
    limits: CacheLimits,
    /// Under the request and, unless it is public, the credential.
    entries: HashMap<(CacheKey, Option<String>), Entry>,
    bytes: usize,
    /// How often results of a method were dropped because of a change.
    changes: HashMap<&'static str, u64>,
    /// How often everything was.
    clears: u64,
}

#[derive(Debug)]
struct Entry {
    result: RawJson,
    fresh_until: u64,
}

/// Taken before a request is sent; with it the result is put in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheTicket {
    changes: u64,
    clears: u64,
}

impl ResultCache {
    /// An empty one.
    pub fn new(limits: CacheLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Whether results of this method may be kept at all.
    pub fn keeps(method: &str, revision: Revision) -> bool {
        const KEPT: [&str; 9] = [
            name::DISCOVER,
            ListTools::NAME,
            ListPrompts::NAME,
            ListResources::NAME,
            ListResourceTemplates::NAME,
            ReadResource::NAME,
            ListSkills::NAME,
            GetSkill::NAME,
            READ_DIRECTORY,
        ];
        revision.has(Feature::CacheHints) && KEPT.contains(&method)
    }

    /// The result, where a fresh one is there for whoever asks.
    pub fn get(&self, key: &CacheKey, credential: Option<&str>, now: u64) -> Option<RawJson> {
        [None, credential].into_iter().find_map(|credential| {
            let entry = self.entries.get(&(key.clone(), credential.map(str::to_owned)))?;
            (now < entry.fresh_until).then(|| entry.result.clone())
        })
    }

    /// To be taken before a request of this method is sent.
    pub fn ticket(&self, method: &str) -> CacheTicket {
        CacheTicket { changes: self.changes.get(method).copied().unwrap_or(0), clears: self.clears }
    }

    /// Keeps a result, where the server allows it and nothing has changed since the ticket was taken. Without a credential only
    /// what is public is kept.
    pub fn put(
        &mut self,
        ticket: CacheTicket,
        key: CacheKey,
        credential: Option<&str>,
        result: &RawJson,
        now: u64,
    ) {
        let CacheHints { ttl, is_public } = CacheHints::read(result);
        let size = result.as_str().len();
        if ttl == 0 || ticket != self.ticket(key.method) || size > self.limits.bytes / 4 {
            return;
        }
        let credential = match (is_public, credential) {
            (true, _) => None,
            (false, Some(credential)) => Some(credential.to_owned()),
            (false, None) => return,
        };
        self.retain(|_, entry| now < entry.fresh_until);
        while self.entries.len() >= self.limits.entries || self.bytes + size > self.limits.bytes {
            let first = self.entries.iter().min_by_key(|(_, entry)| entry.fresh_until);
            let Some(first) = first.map(|(key, _)| key.clone()) else { break };
            self.remove(&first);
        }
        let key = (key, credential);
        self.remove(&key);
        self.bytes += size;
        let fresh_until = now.saturating_add(ttl.min(self.limits.ttl));
        self.entries.insert(key, Entry { result: result.clone(), fresh_until });
    }

    /// Drops what a server says has changed.
    pub fn notice(&mut self, notice: &ServerNotice) {
        match notice {
            ServerNotice::ToolsChanged => self.forget(ListTools::NAME),
            ServerNotice::PromptsChanged => self.forget(ListPrompts::NAME),
            ServerNotice::ResourcesChanged => {
                self.forget(ListResources::NAME);
                self.forget(ListResourceTemplates::NAME);
            }
            // What has changed may be a part of what was read.
            ServerNotice::ResourceUpdated { uri } => self.change(ReadResource::NAME, |key| {
                key.subject.as_ref().is_none_or(|subject| uri.starts_with(subject.as_str()))
            }),
            _ => {}
        }
    }

    /// Drops all results of this method.
    pub fn forget(&mut self, method: &'static str) {
        self.change(method, |_| true);
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.clears += 1;
        self.entries.clear();
        self.bytes = 0;
    }

    fn change(&mut self, method: &'static str, is_stale: impl Fn(&CacheKey) -> bool) {
        *self.changes.entry(method).or_default() += 1;
        self.retain(|key, _| key.method != method || !is_stale(key));
    }

    fn retain(&mut self, keep: impl Fn(&CacheKey, &Entry) -> bool) {
        let bytes = &mut self.bytes;
        self.entries.retain(|(key, _), entry| {
            let keeps = keep(key, entry);
            if !keeps {
                *bytes -= entry.result.as_str().len();
            }
            keeps
        });
    }

    fn remove(&mut self, key: &(CacheKey, Option<String>)) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.result.as_str().len();
        }
    }
}

#[cfg(test)]
mod tests;
