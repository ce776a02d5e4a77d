use expect_test::expect;
use surehand_mcp::{Effect, ToolInvocation, ToolOutput};
use surehand_model::{ContentBlock, RawJson};

use super::*;

/// 2026-11-30T01:34:37Z, a Monday.
fn options() -> Options {
    let now: Timestamp = "2026-11-30T01:34:37Z".parse().unwrap();
    Options { clock: Arc::new(move || now), local: "Europe/Berlin".to_owned() }
}

async fn call(name: &str, arguments: &str) -> ToolOutput {
    let arguments = RawJson::parse(arguments).unwrap();
    server(options()).call(ToolInvocation::detached(name, arguments)).await.unwrap()
}

/// The text, and the structured part below it.
fn shown(output: &ToolOutput) -> String {
    let [ContentBlock::Text(text)] = output.content.as_slice() else { panic!("not one text: {output:?}") };
    match &output.structured {
        Some(structured) => format!("{text}\n{structured}"),
        None => text.clone(),
    }
}

#[tokio::test]
async fn the_time_somewhere_is_told_in_words_and_fields() {
    expect![[r#"
        It is 10:34:37 on Monday, 2026-11-30 in Asia/Tokyo (UTC+09:00).
        {"timezone":"Asia/Tokyo","datetime":"2026-11-30T10:34:37+09:00","day_of_week":"Monday","is_dst":false}"#]]
    .assert_eq(&shown(&call("get_current_time", r#"{"timezone":"东京"}"#).await));
    expect![[r#"
        It is 20:34:37 on Sunday, 2026-11-29 in America/New_York (UTC-05:00).
        {"timezone":"America/New_York","datetime":"2026-11-29T20:34:37-05:00","day_of_week":"Sunday","is_dst":false}"#]]
    .assert_eq(&shown(&call("get_current_time", r#"{"timezone":"New York"}"#).await));
    expect![[r#"
        It is 12:34:37 on Monday, 2026-11-30 in Australia/Sydney (UTC+11:00, daylight saving time).
        {"timezone":"Australia/Sydney","datetime":"2026-11-30T12:34:37+11:00","day_of_week":"Monday","is_dst":true}"#]]
    .assert_eq(&shown(&call("get_current_time", r#"{"timezone":"悉尼"}"#).await));
}

#[tokio::test]
async fn without_a_place_the_users_own_is_meant() {
    let own = shown(&call("get_current_time", r#"{"timezone":"Europe/Berlin"}"#).await);
    assert_eq!(shown(&call("get_current_time", "{}").await), own);
    assert_eq!(shown(&call("get_current_time", r#"{"timezone":null}"#).await), own);
    assert_eq!(shown(&call("get_current_time", r#"{"timezone":" "}"#).await), own);
    assert_eq!(shown(&call("get_current_time", r#"{"timezone":"Local"}"#).await), own);
}

#[tokio::test]
async fn a_time_is_converted_with_the_rules_of_its_own_day() {
    let convert = async |from: &str, time: &str, to: &str| {
        let arguments =
            serde_json::json!({ "source_timezone": from, "time": time, "target_timezone": to }).to_string();
        shown(&call("convert_time", &arguments).await)
    };
    expect![[r#"
        16:30:00 on Sunday, 2026-11-29 in America/New_York (UTC-05:00) is 06:30:00 on Monday, 2026-11-30 in Asia/Tokyo (UTC+09:00) (+14.0h from there).
        {"source":{"timezone":"America/New_York","datetime":"2026-11-29T16:30:00-05:00","day_of_week":"Sunday","is_dst":false},"target":{"timezone":"Asia/Tokyo","datetime":"2026-11-30T06:30:00+09:00","day_of_week":"Monday","is_dst":false},"time_difference":"+14.0h"}"#]]
    .assert_eq(&convert("New York", "16:30", "东京").await);
    expect![[r#"
        12:00:00 on Wednesday, 2026-07-01 in Europe/London (UTC+01:00, daylight saving time) is 16:45:00 on Wednesday, 2026-07-01 in Asia/Kathmandu (UTC+05:45) (+4.75h from there).
        {"source":{"timezone":"Europe/London","datetime":"2026-07-01T12:00:00+01:00","day_of_week":"Wednesday","is_dst":true},"target":{"timezone":"Asia/Kathmandu","datetime":"2026-07-01T16:45:00+05:45","day_of_week":"Wednesday","is_dst":false},"time_difference":"+4.75h"}"#]]
    .assert_eq(&convert("london", "2026-07-01 12:00", "Nepal").await);
    expect![[r#"
        03:30:00 on Sunday, 2026-03-29 in Europe/Berlin (UTC+02:00, daylight saving time) is 01:30:00 on Sunday, 2026-03-29 in UTC (UTC+00:00) (-2.0h from there). The clocks are changed around that time: it exists twice or not at all, and the usual reading was taken.
        {"source":{"timezone":"Europe/Berlin","datetime":"2026-03-29T03:30:00+02:00","day_of_week":"Sunday","is_dst":true},"target":{"timezone":"UTC","datetime":"2026-03-29T01:30:00+00:00","day_of_week":"Sunday","is_dst":false},"time_difference":"-2.0h"}"#]]
    .assert_eq(&convert("Berlin", "2026-03-29T02:30", "UTC").await);
    expect![[r#"
        02:00:00 on Monday, 2026-11-30 in Europe/Paris (UTC+01:00) is 09:00:00 on Monday, 2026-11-30 in UTC+08:00 (UTC+08:00) (+7.0h from there).
        {"source":{"timezone":"Europe/Paris","datetime":"2026-11-30T02:00:00+01:00","day_of_week":"Monday","is_dst":false},"target":{"timezone":"UTC+08:00","datetime":"2026-11-30T09:00:00+08:00","day_of_week":"Monday","is_dst":false},"time_difference":"+7.0h"}"#]]
    .assert_eq(&convert("Paris", "2026-11-30T01:00:00Z", "UTC+8").await);
}

#[tokio::test]
async fn what_cannot_be_understood_is_explained() {
    let zone = call("get_current_time", r#"{"timezone":"USA"}"#).await;
    assert!(zone.is_error);
    expect![[r#"{"error":"ambiguous_timezone","message":"USA has several time zones.","retryable":false,"suggestion":"Name a city, or one of these time zones.","did_you_mean":["America/New_York","America/Chicago","America/Denver","America/Los_Angeles","America/Anchorage","Pacific/Honolulu"]}"#]]
    .assert_eq(&shown(&zone));
    let time =
        call("convert_time", r#"{"source_timezone":"UTC","time":"teatime","target_timezone":"UTC"}"#).await;
    assert!(time.is_error);
    expect![[r#"{"error":"invalid_time","message":"`teatime` is not a time.","retryable":false,"suggestion":"Write \"HH:MM\" in 24 hours, for example \"16:30\", or a date and time, for example \"2026-03-01T16:30\"."}"#]]
    .assert_eq(&shown(&time));
}

#[test]
fn the_tools_are_described_for_a_model() {
    let mut listed = String::new();
    for tool in server(options()).tools() {
        let _ = writeln!(
            listed,
            "{}: {}\n{}\n{}\n{:?}\n",
            tool.name,
            tool.description,
            tool.input_schema,
            tool.output_schema.map(|schema| schema.to_string()).unwrap_or_default(),
            tool.annotations,
        );
    }
    expect![[r#"
        get_current_time: Current time and date in a time zone, city or country (时间, 日期).
        {"type":"object","properties":{"timezone":{"type":["string","null"],"description":"Where: an IANA time zone (\"Asia/Tokyo\"), a city or country (\"Tokyo\", \"东京\"), or an offset (\"UTC+8\"). Leave out for the user's own time zone."}},"additionalProperties":false}
        {"type":"object","properties":{"timezone":{"type":"string","description":"IANA name, or the offset."},"datetime":{"type":"string","description":"ISO 8601 with offset."},"day_of_week":{"type":"string","description":"In English."},"is_dst":{"type":"boolean","description":"Whether daylight saving time holds."}},"required":["timezone","datetime","day_of_week","is_dst"]}
        ToolAnnotations { read_only: Some(true), destructive: None, idempotent: Some(true), open_world: Some(false) }

        convert_time: Converts a time from one time zone, city or country to another (时区换算).
        {"type":"object","properties":{"source_timezone":{"type":"string","description":"Where the time is known: an IANA time zone (\"America/New_York\"), a city or country, or an offset."},"time":{"type":"string","description":"The time there: \"HH:MM\" for today, or a date and time such as \"2026-03-01T16:30\"."},"target_timezone":{"type":"string","description":"Where the time is wanted: an IANA time zone (\"Asia/Tokyo\"), a city or country, or an offset."}},"required":["source_timezone","time","target_timezone"],"additionalProperties":false}
        {"type":"object","properties":{"source":{"type":"object","description":"One moment as a place sees it.","properties":{"timezone":{"type":"string","description":"IANA name, or the offset."},"datetime":{"type":"string","description":"ISO 8601 with offset."},"day_of_week":{"type":"string","description":"In English."},"is_dst":{"type":"boolean","description":"Whether daylight saving time holds."}},"required":["timezone","datetime","day_of_week","is_dst"]},"target":{"type":"object","description":"One moment as a place sees it.","properties":{"timezone":{"type":"string","description":"IANA name, or the offset."},"datetime":{"type":"string","description":"ISO 8601 with offset."},"day_of_week":{"type":"string","description":"In English."},"is_dst":{"type":"boolean","description":"Whether daylight saving time holds."}},"required":["timezone","datetime","day_of_week","is_dst"]},"time_difference":{"type":"string","description":"Target minus source, for example \"+9.0h\"."}},"required":["source","target","time_difference"]}
        ToolAnnotations { read_only: Some(true), destructive: None, idempotent: Some(true), open_world: Some(false) }

    "#]].assert_eq(&listed);
}

#[test]
fn the_tools_only_read() {
    let card = |tool: &str| ToolCard { tool: tool.to_owned(), effect: Effect::Read };
    assert_eq!(cards(), [card("get_current_time"), card("convert_time")]);
}
