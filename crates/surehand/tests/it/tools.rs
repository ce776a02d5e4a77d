//! The tools of all servers, for people and as each provider takes them.

use std::fmt::Write as _;
use std::io::Read as _;

use expect_test::{Expect, expect};

use crate::home::Home;

fn check(arguments: &[&str], expected: Expect) {
    expected.assert_eq(&Home::new().run(arguments).to_string());
}

#[test]
fn one_line_a_tool() {
    check(
        &["tools"],
        expect![[r#"
        exit 0
        --- stdout
        files/read_text_file            (path, head?, tail?)                      Reads a text file (读取文件).
        files/list_directory            (path)                                    Lists the files and folders in a folder (列出目录).
        files/search_files              (path, pattern, exclude?)                 Finds files and folders by name, in a folder and all folders below (查找文件).
        files/get_file_info             (path)                                    Tells size, kind, times and permissions of a file or folder (文件信息).
        files/list_allowed_directories  ()                                        Names the directories that may be read.
        time/get_current_time           (timezone?)                               Current time and date in a time zone, city or country (时间, 日期).
        time/convert_time               (source_timezone, time, target_timezone)  Converts a time from one time zone, city or country to another (时区换算).
        weather/get_weather             (city, days?, units?)                     Current weather and forecast for a city (天气).
    "#]],
    );
}

#[test]
fn one_server() {
    check(
        &["tools", "time"],
        expect![[r#"
        exit 0
        --- stdout
        time/get_current_time  (timezone?)                               Current time and date in a time zone, city or country (时间, 日期).
        time/convert_time      (source_timezone, time, target_timezone)  Converts a time from one time zone, city or country to another (时区换算).
    "#]],
    );
}

#[test]
fn one_tool_with_its_schema() {
    check(
        &["tools", "time/convert_time"],
        expect![[r#"
        exit 0
        --- stdout
        time/convert_time(source_timezone, time, target_timezone)
        Converts a time from one time zone, city or country to another (时区换算).
        Policy: allow (A bundled tool that changes nothing.)

        Input schema:
        {
          "type": "object",
          "properties": {
            "source_timezone": {
              "type": "string",
              "description": "Where the time is known: an IANA time zone (\"America/New_York\"), a city or country, or an offset."
            },
            "time": {
              "type": "string",
              "description": "The time there: \"HH:MM\" for today, or a date and time such as \"2026-03-01T16:30\"."
            },
            "target_timezone": {
              "type": "string",
              "description": "Where the time is wanted: an IANA time zone (\"Asia/Tokyo\"), a city or country, or an offset."
            }
          },
          "required": ["source_timezone","time","target_timezone"],
          "additionalProperties": false
        }

        Output schema:
        {
          "type": "object",
          "properties": {
            "source": {
              "type": "object",
              "description": "One moment as a place sees it.",
              "properties": {
                "timezone": {
                  "type": "string",
                  "description": "IANA name, or the offset."
                },
                "datetime": {
                  "type": "string",
                  "description": "ISO 8601 with offset."
                },
                "day_of_week": {
                  "type": "string",
                  "description": "In English."
                },
                "is_dst": {
                  "type": "boolean",
                  "description": "Whether daylight saving time holds."
                }
              },
              "required": ["timezone","datetime","day_of_week","is_dst"]
            },
            "target": {
              "type": "object",
              "description": "One moment as a place sees it.",
              "properties": {
                "timezone": {
                  "type": "string",
                  "description": "IANA name, or the offset."
                },
                "datetime": {
                  "type": "string",
                  "description": "ISO 8601 with offset."
                },
                "day_of_week": {
                  "type": "string",
                  "description": "In English."
                },
                "is_dst": {
                  "type": "boolean",
                  "description": "Whether daylight saving time holds."
                }
              },
              "required": ["timezone","datetime","day_of_week","is_dst"]
            },
            "time_difference": {
              "type": "string",
              "description": "Target minus source, for example \"+9.0h\"."
            }
          },
          "required": ["source","target","time_difference"]
        }
    "#]],
    );
}

#[test]
fn no_such_server() {
    check(
        &["tools", "tme"],
        expect![[r#"
        exit 5
        --- stderr
        error: there is no server and no tool `tme`
        hint: Did you mean time?
    "#]],
    );
}

#[test]
fn each_format_is_what_its_provider_takes() {
    let mut all = String::new();
    for format in ["json", "openai", "anthropic", "gemini", "mcp"] {
        let ran = Home::new().run(&["tools", "time/get_current_time", "--format", format]);
        writeln!(all, "## {format}\n{ran}").unwrap();
    }
    expect![[r###"
        ## json
        exit 0
        --- stdout
        [{"server":"time","name":"get_current_time","modelName":"mcp__time__get_current_time","description":"Current time and date in a time zone, city or country (时间, 日期).","inputSchema":{"type":"object","properties":{"timezone":{"type":["string","null"],"description":"Where: an IANA time zone (\"Asia/Tokyo\"), a city or country (\"Tokyo\", \"东京\"), or an offset (\"UTC+8\"). Leave out for the user's own time zone."}},"additionalProperties":false},"outputSchema":{"type":"object","properties":{"timezone":{"type":"string","description":"IANA name, or the offset."},"datetime":{"type":"string","description":"ISO 8601 with offset."},"day_of_week":{"type":"string","description":"In English."},"is_dst":{"type":"boolean","description":"Whether daylight saving time holds."}},"required":["timezone","datetime","day_of_week","is_dst"]},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false},"decision":"allow"}]

        ## openai
        exit 0
        --- stdout
        [{"type":"function","function":{"name":"mcp__time__get_current_time","description":"Current time and date in a time zone, city or country (时间, 日期).","parameters":{"type":"object","properties":{"timezone":{"type":["string","null"],"description":"Where: an IANA time zone (\"Asia/Tokyo\"), a city or country (\"Tokyo\", \"东京\"), or an offset (\"UTC+8\"). Leave out for the user's own time zone."}},"additionalProperties":false}}}]

        ## anthropic
        exit 0
        --- stdout
        [{"name":"mcp__time__get_current_time","description":"Current time and date in a time zone, city or country (时间, 日期).","input_schema":{"type":"object","properties":{"timezone":{"type":["string","null"],"description":"Where: an IANA time zone (\"Asia/Tokyo\"), a city or country (\"Tokyo\", \"东京\"), or an offset (\"UTC+8\"). Leave out for the user's own time zone."}},"additionalProperties":false}}]

        ## gemini
        exit 0
        --- stdout
        [{"functionDeclarations":[{"name":"mcp__time__get_current_time","description":"Current time and date in a time zone, city or country (时间, 日期).","parametersJsonSchema":{"type":"object","properties":{"timezone":{"type":["string","null"],"description":"Where: an IANA time zone (\"Asia/Tokyo\"), a city or country (\"Tokyo\", \"东京\"), or an offset (\"UTC+8\"). Leave out for the user's own time zone."}},"additionalProperties":false}}]}]

        ## mcp
        exit 0
        --- stdout
        {"tools":[{"name":"get_current_time","description":"Current time and date in a time zone, city or country (时间, 日期).","inputSchema":{"type":"object","properties":{"timezone":{"type":["string","null"],"description":"Where: an IANA time zone (\"Asia/Tokyo\"), a city or country (\"Tokyo\", \"东京\"), or an offset (\"UTC+8\"). Leave out for the user's own time zone."}},"additionalProperties":false},"outputSchema":{"type":"object","properties":{"timezone":{"type":"string","description":"IANA name, or the offset."},"datetime":{"type":"string","description":"ISO 8601 with offset."},"day_of_week":{"type":"string","description":"In English."},"is_dst":{"type":"boolean","description":"Whether daylight saving time holds."}},"required":["timezone","datetime","day_of_week","is_dst"]},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}]}

    "###]].assert_eq(&all);
}

#[test]
fn a_reader_who_leaves_early_is_no_failure() {
    let home = Home::new();
    let mut child = home.command(&["tools", "--format", "json"], &[]).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

/// Greets on its standard output and lists a tool without a name.
const ODD: &str = r#"echo 'Server ready'
while read -r line; do
    id=${line#*'"id":'}; id=${id%%[!0-9]*}
    case "$line" in
    *server/discover*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"?"}}' ;;
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}' ;;
    *tools/list*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"title":"?"},{"name":"fine","inputSchema":{"type":"object"}}]}}' ;;
    esac
done
"#;

#[test]
fn what_was_odd_about_a_server_is_said_with_its_name() {
    let home = Home::new();
    home.write("work/odd.sh", ODD);
    expect![[r#"
        exit 0
        --- stdout
        odd/fine  ()
        --- stderr
        note: odd: tools/list /tools/0: left out: it has no `name`
        note: odd: dropped: Server ready: not JSON: expected value at line 1 column 1
    "#]]
    .assert_eq(&home.run(&["tools", "odd", "--server", "odd=/bin/sh odd.sh"]).to_string());
}
