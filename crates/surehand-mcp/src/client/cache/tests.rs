use super::*;

fn key(method: &'static str, params: &str) -> CacheKey {
    CacheKey { method, subject: None, params: params.to_owned(), revision: Revision::V2026_07_28 }
}

fn read(uri: &str) -> CacheKey {
    CacheKey { subject: Some(uri.to_owned()), ..key("resources/read", uri) }
}

fn result(ttl: &str, scope: &str) -> RawJson {
    RawJson::parse(format!(r#"{{"ttlMs":{ttl},"cacheScope":"{scope}","n":1.10}}"#)).unwrap()
}

fn put(cache: &mut ResultCache, key: CacheKey, credential: Option<&str>, result: &RawJson, now: u64) {
    cache.put(cache.ticket(key.method), key, credential, result, now);
}

#[test]
fn a_result_is_given_until_its_time_is_over_and_byte_for_byte() {
    let mut cache = ResultCache::default();
    let tools = key("tools/list", "{}");
    put(&mut cache, tools.clone(), Some("me"), &result("1e3", "private"), 5);
    let got = |now| cache.get(&tools, Some("me"), now).map(|result| result.to_string());
    assert_eq!(got(1_004).as_deref(), Some(r#"{"ttlMs":1e3,"cacheScope":"private","n":1.10}"#));
    assert_eq!(got(1_005), None);
    assert_eq!(cache.get(&key("tools/list", r#"{"cursor":""}"#), Some("me"), 5), None);
    let older = CacheKey { revision: Revision::V2025_11_25, ..tools };
    assert_eq!(cache.get(&older, Some("me"), 5), None);
}

#[test]
fn what_is_not_public_is_found_only_with_the_credential_it_was_got_with() {
    let mut cache = ResultCache::default();
    let found = |cache: &ResultCache| {
        [Some("me"), Some("you"), None].map(|who| cache.get(&key("tools/list", "{}"), who, 0).is_some())
    };
    put(&mut cache, key("tools/list", "{}"), Some("me"), &result("9", "private"), 0);
    assert_eq!(found(&cache), [true, false, false]);
    put(&mut cache, key("tools/list", "{}"), Some("me"), &result("9", "public"), 0);
    assert_eq!(found(&cache), [true, true, true]);
    let mut cache = ResultCache::default();
    // No scope, a scope unknown to us, and no credential to keep it under.
    put(&mut cache, key("tools/list", "{}"), Some("me"), &result("9", "everybody"), 0);
    put(&mut cache, key("prompts/list", "{}"), None, &result("9", "private"), 0);
    assert_eq!(found(&cache), [true, false, false]);
    assert_eq!(cache.get(&key("prompts/list", "{}"), None, 0), None);
}

#[test]
fn without_a_time_nothing_is_kept_and_no_time_is_longer_than_the_limit() {
    let mut cache = ResultCache::new(CacheLimits { ttl: 10, ..CacheLimits::default() });
    for ttl in ["0", "-5", "null", "\"9\"", "[]"] {
        put(&mut cache, key("tools/list", "{}"), None, &result(ttl, "public"), 0);
        assert_eq!(cache.get(&key("tools/list", "{}"), None, 0), None, "{ttl}");
    }
    put(&mut cache, key("tools/list", "{}"), None, &result("1e300", "public"), 0);
    assert!(cache.get(&key("tools/list", "{}"), None, 9).is_some());
    assert_eq!(cache.get(&key("tools/list", "{}"), None, 10), None);
}

#[test]
fn a_change_drops_what_it_is_about_and_what_was_on_its_way_meanwhile() {
    let mut cache = ResultCache::default();
    let all = [key("tools/list", "{}"), key("prompts/list", "{}"), read("a:1"), read("a:2")];
    let fill = |cache: &mut ResultCache| {
        for key in &all {
            put(cache, key.clone(), None, &result("9", "public"), 0);
        }
    };
    let left = |cache: &ResultCache| all.each_ref().map(|key| cache.get(key, None, 0).is_some());
    for (notice, is_left) in [
        (ServerNotice::ToolsChanged, [false, true, true, true]),
        (ServerNotice::PromptsChanged, [true, false, true, true]),
        (ServerNotice::ResourceUpdated { uri: "a:1/part".to_owned() }, [true, true, false, true]),
        (ServerNotice::ResourcesChanged, [true; 4]),
    ] {
        fill(&mut cache);
        cache.notice(&notice);
        assert_eq!(left(&cache), is_left, "{notice:?}");
    }
    cache.clear();
    assert_eq!((left(&cache), cache.bytes), ([false; 4], 0));
    let tickets = all.each_ref().map(|key| cache.ticket(key.method));
    cache.notice(&ServerNotice::ToolsChanged);
    for (ticket, key) in tickets.into_iter().zip(all.clone()) {
        cache.put(ticket, key, None, &result("9", "public"), 0);
    }
    assert_eq!(left(&cache), [false, true, true, true]);
}

#[test]
fn what_is_kept_has_an_end() {
    let mut cache = ResultCache::new(CacheLimits { entries: 3, bytes: 1_000, ttl: 1_000 });
    for n in 0..10_u64 {
        put(&mut cache, read(&format!("a:{n}")), None, &result(&(n + 1).to_string(), "public"), 0);
    }
    // What would be the first to go stale anyway, goes.
    let left: Vec<bool> = (0..10).map(|n| cache.get(&read(&format!("a:{n}")), None, 0).is_some()).collect();
    assert_eq!(left.iter().filter(|is_left| **is_left).count(), 3);
    assert!(left[9]);
    let large = RawJson::parse(format!(r#"{{"ttlMs":9,"cacheScope":"public","x":"{}"}}"#, "x".repeat(300)));
    put(&mut cache, read("large"), None, &large.unwrap(), 0);
    assert_eq!(cache.get(&read("large"), None, 0), None);
}

#[test]
fn only_the_methods_that_may_be_kept_are_and_only_where_the_revision_knows_of_it() {
    assert!(ResultCache::keeps("resources/read", Revision::V2026_07_28));
    assert!(!ResultCache::keeps("tools/call", Revision::V2026_07_28));
    assert!(!ResultCache::keeps("tools/list", Revision::V2025_11_25));
}
