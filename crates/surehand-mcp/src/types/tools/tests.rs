use super::*;

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

fn notes(notes: &[Note]) -> Vec<String> {
    notes.iter().map(Note::to_string).collect()
}

#[test]
fn one_odd_tool_never_costs_the_rest() {
    let page = Page::<Tool>::read(&raw(
        r#"{"tools":[
            {"name":"good","title":"Good","description":"d","inputSchema":{"type":"object","x":1.10},
             "outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"destructiveHint":"no"},"future":[1]},
            7,
            {"description":"no name"},
            {"name":"bare"},
            {"name":"odd","inputSchema":[],"description":5,"annotations":[]},
            {"name":"two","name":"faces","inputSchema":{}},
            {"name":"titled","inputSchema":{},"annotations":{"title":"From hints"}}
        ],"nextCursor":7}"#,
    ))
    .unwrap();
    let any = || raw(r#"{"type":"object"}"#);
    let expected = [
        Tool {
            title: Some("Good".to_owned()),
            output_schema: Some(raw(r#"{"type":"object"}"#)),
            annotations: ToolAnnotations { read_only: Some(true), ..ToolAnnotations::default() },
            ..Tool::new("good", "d", raw(r#"{"type":"object","x":1.10}"#))
        },
        Tool::new("bare", "", any()),
        Tool::new("odd", "", any()),
        Tool { title: Some("From hints".to_owned()), ..Tool::new("titled", "", raw("{}")) },
    ];
    let bare = page.items.iter().map(|tool| Tool { definition: None, ..tool.clone() });
    assert_eq!(bare.collect::<Vec<_>>(), expected);
    assert_eq!(page.items[1].definition, Some(raw(r#"{"name":"bare"}"#)));
    assert_eq!(
        notes(&page.notes),
        [
            "tools/list /tools/0 `good`: `destructiveHint` ignored: it is not true or false",
            "tools/list /tools/1: left out: it is not an object",
            "tools/list /tools/2: left out: it has no `name`",
            "tools/list /tools/3 `bare`: takes any arguments: it has no `inputSchema`",
            "tools/list /tools/4 `odd`: takes any arguments: `inputSchema` is not an object",
            "tools/list /tools/4 `odd`: `annotations` ignored: they are not an object",
            "tools/list /tools/4 `odd`: `description` ignored: it is not a string",
            "tools/list /tools/5: left out: tool `faces` has `name` twice, so what it is cannot be told",
            "tools/list: nextCursor ignored: it is not a string",
        ]
    );
    assert_eq!(page.next_cursor, None);
}

#[test]
fn an_answer_without_tools_is_a_fault_and_says_which() {
    let fault = |text: &str| Page::<Tool>::read(&raw(text)).unwrap_err().to_string();
    assert_eq!(fault("[]"), "the answer to tools/list is not usable: it is not an object");
    assert_eq!(fault(r#"{"tools":{}}"#), "the answer to tools/list is not usable: it has no array `tools`");
}

#[test]
fn one_odd_block_never_costs_the_result() {
    let result = CallToolResult::read(&raw(r#"{"content":[
            {"type":"text","text":"a\ud800b","annotations":{"audience":["robot"]}},
            {"type":"image","data":"aGk=","mimeType":"image/png"},
            {"type":"hologram","data":[1.10]},
            {"type":"text"},
            {"type":"resource_link","uri":"file:///a"},
            {"type":"resource","resource":{"uri":"file:///b","text":"x","mimeType":null}}
        ],"structuredContent":{"n":123456789012345678901234567890},"isError":null,"future":1}"#))
    .unwrap();
    let contents = surehand_model::ResourceContents {
        uri: "file:///b".to_owned(),
        mime_type: None,
        text: Some("x".to_owned()),
        blob: None,
    };
    assert_eq!(
        result,
        CallToolResult {
            content: vec![
                ContentBlock::Text("a\u{fffd}b".to_owned()),
                ContentBlock::Image { data: "aGk=".to_owned(), mime_type: "image/png".to_owned() },
                ContentBlock::Unknown(raw(r#"{"type":"hologram","data":[1.10]}"#)),
                ContentBlock::Unknown(raw(r#"{"type":"text"}"#)),
                ContentBlock::ResourceLink {
                    uri: "file:///a".to_owned(),
                    name: "file:///a".to_owned(),
                    mime_type: None,
                    description: None,
                },
                ContentBlock::Resource(contents),
            ],
            structured: Some(raw(r#"{"n":123456789012345678901234567890}"#)),
            is_error: false,
            notes: vec![Note::new(
                "tools/call",
                "content block 3 kept as it came",
                "a block of type `text` has no `text`"
            )],
        }
    );
}

#[test]
fn a_result_without_content_is_empty_and_a_lone_block_is_one() {
    let read = |text: &str| CallToolResult::read(&raw(text)).unwrap();
    let empty = read(r#"{"isError":true}"#);
    assert_eq!((empty.content.len(), empty.is_error, empty.notes.len()), (0, true, 1));
    assert_eq!(read(r#"{"content":"hello"}"#).content, [ContentBlock::Text("hello".to_owned())]);
    assert_eq!(
        read(r#"{"content":{"type":"text","text":"hello"}}"#).content,
        [ContentBlock::Text("hello".to_owned())]
    );
    assert!(CallToolResult::read(&raw("\"hello\"")).is_err());
}

#[test]
fn each_revision_is_told_only_what_it_has_words_for() {
    let tool = Tool {
        title: Some("T".to_owned()),
        output_schema: Some(raw(r#"{"type":"object"}"#)),
        annotations: ToolAnnotations { read_only: Some(true), ..ToolAnnotations::default() },
        ..Tool::new("t", "d", raw(r#"{"type": "object"}"#))
    };
    let written = Revision::ALL.map(|revision| write_tool(&tool, revision).as_str().to_owned());
    let bare = r#"{"name":"t","description":"d","inputSchema":{"type": "object"}}"#;
    let hinted = r#"{"name":"t","description":"d","inputSchema":{"type": "object"},"annotations":{"title":"T","readOnlyHint":true}}"#;
    let full = r#"{"name":"t","title":"T","description":"d","inputSchema":{"type": "object"},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;
    assert_eq!(written, [bare, hinted, full, full, full]);
}

#[test]
fn a_tool_of_another_server_goes_on_as_it_came_but_for_its_name_and_what_would_be_misread() {
    let text = r#"{"inputSchema" : {"x": 1.10}, "_meta":{}, "name":"t", "future":[1E2],"outputSchema":{"type":"array"}}"#;
    let page = Page::<Tool>::read(&raw(&format!(r#"{{"tools":[{text}]}}"#))).unwrap();
    let without = r#"{"inputSchema":{"x": 1.10},"_meta":{},"name":"t","future":[1E2]}"#;
    let written = Revision::ALL.map(|revision| write_tool(&page.items[0], revision).as_str().to_owned());
    assert_eq!(written, [text, text, without, without, text]);
    let renamed = Tool { name: "a.t".to_owned(), ..page.items[0].clone() };
    assert_eq!(
        write_tool(&renamed, Revision::LATEST).as_str(),
        r#"{"inputSchema":{"x": 1.10},"_meta":{},"name":"a.t","future":[1E2],"outputSchema":{"type":"array"}}"#
    );
}

#[test]
fn structured_output_goes_where_the_revision_has_it_and_as_text_everywhere() {
    let output = ToolOutput { structured: Some(raw("[1.10]")), ..ToolOutput::default() }.with_text();
    let written = Revision::ALL.map(|revision| write_output(&output, revision));
    let text = r#""content":[{"type":"text","text":"[1.10]"}]"#;
    let full = format!("{text},\"structuredContent\":[1.10]");
    assert_eq!(written, [text, text, text, text, &full]);
}
