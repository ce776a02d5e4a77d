use surehand_model::Json;
use surehand_policy::{CallFacts, Decision, Policy};

fn read(text: &str) -> (Policy, Vec<String>) {
    let (policy, notes) = Policy::from_json(&Json::parse(text).unwrap());
    (policy, notes.iter().map(ToString::to_string).collect())
}

fn decision(policy: &Policy, name: &str) -> Decision {
    let (server, tool) = name.split_once('/').unwrap();
    policy.decide(&CallFacts::unknown(server, tool)).decision
}

#[test]
fn an_empty_policy_is_the_default_one() {
    for text in ["{}", "null", r#"{"rules":[]}"#, r#"{"rules":[],"default":"ask"}"#] {
        assert_eq!(read(text), (Policy::default(), vec![]), "{text}");
    }
}

#[test]
fn a_rule_that_cannot_be_read_denies_what_it_names_and_leaves_the_others_alone() {
    let good = r#"{"match":{"server":"mail"},"decision":"allow"}"#;
    let table = [
        // What is wrong, and whether files/read and notes/read are named by what can still be read.
        (r#"{"match":{"server":"files"},"decision":"alow"}"#, true, false),
        (r#"{"match":{"server":"files"}}"#, true, false),
        (r#"{"match":{"server":"files","tool":5},"decision":"allow"}"#, true, false),
        (r#"{"match":{"server":"files","tol":"read"},"decision":"allow"}"#, true, false),
        (r#"{"match":{"server":"files","effect":"reed"},"decision":"allow"}"#, true, false),
        (r#"{"match":{"server":"files","label":"mine"},"decision":"allow"}"#, true, false),
        (r#"{"match":{"server":"files","arguments":{"path":"a"}},"decision":"allow"}"#, true, false),
        (r#"{"match":{"server":"files","arguments":[]},"decision":"allow"}"#, true, false),
        (r#"{"match":{"server":[],"tool":"read"},"decision":"allow"}"#, true, true),
        (r#"{"match":{"server":"files"},"decision":"allow","examples":[]}"#, true, false),
        (r#"{"match":{"server":"files"},"decision":"allow","examples":{"matches":[]}}"#, true, false),
        (r#"{"match":{"server":"files"},"decision":"allow","examples":{"match":["read"]}}"#, true, false),
        (r#"{"match":"files","decision":"allow"}"#, true, true),
        (r#"{"decision":"allow"}"#, true, true),
        (r#""files/*""#, true, true),
        ("null", true, true),
    ];
    for (bad, files, notes) in table {
        let (policy, complaints) = read(&format!(r#"{{"rules":[{good},{bad}]}}"#));
        assert_eq!(complaints.len(), 1, "{bad}: {complaints:?}");
        assert!(complaints[0].starts_with("/policy/rules/1: "), "{bad}: {complaints:?}");
        assert_eq!(decision(&policy, "files/read") == Decision::Deny, files, "{bad}");
        assert_eq!(decision(&policy, "notes/read") == Decision::Deny, notes, "{bad}");
        if !notes {
            assert_eq!(decision(&policy, "mail/send"), Decision::Allow, "{bad}");
        }
    }
}

#[test]
fn a_rule_whose_examples_do_not_hold_denies_what_it_names_and_what_it_should_have_named() {
    let (policy, notes) = read(
        r#"{"rules":[{"match":{"server":"files","tool":"read_*"},"decision":"allow",
            "examples":{"match":["files/read_text_file","files/list"],"not_match":["files/read_secret","mail/send"]}}]}"#,
    );
    assert_eq!(
        notes,
        ["/policy/rules/0: rules[0] cannot be read, so files/read_* and files/list is denied: \
          the example \"files/list\" is not met by files/read_*; \
          the example \"files/read_secret\" is met by files/read_*"]
    );
    for (name, expected) in [
        ("files/read_text_file", Decision::Deny),
        ("files/list", Decision::Deny),
        ("files/write", Decision::Ask),
        ("mail/send", Decision::Ask),
    ] {
        assert_eq!(decision(&policy, name), expected, "{name}");
    }
}

#[test]
fn examples_that_hold_change_nothing() {
    let (policy, notes) = read(
        r#"{"rules":[{"match":{"server":"files","tool":"read_*"},"decision":"allow","reason":"Reading is fine.",
            "examples":{"match":["files/read_text_file"],"not_match":["files/write_file","files/a/b"]}}],"default":"ask"}"#,
    );
    assert_eq!(notes, Vec::<String>::new());
    let ruling = policy.decide(&CallFacts::unknown("files", "read_text_file"));
    assert_eq!(
        (ruling.decision, ruling.rule.as_str(), ruling.reason.as_str()),
        (Decision::Allow, "rules[0]", "Reading is fine.")
    );
}

#[test]
fn what_is_no_policy_at_all_denies_everything() {
    for text in ["[]", "5", r#"{"rules":{}}"#, r#"{"rules":"deny"}"#] {
        let (policy, notes) = read(text);
        assert_eq!(notes.len(), 1, "{text}");
        assert_eq!(decision(&policy, "files/read"), Decision::Deny, "{text}");
    }
}

#[test]
fn a_default_that_cannot_be_read_denies_what_no_rule_names() {
    let (policy, notes) =
        read(r#"{"rules":[{"match":{"server":"mail"},"decision":"allow"}],"default":"maybe"}"#);
    assert_eq!(notes.len(), 1);
    assert_eq!(decision(&policy, "mail/send"), Decision::Allow);
    assert_eq!(decision(&policy, "files/read"), Decision::Deny);
}

#[test]
fn an_unknown_key_beside_a_whole_rule_is_said_and_does_no_harm() {
    let (policy, notes) = read(
        r#"{"version":1,"rules":[{"match":{"server":"mail"},"decision":"allow","comment":"x","reason":5}]}"#,
    );
    assert_eq!(
        notes,
        [
            "/policy: unknown key `version`, which has no effect: known keys: rules, default",
            "/policy/rules/0: unknown key `comment`, which has no effect: known keys: name, match, decision, reason, examples",
            "/policy/rules/0/reason: it is not used: it must be text",
        ]
    );
    assert_eq!(decision(&policy, "mail/send"), Decision::Allow);
}
