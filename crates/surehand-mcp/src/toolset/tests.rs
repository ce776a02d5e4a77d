use std::collections::BTreeMap;
use std::task::Poll;

use expect_test::expect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;

/// Words that never reach a model.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Order {
    /// What to order,
    /// in words.
    what: String,
    /// How many.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 9))]
    count: u8,
    size: Option<Size>,
    address: Address,
    labels: BTreeMap<String, f64>,
}

fn one() -> u8 {
    1
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code)]
enum Size {
    Small,
    Large,
}

/// Where it goes.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Address {
    title: String,
    next: Option<Box<Address>>,
}

#[derive(Serialize, JsonSchema)]
struct Receipt {
    total: u32,
}

fn facts(name: &str, effect: Option<Effect>) -> ToolFacts {
    ToolFacts { name: name.to_owned(), description: "Orders.".to_owned(), effect, ..ToolFacts::default() }
}

fn order() -> ToolEntry {
    ToolEntry::new(facts("order", Some(Effect::Write)), |order: Order| async move {
        match order.count {
            7 => panic!("seven is too many"),
            8 => Err(ToolFailure::new("Sold out.").retryable().suggest("Order fewer.").did_you_mean(["tea"])),
            count => Ok(Structured::new(Receipt { total: u32::from(count) * 2 })),
        }
    })
}

fn run(entry: &ToolEntry, arguments: &str) -> ToolOutput {
    let future = (entry.run)(RawJson::parse(arguments).unwrap(), RequestContext::detached());
    // Nothing in these tools waits, so one poll finishes them.
    let mut future = future;
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the tool waits"),
    }
}

fn text(output: &ToolOutput) -> String {
    match output.content.as_slice() {
        [surehand_model::ContentBlock::Text(text)] => text.clone(),
        other => panic!("not one text: {other:?}"),
    }
}

#[test]
fn a_schema_is_inlined_ordered_and_free_of_noise() {
    let tool = order().tool;
    expect![[r##"{"type":"object","properties":{"what":{"type":"string","description":"What to order, in words."},"address":{"type":"object","description":"Where it goes.","properties":{"title":{"type":"string"},"next":{"anyOf":[{"$ref":"#/$defs/Address"},{"type":"null"}]}},"required":["title"]},"labels":{"type":"object","additionalProperties":{"type":"number"}},"count":{"type":"integer","description":"How many.","minimum":1,"maximum":9,"default":1},"size":{"type":["string","null"],"enum":["small","large",null]}},"required":["what","address","labels"],"additionalProperties":false,"$defs":{"Address":{"type":"object","description":"Where it goes.","properties":{"title":{"type":"string"},"next":{"anyOf":[{"$ref":"#/$defs/Address"},{"type":"null"}]}},"required":["title"]}}}"##]]
    .assert_eq(tool.input_schema.as_str());
    expect![[
        r#"{"type":"object","properties":{"total":{"type":"integer","minimum":0}},"required":["total"]}"#
    ]]
    .assert_eq(tool.output_schema.unwrap().as_str());
}

#[test]
fn a_tool_without_arguments_takes_any_object() {
    let entry = ToolEntry::new(facts("ping", Some(Effect::Pure)), |_: NoArguments| async { "pong" });
    assert_eq!(entry.tool.input_schema.as_str(), r#"{"type":"object","properties":{}}"#);
    let answers =
        ["{}", "null", r#"{"reason":"a model likes to give one"}"#].map(|arguments| run(&entry, arguments));
    assert_eq!(answers, [ToolOutput::text("pong"), ToolOutput::text("pong"), ToolOutput::text("pong")]);
    assert!(run(&entry, "[1]").is_error);
}

#[test]
fn a_structured_result_is_shown_in_words_too() {
    let output = run(&order(), r#"{"what":"tea","address":{"title":"x"},"labels":{},"count":2.0}"#);
    assert_eq!(
        output,
        ToolOutput {
            content: vec![surehand_model::ContentBlock::Text(r#"{"total":4}"#.to_owned())],
            structured: Some(RawJson::parse(r#"{"total":4}"#).unwrap()),
            ..ToolOutput::default()
        }
    );
}

#[test]
fn wrong_arguments_are_all_named_at_once_and_never_run() {
    let output = run(&order(), r#"{"what":5,"address":{"title":"x"},"labels":{},"count":12,"colour":"red"}"#);
    assert!(output.is_error);
    expect![[r#"
        {"error":"invalid_arguments","tool":"order","details":[{"path":"/what","expected":"string","got":"integer 5","message":"`/what`: expected string, got integer 5."},
        {"path":"/count","expected":"at most 9","got":"integer 12","message":"`/count`: expected at most 9, got integer 12."},
        {"path":"/colour","expected":"one of the properties \"what\", \"address\", \"labels\", \"count\", \"size\"","got":"unknown property \"colour\"","message":"`/colour` is not a property the schema knows. Allowed: \"what\", \"address\", \"labels\", \"count\", \"size\"."}],"suggestion":"Call order again with /what, /count, /colour corrected, and everything else as it was."}"#]].assert_eq(&text(&output).replace("},{", "},\n{"));
}

#[test]
fn what_only_the_type_refuses_is_an_argument_error_too() {
    #[derive(Deserialize, JsonSchema)]
    struct Picky {
        #[serde(rename = "at")]
        #[schemars(with = "String")]
        _at: std::net::IpAddr,
    }
    let entry = ToolEntry::new(facts("picky", None), |_: Picky| async { "fine" });
    let output = run(&entry, r#"{"at":"nowhere"}"#);
    let error: serde_json::Value = serde_json::from_str(&text(&output)).unwrap();
    assert_eq!(error["error"], "invalid_arguments");
    assert_eq!(error["details"][0]["message"], "invalid IP address syntax");
}

#[test]
fn a_failure_tells_the_model_what_to_do() {
    let output = run(&order(), r#"{"what":"tea","address":{"title":"x"},"labels":{},"count":8}"#);
    assert_eq!(
        output,
        ToolOutput::error(
            r#"{"error":"tool_failed","message":"Sold out.","retryable":true,"suggestion":"Order fewer.","did_you_mean":["tea"]}"#
        )
    );
}

#[test]
fn a_panic_becomes_an_error_and_the_tool_still_works() {
    let entry = order();
    let output = run(&entry, r#"{"what":"tea","address":{"title":"x"},"labels":{},"count":7}"#);
    assert_eq!(
        output,
        ToolOutput::error(
            r#"{"error":"tool_failed","message":"The tool `order` broke down: seven is too many","retryable":false}"#
        )
    );
    assert!(!run(&entry, r#"{"what":"tea","address":{"title":"x"},"labels":{}}"#).is_error);
}

#[test]
fn nothing_is_said_in_words() {
    let none = ToolEntry::new(facts("find", None), |_: NoArguments| async { None::<String> });
    assert_eq!(run(&none, "{}"), ToolOutput::text(r#"{"result":null,"message":"No matching record."}"#));
    let empty = ToolEntry::new(facts("find", None), |_: NoArguments| async { String::new() });
    assert_eq!(run(&empty, "{}"), ToolOutput::text(r#"{"result":null,"message":"The result is empty."}"#));
}

#[test]
fn the_effect_sets_annotations_and_card() {
    let annotations = |effect, open_world| {
        let tool =
            ToolEntry::new(ToolFacts { open_world, ..facts("t", effect) }, |_: NoArguments| async { "" });
        let a = tool.tool.annotations;
        (a.read_only, a.destructive, a.open_world, tool.card.effect)
    };
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(annotations(Some(Effect::Pure), None), (yes, None, no, Effect::Pure));
    assert_eq!(annotations(Some(Effect::Read), yes), (yes, None, yes, Effect::Read));
    assert_eq!(annotations(Some(Effect::Write), None), (no, no, no, Effect::Write));
    assert_eq!(annotations(Some(Effect::Irreversible), None), (no, yes, no, Effect::Irreversible));
    assert_eq!(annotations(Some(Effect::Egress), None), (no, no, yes, Effect::Egress));
    assert_eq!(annotations(None, None), (None, None, None, Effect::Irreversible));
}

#[test]
fn a_later_tool_takes_the_place_of_an_earlier_one_of_its_name() {
    let again = ToolEntry::new(facts("order", Some(Effect::Read)), |_: NoArguments| async { "" });
    let other = ToolEntry::new(facts("other", Some(Effect::Pure)), |_: NoArguments| async { "" });
    let set = Toolset::new("shop", "1").with_entry(order()).with_entry(other).with_entry(again);
    let card = |tool: &str, effect| ToolCard { tool: tool.to_owned(), effect };
    assert_eq!(set.cards(), [card("order", Effect::Read), card("other", Effect::Pure)]);
}

#[test]
fn wrapped_lines_are_joined_and_what_is_laid_out_stays() {
    let source = "First line\nof a paragraph.\n\nSecond one:\n- a list\n  that goes on\n- b\n\n```\ncode\n  stays\n```\n中文\n换行\n";
    expect![[r#"
        First line of a paragraph.

        Second one:
        - a list that goes on
        - b

        ```
        code
          stays
        ```
        中文换行"#]]
    .assert_eq(&schema::reflow(source));
}
