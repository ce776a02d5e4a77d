use expect_test::expect;
use proptest::prelude::*;
use surehand_model::{Integrity, Json, Label, ToolAnnotations};
use surehand_policy::{CallFacts, Condition, Decision, Effect, Glob, Policy, Rule};

/// A policy that is read without a complaint.
fn policy(text: &str) -> Policy {
    let (policy, notes) = Policy::from_json(&Json::parse(text).unwrap());
    assert_eq!(notes, vec![], "{text}");
    policy
}

fn facts<'a>(server: &'a str, tool: &'a str, bundled: bool, effect: Option<Effect>) -> CallFacts<'a> {
    CallFacts { bundled, effect, ..CallFacts::unknown(server, tool) }
}

#[test]
fn without_rules_only_bundled_tools_that_change_nothing_run() {
    use Decision::{Allow, Ask};
    use Effect::{Egress, Irreversible, Pure, Read, Write};
    let policy = Policy::default();
    for (bundled, effect, expected) in [
        (true, Some(Pure), Allow),
        (true, Some(Read), Allow),
        (true, Some(Write), Ask),
        (true, Some(Irreversible), Ask),
        (true, Some(Egress), Ask),
        (true, None, Ask),
        (false, Some(Pure), Ask),
        (false, Some(Read), Ask),
        (false, Some(Write), Ask),
        (false, None, Ask),
    ] {
        let ruling = policy.decide(&facts("s", "t", bundled, effect));
        assert_eq!(ruling.decision, expected, "bundled {bundled}, {effect:?}");
    }
}

#[test]
fn what_a_server_claims_about_itself_makes_nothing_milder() {
    let claims =
        ToolAnnotations { read_only: Some(true), destructive: Some(false), ..ToolAnnotations::default() };
    for text in ["{}", r#"{"rules":[{"match":{"effect":"read"},"decision":"allow"}]}"#] {
        let facts = CallFacts { annotations: claims, ..CallFacts::unknown("s", "t") };
        assert_eq!(policy(text).decide(&facts).decision, Decision::Ask, "{text}");
    }
}

#[test]
fn the_strictest_of_all_matching_rules_wins_in_any_order() {
    let rules = [
        r#"{"match":{"server":"files"},"decision":"allow"}"#,
        r#"{"match":{"tool":"write_*"},"decision":"ask"}"#,
        r#"{"match":{"tool":"*_secret"},"decision":"deny","reason":"Secrets stay."}"#,
    ];
    let table = [
        ("files", "read", Decision::Allow),
        ("files", "write_file", Decision::Ask),
        ("files", "write_secret", Decision::Deny),
        ("mail", "read", Decision::Ask),
        ("mail", "read_secret", Decision::Deny),
    ];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let text = format!(r#"{{"rules":[{},{},{}]}}"#, rules[order[0]], rules[order[1]], rules[order[2]]);
        for (server, tool, expected) in table {
            let ruling = policy(&text).decide(&CallFacts::unknown(server, tool));
            assert_eq!(ruling.decision, expected, "{server}/{tool} under {text}");
        }
    }
}

#[test]
fn the_default_says_what_happens_to_the_rest() {
    let allow_one = r#""rules":[{"match":{"server":"files","tool":"read"},"decision":"allow"}]"#;
    for (default, other, bundled_read) in [
        ("allow", Decision::Allow, Decision::Allow),
        ("ask", Decision::Ask, Decision::Allow),
        ("deny", Decision::Deny, Decision::Deny),
    ] {
        let policy = policy(&format!(r#"{{{allow_one},"default":"{default}"}}"#));
        assert_eq!(policy.decide(&CallFacts::unknown("files", "read")).decision, Decision::Allow);
        assert_eq!(policy.decide(&CallFacts::unknown("files", "write")).decision, other, "{default}");
        let read = facts("time", "now", true, Some(Effect::Read));
        assert_eq!(policy.decide(&read).decision, bundled_read, "{default}");
    }
}

#[test]
fn a_rule_about_effects_meets_unknown_tools_only_where_it_is_strict() {
    let policy = policy(
        r#"{"rules":[{"match":{"effect":["pure","read"]},"decision":"allow"},{"match":{"effect":"irreversible"},"decision":"deny"}]}"#,
    );
    for (effect, expected) in [
        (Some(Effect::Read), Decision::Allow),
        (Some(Effect::Write), Decision::Ask),
        (Some(Effect::Irreversible), Decision::Deny),
        (None, Decision::Deny),
    ] {
        assert_eq!(policy.decide(&facts("s", "t", false, effect)).decision, expected, "{effect:?}");
    }
}

#[test]
fn a_rule_can_look_at_where_the_arguments_come_from() {
    let policy = policy(
        r#"{"rules":[{"match":{"tool":"send"},"decision":"allow"},{"match":{"tool":"send","label":"untrusted"},"decision":"deny"}]}"#,
    );
    let (user, page) = (Label::user(), Label::tool("web", "fetch"));
    assert_eq!(user.integrity, Integrity::Trusted);
    for (label, expected) in
        [(Some(&user), Decision::Allow), (Some(&page), Decision::Deny), (None, Decision::Deny)]
    {
        let facts = CallFacts { label, ..CallFacts::unknown("mail", "send") };
        assert_eq!(policy.decide(&facts).decision, expected, "{label:?}");
    }
}

#[test]
fn a_rule_can_look_at_arguments_and_a_missing_one_fits_nothing() {
    let policy = policy(
        r#"{"rules":[{"match":{"tool":"fetch","arguments":{"/url":["https://docs.example.test/*","https://example.test/"],"/depth":"1"}},"decision":"allow"}],"default":"deny"}"#,
    );
    for (arguments, expected) in [
        (r#"{"url":"https://docs.example.test/a","depth":1}"#, Decision::Allow),
        (r#"{"url":"https://example.test/","depth":1}"#, Decision::Allow),
        (r#"{"url":"https://docs.example.test.evil.test/","depth":1}"#, Decision::Deny),
        (r#"{"url":"https://docs.example.test/a","depth":2}"#, Decision::Deny),
        (r#"{"url":"https://docs.example.test/a"}"#, Decision::Deny),
        (r#"{"url":"https://evil.test/","url":"https://example.test/","depth":1}"#, Decision::Allow),
        (r#"{"url":"https://example.test/","url":"https://evil.test/","depth":1}"#, Decision::Deny),
        (r#"{"url":["https://example.test/"],"depth":1}"#, Decision::Deny),
    ] {
        let arguments_tree = Json::parse(arguments).unwrap();
        let facts = CallFacts { arguments: Some(&arguments_tree), ..CallFacts::unknown("web", "fetch") };
        assert_eq!(policy.decide(&facts).decision, expected, "{arguments}");
    }
}

#[test]
fn a_tool_is_hidden_only_if_no_call_of_it_could_run() {
    let policy = policy(
        r#"{"rules":[
            {"match":{"server":"files","tool":"delete"},"decision":"deny"},
            {"match":{"server":"files","tool":"write","arguments":{"/path":"/etc/*"}},"decision":"deny"},
            {"match":{"server":"mail","label":"untrusted"},"decision":"deny"}]}"#,
    );
    for (server, tool, hidden) in [
        ("files", "delete", true),
        ("files", "write", false),
        ("files", "read", false),
        ("mail", "send", false),
    ] {
        assert_eq!(policy.hides(&CallFacts::unknown(server, tool)), hidden, "{server}/{tool}");
    }
}

#[test]
fn a_default_that_denies_hides_what_no_rule_lets_through() {
    let policy = policy(
        r#"{"rules":[{"match":{"server":"files","arguments":{"/path":"src/*"}},"decision":"allow"}],"default":"deny"}"#,
    );
    assert!(!policy.hides(&CallFacts::unknown("files", "read")));
    assert!(policy.hides(&CallFacts::unknown("mail", "send")));
}

#[test]
fn an_explanation_says_how_each_rule_came_to_match_or_not() {
    let policy = policy(
        r#"{"rules":[
            {"match":{"server":"files"},"decision":"allow"},
            {"name":"no-writes","match":{"tool":["write_*","delete_*"]},"decision":"deny","reason":"This folder is read-only."},
            {"match":{"server":"mail"},"decision":"ask"},
            {"match":{"effect":"read","label":"trusted"},"decision":"ask"}]}"#,
    );
    let write = facts("files", "write_file", true, Some(Effect::Write));
    expect![[r#"
        deny: This folder is read-only. (by no-writes)
          rules[0] says allow for files/*: matches
          no-writes says deny for */write_*|delete_*: matches
          rules[2] says ask for mail/*: does not match, it is about other tools
          rules[3] says ask for */* with effect read from trusted words: does not match, the tool's effect is `write`
          default: not needed, a rule matches
    "#]].assert_eq(&policy.explain(&write).to_string());
    expect![[r#"
        ask: No rule is about this tool, and nobody vouches for what it does. (by default)
          rules[0] says allow for files/*: does not match, it is about other tools
          no-writes says deny for */write_*|delete_*: does not match, it is about other tools
          rules[2] says ask for mail/*: does not match, it is about other tools
          rules[3] says ask for */* with effect read from trusted words: does not match, the arguments are untrusted
          default says ask
    "#]].assert_eq(&policy.explain(&CallFacts::unknown("web", "fetch")).to_string());
    let now = facts("time", "now", true, Some(Effect::Read));
    expect![[r#"
        allow: A bundled tool that changes nothing. (by default for bundled tools)
          rules[0] says allow for files/*: does not match, it is about other tools
          no-writes says deny for */write_*|delete_*: does not match, it is about other tools
          rules[2] says ask for mail/*: does not match, it is about other tools
          rules[3] says ask for */* with effect read from trusted words: does not match, the arguments are untrusted
          default for bundled tools says allow
    "#]].assert_eq(&policy.explain(&now).to_string());
}

/// Any rule about a small world of servers and tools.
fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let decision = prop::sample::select(vec![Decision::Allow, Decision::Ask, Decision::Deny]);
    let pattern = prop::sample::select(vec!["a", "b", "*", "?"]);
    let rule = (pattern.clone(), pattern, decision).prop_map(|(server, tool, decision)| Rule {
        name: "r".to_owned(),
        condition: Condition {
            server: vec![Glob::new(server)],
            tool: vec![Glob::new(tool)],
            ..Condition::default()
        },
        decision,
        reason: None,
        fault: None,
    });
    prop::collection::vec(rule, 0..6)
}

proptest! {
    #[test]
    fn one_more_rule_is_never_milder_than_the_rules_before(rules in rules(), server in "[ab]", tool in "[ab]") {
        let facts = CallFacts::unknown(&server, &tool);
        for count in 1..=rules.len() {
            let fewer = Policy { rules: rules[..count - 1].to_vec(), ..Policy::default() };
            let more = Policy { rules: rules[..count].to_vec(), ..Policy::default() };
            let matched = fewer.explain(&facts).considered.iter().any(|considered| considered.why_not.is_none());
            // The first rule that matches may relax the default, and no rule may relax another.
            prop_assert!(!matched || more.decide(&facts).decision >= fewer.decide(&facts).decision);
        }
    }

    #[test]
    fn a_hidden_tool_is_always_denied(rules in rules(), server in "[ab]", tool in "[ab]") {
        let policy = Policy { rules, ..Policy::default() };
        let facts = CallFacts::unknown(&server, &tool);
        prop_assert!(!policy.hides(&facts) || policy.decide(&facts).decision == Decision::Deny);
    }
}
