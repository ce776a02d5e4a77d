use std::collections::HashSet;

/// How many resources one client may listen for.
const RESOURCES: usize = 1_024;
/// How many bytes their URIs may have together.
const BYTES: usize = 64 * 1024;

/// The resources that one client of the older era listens for.
#[derive(Debug, Default)]
pub(super) struct Subscribed {
    uris: HashSet<String>,
    bytes: usize,
}

impl Subscribed {
    /// Says no where there are too many already.
    pub(super) fn add(&mut self, uri: String) -> bool {
        if self.uris.contains(&uri) {
            return true;
        }
        if self.uris.len() >= RESOURCES || self.bytes + uri.len() > BYTES {
            return false;
        }
        self.bytes += uri.len();
        self.uris.insert(uri)
    }

    pub(super) fn remove(&mut self, uri: &str) {
        if self.uris.remove(uri) {
            self.bytes -= uri.len();
        }
    }

    pub(super) fn has(&self, uri: &str) -> bool {
        self.uris.contains(uri)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.uris.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_listens_for_so_many_resources_and_no_more() {
        let mut subscribed = Subscribed::default();
        for number in 0..RESOURCES {
            assert!(subscribed.add(number.to_string()));
        }
        assert!(subscribed.add("7".to_owned()), "it is there already");
        assert!(!subscribed.add("more".to_owned()));
        subscribed.remove("7");
        assert!(!subscribed.add("x".repeat(BYTES)));
        assert!(subscribed.add("more".to_owned()));
        (0..RESOURCES).for_each(|number| subscribed.remove(&number.to_string()));
        subscribed.remove("more");
        assert!(subscribed.is_empty());
        assert!(subscribed.add("x".repeat(BYTES)));
    }
}
