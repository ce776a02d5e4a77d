use proptest::prelude::*;

use super::super::jsonc::trivia_end;
use super::*;

fn entry(text: &str) -> Json {
    Json::parse(text).unwrap()
}

fn add_to(text: &str, name: &str) -> String {
    let entry = entry(r#"{"command":"srv","args":["--flag"]}"#);
    apply(text, &Change::Add { name: name.to_owned(), entry, replace: false }).unwrap()
}

fn remove_from(text: &str, name: &str) -> String {
    apply(text, &Change::Remove { name: name.to_owned() }).unwrap()
}

fn switch_in(text: &str, name: &str, enabled: bool) -> String {
    apply(text, &Change::Switch { name: name.to_owned(), enabled }).unwrap()
}

const TEAM: &str = "{\n  // team file\n  \"mcpServers\": {\n    \"docs\": {\"command\": \"docs\", \"futureKey\": 1}\n  },\n  \"other\": true\n}\n";

const COMMENTED: &str = "{\n  // servers for this repo\n  \"mcpServers\": {\n    /* \"old\": {\"command\": \"old-server\"}, */\n    \"files\": {\"command\": \"files-server\", \"args\": [\"--root\", \".\",],},\n    \"web\": {\"type\": \"http\", \"url\": \"https://mcp.example.test//v1/mcp\"}, // two slashes inside a string\n  },\n}\n";

#[test]
fn an_entry_is_added_in_the_style_of_its_neighbours() {
    expect_test::expect![[r#"
        {
          // team file
          "mcpServers": {
            "docs": {"command": "docs", "futureKey": 1},
            "x": {"command": "srv", "args": ["--flag"]}
          },
          "other": true
        }
    "#]]
    .assert_eq(&add_to(TEAM, "x"));
    expect_test::expect![[r#"
        {
          // servers for this repo
          "mcpServers": {
            /* "old": {"command": "old-server"}, */
            "files": {"command": "files-server", "args": ["--root", ".",],},
            "web": {"type": "http", "url": "https://mcp.example.test//v1/mcp"}, // two slashes inside a string
            "a.b \"c\"": {"command": "srv", "args": ["--flag"]},
          },
        }
    "#]]
    .assert_eq(&add_to(COMMENTED, "a.b \"c\""));
    let cases = [
        "",
        "// mine\n",
        "{}",
        "{}\n",
        "{ }",
        "{\"mcpServers\":{}}",
        "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}",
        "{\"mcpServers\": { \"a\": {\"command\": \"a\"} } }",
        "{\n\t\"mcpServers\": {\n\t\t\"a\": {\n\t\t\t\"command\": \"a\"\n\t\t}\n\t}\n}",
        "{\r\n    \"mcpServers\": {\r\n        // none yet\r\n    }\r\n}\r\n",
        "{\n  \"mcpServers\": { /* none */ }\n}\n",
        "{\n  \"model\": \"m\" // mine\n}\n",
        "{\"a\": {\"command\": \"a\"}}",
        "{\n  \"servers\": {\"a\": {\"command\": \"a\"},},\n}",
        "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"} // last\n    // end\n  }\n}\n",
        "{\n  \"mcpServers\": null\n}\n",
        "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"} }\n}\n",
    ];
    let all: Vec<String> = cases.iter().map(|text| format!("{:?}", add_to(text, "x"))).collect();
    expect_test::expect![[r#"
        "{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"srv\",\n      \"args\": [\"--flag\"]\n    }\n  }\n}\n"
        "// mine\n{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"srv\",\n      \"args\": [\"--flag\"]\n    }\n  }\n}\n"
        "{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"srv\",\n      \"args\": [\"--flag\"]\n    }\n  }\n}"
        "{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"srv\",\n      \"args\": [\"--flag\"]\n    }\n  }\n}\n"
        "{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"srv\",\n      \"args\": [\"--flag\"]\n    }\n  }\n}"
        "{\"mcpServers\":{\"x\":{\"command\":\"srv\",\"args\":[\"--flag\"]}}}"
        "{\"mcpServers\":{\"a\":{\"command\":\"a\"},\"x\":{\"command\":\"srv\",\"args\":[\"--flag\"]}}}"
        "{\"mcpServers\": { \"a\": {\"command\": \"a\"}, \"x\": {\"command\": \"srv\", \"args\": [\"--flag\"]} } }"
        "{\n\t\"mcpServers\": {\n\t\t\"a\": {\n\t\t\t\"command\": \"a\"\n\t\t},\n\t\t\"x\": {\n\t\t\t\"command\": \"srv\",\n\t\t\t\"args\": [\"--flag\"]\n\t\t}\n\t}\n}"
        "{\r\n    \"mcpServers\": {\r\n        // none yet\r\n        \"x\": {\r\n            \"command\": \"srv\",\r\n            \"args\": [\"--flag\"]\r\n        }\r\n    }\r\n}\r\n"
        "{\n  \"mcpServers\": { /* none */\n    \"x\": {\n      \"command\": \"srv\",\n      \"args\": [\"--flag\"]\n    }\n  }\n}\n"
        "{\n  \"model\": \"m\", // mine\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"srv\",\n      \"args\": [\"--flag\"]\n    }\n  }\n}\n"
        "{\"a\": {\"command\": \"a\"}, \"x\": {\"command\": \"srv\", \"args\": [\"--flag\"]}}"
        "{\n  \"servers\": {\"a\": {\"command\": \"a\"}, \"x\": {\"command\": \"srv\", \"args\": [\"--flag\"]},},\n}"
        "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"}, // last\n    \"x\": {\"command\": \"srv\", \"args\": [\"--flag\"]}\n    // end\n  }\n}\n"
        "{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"srv\",\n      \"args\": [\"--flag\"]\n    }\n  }\n}\n"
        "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"},\n    \"x\": {\"command\": \"srv\", \"args\": [\"--flag\"]} }\n}\n""#]].assert_eq(&all.join("\n"));
}

#[test]
fn an_entry_is_removed_and_nothing_else() {
    expect_test::expect![[r#"
        {
          // servers for this repo
          "mcpServers": {
            /* "old": {"command": "old-server"}, */
            "files": {"command": "files-server", "args": ["--root", ".",],},
          },
        }
    "#]]
    .assert_eq(&remove_from(COMMENTED, "web"));
    let cases = [
        "{\"mcpServers\":{\"x\":{}}}",
        "{\"mcpServers\":{\"x\":{},\"a\":{}}}",
        "{\"mcpServers\":{\"a\":{},\"x\":{}}}",
        "{\"mcpServers\":{ \"a\":{}, \"x\":{}, \"b\":{} }}",
        "{\"mcpServers\":{ \"a\":{}, \"x\":{}, }}",
        "{\n  \"mcpServers\": {\n    \"x\": {}\n  }\n}\n",
        "{\n  \"mcpServers\": {\n    // about a\n    \"a\": {}, // a\n    // about x\n    \"x\": {\n      \"command\": \"y\"\n    } // x\n    // end\n  }\n}\n",
        "{\r\n  \"mcpServers\": {\r\n    \"x\": {}, // x\r\n    \"a\": {}\r\n  }\r\n}\r\n",
        "{\n  \"mcpServers\": {\n    \"a\": {}\n    , \"x\": {}\n  }\n}\n",
        "{\n  \"mcpServers\": {\n    \"a\": {} // one\n    ,\n    \"x\": {} }\n}\n",
        "{\"x\": {\"command\": \"x\"}, \"b\": {\"command\": \"b\"}}",
        "{\"mcpServers\":{\"x\":{\"a\":1},\"x\":{\"a\":2},\"b\":{}}}",
        "{\"mcpServers\":{\"a\":{} /* one */, /* two */ \"x\":{} /* three */ }}",
    ];
    let all: Vec<String> = cases.iter().map(|text| format!("{:?}", remove_from(text, "x"))).collect();
    expect_test::expect![[r#"
        "{\"mcpServers\":{}}"
        "{\"mcpServers\":{\"a\":{}}}"
        "{\"mcpServers\":{\"a\":{}}}"
        "{\"mcpServers\":{ \"a\":{}, \"b\":{} }}"
        "{\"mcpServers\":{ \"a\":{}, }}"
        "{\n  \"mcpServers\": {\n  }\n}\n"
        "{\n  \"mcpServers\": {\n    // about a\n    \"a\": {} // a\n    // about x\n    // end\n  }\n}\n"
        "{\r\n  \"mcpServers\": {\r\n    \"a\": {}\r\n  }\r\n}\r\n"
        "{\n  \"mcpServers\": {\n    \"a\": {}\n    \n  }\n}\n"
        "{\n  \"mcpServers\": {\n    \"a\": {} // one\n     }\n}\n"
        "{\"b\": {\"command\": \"b\"}}"
        "{\"mcpServers\":{\"b\":{}}}"
        "{\"mcpServers\":{\"a\":{} /* one */ /* two */  /* three */ }}""#]]
    .assert_eq(&all.join("\n"));
}

#[test]
fn a_switch_changes_one_member() {
    assert_eq!(
        switch_in(TEAM, "docs", false),
        TEAM.replace("\"futureKey\": 1}", "\"futureKey\": 1, \"disabled\": true}")
    );
    let off = switch_in(TEAM, "docs", false);
    assert_eq!(switch_in(&off, "docs", true), off.replace("true}", "false}"));
    assert_eq!(switch_in(TEAM, "docs", true), TEAM);
    let other = r#"{"mcpServers":{"a":{"command":"a","enabled":true}}}"#;
    assert_eq!(switch_in(other, "a", false), other.replace("true", "false"));
    assert_eq!(
        switch_in(COMMENTED, "files", false),
        COMMENTED.replace("\".\",],}", "\".\",], \"disabled\": true,}")
    );
    let text = switch_in("", "time", false);
    assert_eq!(text, "{\n  \"mcpServers\": {\n    \"time\": {\n      \"disabled\": true\n    }\n  }\n}\n");
    assert_eq!(switch_in(&text, "time", true), text.replace("true", "false"));
}

#[test]
fn what_cannot_be_done_changes_nothing_and_says_why() {
    let add = |name: &str| Change::Add { name: name.into(), entry: entry("{}"), replace: false };
    let remove = |name: &str| Change::Remove { name: name.into() };
    let cases = [
        (TEAM, add("docs")),
        (TEAM, add(" ")),
        (TEAM, remove("dosc")),
        ("", remove("x")),
        ("{oops", add("x")),
        ("[]", add("x")),
        ("{\"mcpServers\": []}", add("x")),
        ("{\"mcpServers\": {\"a\": 1}}", Change::Switch { name: "a".into(), enabled: false }),
        ("{}", Change::Switch { name: "nope".into(), enabled: false }),
    ];
    let errors: Vec<String> =
        cases.iter().map(|(text, change)| apply(text, change).unwrap_err().to_string()).collect();
    expect_test::expect![[r#"
        there is a server `docs` already
        ` ` cannot be the name of a server: the name is empty
        there is no server `dosc` (did you mean `docs`?)
        there is no server `x`
        it cannot be read at line 1, column 2: something other than a key in double quotes; put the key into double quotes
        the file is not an object
        `mcpServers` is not an object
        the entry of `a` is not an object
        there is no server `nope`"#]].assert_eq(&errors.join("\n"));
}

#[test]
fn a_forced_addition_replaces_the_entry_in_its_place() {
    let change = Change::Add { name: "files".into(), entry: entry(r#"{"url":"http://h/"}"#), replace: true };
    assert_eq!(
        apply(COMMENTED, &change).unwrap(),
        COMMENTED
            .replace(r#"{"command": "files-server", "args": ["--root", ".",],}"#, r#"{"url": "http://h/"}"#)
    );
}

/// A document with comments, odd layout and trailing commas; its servers are called `s0`, `s1`, …
fn any_document() -> impl Strategy<Value = (String, usize)> {
    let gap = prop_oneof![
        4 => Just(String::new()),
        2 => Just(" ".to_owned()),
        3 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" // c, \"s0\": {\n ".to_owned()),
        1 => Just("/* } \" */".to_owned()),
        1 => Just(" /* a\n b */ ".to_owned()),
    ];
    let value = prop_oneof![
        Just("{}".to_owned()),
        Just("{ \"command\": \"a//b\", }".to_owned()),
        Just("{\n      \"command\": \"x\" // y\n    }".to_owned()),
        Just("{\"url\": \"http://h/}\"}".to_owned()),
        Just("5".to_owned()),
    ];
    let member = (gap.clone(), gap.clone(), gap.clone(), value, gap.clone());
    (prop::collection::vec(member, 0..5), any::<bool>(), gap.clone(), gap.clone(), gap).prop_map(
        |(members, trailing, inside, before, after)| {
            let count = members.len();
            let mut inner = String::new();
            for (index, (a, b, c, value, d)) in members.into_iter().enumerate() {
                let comma = if index + 1 < count || trailing { "," } else { "" };
                inner.push_str(&format!("{a}\"s{index}\"{b}:{c}{value}{d}{comma}"));
            }
            (format!("{before}{{{after}\"mcpServers\":{{{inner}{inside}}}, \"other\" : [ 1,2 ]{after}}}{before}"), count)
        },
    )
}

/// Every member of the servers' object as written, by name.
fn written(text: &str) -> Vec<(String, String)> {
    let root = jsonc::parse(text).unwrap().unwrap();
    let servers = &root.members().unwrap()[0].value;
    let members = servers.members().unwrap().iter();
    members.map(|m| (m.key.clone(), text[m.key_span.start..m.value.span.end].to_owned())).collect()
}

/// Everything inside comments, in order.
fn comments(text: &str) -> String {
    let mut found = String::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("//") || rest.starts_with("/*") {
            let end = trivia_end(text, at).unwrap();
            found.push_str(&bare(&text[at..end]));
            at = end;
        } else if let Some(inner) = rest.strip_prefix('"') {
            at += 2 + inner.find('"').unwrap();
        } else {
            at += rest.chars().next().unwrap().len_utf8();
        }
    }
    found
}

/// The text without blanks and commas: what must stay where it is when an entry comes or goes.
fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect()
}

/// Whether the text has a comma before a closing bracket.
fn is_strict(text: &str) -> bool {
    Json::parse(&text.replace("\r", "")).is_ok()
}

proptest! {
    #[test]
    fn adding_leaves_every_other_byte_alone((text, count) in any_document()) {
        let name = format!("s{count}");
        let after = add_to(&text, &name);
        let mut expected = written(&text);
        let found = written(&after);
        prop_assert_eq!(found.len(), count + 1, "{}", after);
        expected.push((name, found[count].1.clone()));
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(comments(&after), comments(&text), "{}", after);
        // Only whole pieces of text were put in, and of what was there only blanks in an empty object were touched.
        prop_assert_eq!(bare(&after).replacen(&bare(&found[count].1), "", 1), bare(&text), "{}", after);
        prop_assert!(!is_strict(&text) || is_strict(&after));
        let removed = remove_from(&after, &expected[count].0);
        prop_assert_eq!(bare(&removed), bare(&text), "{}", removed);
    }

    #[test]
    fn removing_leaves_every_other_byte_alone((text, count) in any_document(), pick in any::<prop::sample::Index>()) {
        prop_assume!(count > 0);
        let index = pick.index(count);
        let after = remove_from(&text, &format!("s{index}"));
        let mut expected = written(&text);
        let (_, entry) = expected.remove(index);
        prop_assert_eq!(written(&after), expected, "{}", after);
        // What stands before the entry and what stands after it is still there, but for a comment that belongs to it.
        let (before, rest) = text.split_once(&entry).unwrap();
        prop_assert!(bare(&after).starts_with(&bare(before)), "{}", after);
        let tail = &bare(rest)[..];
        let kept = &bare(&after)[bare(before).len()..];
        prop_assert!(tail.ends_with(kept), "{}", after);
        let gone = &tail[..tail.len() - kept.len()];
        prop_assert!(gone.is_empty() || gone.starts_with("//") || gone.starts_with("/*"), "{gone}");
        prop_assert!(!is_strict(&text) || is_strict(&after));
    }

    #[test]
    fn switching_changes_one_member_only((text, count) in any_document(), pick in any::<prop::sample::Index>()) {
        prop_assume!(count > 0);
        let index = pick.index(count);
        let name = format!("s{index}");
        let Ok(off) = apply(&text, &Change::Switch { name: name.clone(), enabled: false }) else {
            prop_assert!(written(&text)[index].1.ends_with('5'));
            return Ok(());
        };
        let (mut before, mut after) = (written(&text), written(&off));
        before.remove(index);
        after.remove(index);
        prop_assert_eq!(before, after);
        prop_assert_eq!(bare(&off).replacen("\"disabled\":true", "", 1), bare(&text));
        let on = switch_in(&off, &name, true);
        prop_assert_eq!(on, off.replacen("true", "false", 1));
    }
}
