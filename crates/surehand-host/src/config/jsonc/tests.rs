use proptest::prelude::*;

use super::*;

fn json(text: &str) -> String {
    parse(text).unwrap().unwrap().to_json().to_string()
}

fn fault(text: &str) -> String {
    let fault = parse(text).unwrap_err();
    format!("{fault} ({})", fault.hint)
}

#[test]
fn comments_and_trailing_commas_are_nothing() {
    let text = "\u{feff}// top\n{ /* a */ \"a\" /* b */ : // c\n [1, 2, /* d */ ], \"u\": \"http://x//y /* no */\", } // end";
    assert_eq!(json(text), r#"{"a":[1,2],"u":"http://x//y /* no */"}"#);
    assert_eq!(parse(" // nothing\n/* at all */ "), Ok(None));
    assert_eq!(parse(""), Ok(None));
}

#[test]
fn spans_cut_out_exactly_what_was_written() {
    let text = "{ \"a\" : [ 1 , \"x\\u0041\" ] }";
    let root = parse(text).unwrap().unwrap();
    let member = &root.members().unwrap()[0];
    assert_eq!(&text[member.key_span.clone()], "\"a\"");
    assert_eq!(&text[member.value.span.clone()], "[ 1 , \"x\\u0041\" ]");
    assert_eq!(&text[root.span], text);
}

#[test]
fn a_fault_names_line_and_column_and_what_to_do() {
    let faults = [
        "{\"a\": 1\n \"b\": 2}",
        "{\n  \"a\": [1, 2\n",
        "{'a': 1}",
        "{a: 1}",
        "{\"a\": True}",
        "{\"a\": \u{201c}x\u{201d}}",
        "{\"a\": 01}",
        "{\"a\": yes}",
        "# x\n{}",
        "{\"a\": 1,, \"b\": 2}",
        "{} {}",
        "{}}",
        "{ /* x",
        "{\"a\": \"b\n\"}",
        "{\"a\" 1}",
    ]
    .map(fault);
    expect_test::expect![[r##"
        line 1, column 8: no comma between two values (put a comma here)
        line 3, column 1: the text ends before the `]` of line 2 (add `]`)
        line 1, column 2: a key in single quotes (JSON takes double quotes only)
        line 1, column 2: something other than a key in double quotes (put the key into double quotes)
        line 1, column 7: the word `True` (write `true`)
        line 1, column 7: `“` where a value must stand (these are typographic quotes; JSON takes `"` only)
        line 1, column 7: `01` is not a number (a text needs double quotes around it)
        line 1, column 7: the word `yes` (a text needs double quotes around it)
        line 1, column 1: `#` where a value must stand (comments begin with `//`)
        line 1, column 9: a comma where a key must stand (there is one comma too many)
        line 1, column 4: more text after the end of the value (a file holds one JSON value)
        line 1, column 3: one closing bracket too many ()
        line 1, column 3: a comment that never ends (close it with `*/`)
        line 1, column 7: a text without its closing quote on the same line (add `"`, or write a line break as `\n`)
        line 1, column 6: no `:` after a key (write "a": and its value)"##]]
    .assert_eq(&faults.join("\n"));
}

#[test]
fn a_windows_path_is_shown_as_it_should_be_written() {
    let text = r#"{"g": {"command": "C:\Users\me\srv.exe"}}"#;
    assert_eq!(
        fault(text),
        r#"line 1, column 22: `\U` is no escape that JSON knows (in JSON each backslash of a path is doubled: "C:\\Users\\me\\srv.exe")"#
    );
    assert_eq!(
        fault(r#"["D:\\a\users"]"#),
        r#"line 1, column 8: `\u` is no escape that JSON knows (in JSON each backslash of a path is doubled: "D:\\a\\users")"#
    );
}

#[test]
fn nesting_has_a_limit_and_no_depth_breaks_the_stack() {
    assert!(parse(&format!("{}{}", "[".repeat(128), "]".repeat(128))).is_ok());
    assert_eq!(parse(&"[".repeat(100_000)).unwrap_err().what, "nested deeper than 128 levels");
}

#[test]
fn text_that_is_not_utf_8_is_named() {
    assert_eq!(decode(b"\xff\xfe{\0").unwrap_err().what, "the file is written in UTF-16");
    assert_eq!(decode(b"{\n \xe9}").unwrap_err().at, Position { line: 2, column: 2 });
}

proptest! {
    #[test]
    fn plain_json_reads_as_everybody_reads_it(text in r#"[\[\]{}:,"a\\0-9.eE+\- tfn]{0,24}"#) {
        // Only a trailing comma may be read here and not there.
        if serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok() {
            prop_assert_eq!(parse(&text).unwrap().unwrap().to_json(), Json::parse(&text).unwrap());
        } else if let Ok(Some(node)) = parse(&text) {
            prop_assert!(text.contains(','), "{text} read as {:?}", node);
        }
    }

    #[test]
    fn whole_documents_read_as_serde_json_reads_them(tree in any_value()) {
        for text in [serde_json::to_string(&tree).unwrap(), serde_json::to_string_pretty(&tree).unwrap()] {
            prop_assert_eq!(parse(&text).unwrap().unwrap().to_json().to_value(), tree.clone());
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), cut in r#"[/*"\\{}\[\],:\n u]{0,16}"#) {
        let _ = parse(&text);
        let _ = parse(&cut);
    }
}

fn any_value() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}
