//! What our client makes of servers behind an address.

use surehand_mcp::Revision;
use surehand_model::{Note, RawJson, Secret};
use surehand_transport::{
    CallOptions, Client, ClientError, ClientEvent, ClientOptions, Era, HttpTarget, OpenError, Progress,
    Target,
};
use url::Url;

use crate::fake::Fake;
use crate::fixture::{Events, open, text};

const DISCOVERED: &str = "200 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}}}";
const INITIALIZED: &str = "200 content-type: application/json; mcp-session-id: s1\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}";
const UNKNOWN: &str = "200 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"code\":-32601,\"message\":\"?\"}}";
const HELLO: &str = "200 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}}";
const TAKEN: &str = "202";
const CUT: &str = "the server ended its stream without an answer, so whether the call ran is not known, and it was not repeated";

async fn opened(fake: &Fake, era: Era) -> (Result<Client, OpenError>, Events) {
    let url = Url::parse(&format!("http://user:hush@{}/mcp?key=hush", fake.address)).unwrap();
    let headers = vec![
        ("X-Mine".to_owned(), Secret::new("1".to_owned())),
        ("mcp-method".to_owned(), Secret::new("forged".to_owned())),
    ];
    open(Target::Http(HttpTarget { url, headers }), ClientOptions { era, ..ClientOptions::default() }).await
}

async fn call(client: &Client) -> Result<String, ClientError> {
    let outcome = client.call_tool("t", &RawJson::empty_object(), CallOptions::default()).await;
    outcome.map(|outcome| text(&outcome).to_owned())
}

#[tokio::test]
async fn a_stateless_server_is_asked_with_routing_headers_and_no_others() {
    let fake = Fake::start(&[DISCOVERED, HELLO]).await;
    let (client, _) = opened(&fake, Era::Auto).await;
    let client = client.unwrap();
    assert_eq!(client.server().revision, Revision::V2026_07_28);
    client.call_tool("天気", &RawJson::empty_object(), CallOptions::default()).await.unwrap();
    client.close().await;
    assert_eq!(
        fake.asked(),
        [
            "POST mcp-protocol-version=2026-07-28 mcp-method=server/discover x-mine=1 [server/discover]",
            "POST mcp-protocol-version=2026-07-28 mcp-method=tools/call mcp-name==?base64?5aSp5rCX?= x-mine=1 [tools/call]",
        ]
    );
}

#[tokio::test]
async fn a_server_with_sessions_gets_its_session_back_with_every_request_and_at_the_end() {
    // The last is what a bridge makes of a server that wants a handshake.
    let wrapped = "400 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"code\":-32001,\"message\":\"Error POSTing: Bad Request: Server not initialized\"}}";
    for no in
        ["400 content-type: text/plain\nBad Request: Server not initialized", UNKNOWN, "404", "422", wrapped]
    {
        let fake = Fake::start(&[no, INITIALIZED, TAKEN, HELLO, TAKEN]).await;
        let (client, _) = opened(&fake, Era::Auto).await;
        let client = client.unwrap();
        assert_eq!(call(&client).await, Ok("hello".to_owned()));
        client.close().await;
        let session = "mcp-protocol-version=2025-11-25 mcp-session-id=s1 mcp-method=forged x-mine=1";
        assert_eq!(
            fake.asked(),
            [
                "POST mcp-protocol-version=2026-07-28 mcp-method=server/discover x-mine=1 [server/discover]",
                "POST mcp-method=forged x-mine=1 [initialize]",
                &format!("POST {session} [notifications/initialized]"),
                &format!("POST {session} [tools/call]"),
                &format!("DELETE {session}"),
            ],
            "{no}"
        );
    }
}

#[tokio::test]
async fn an_answer_may_come_as_events_after_progress_and_questions() {
    let events = concat!(
        "200 content-type: text/event-stream; charset=utf-8\n",
        ": hello\n\nid: 1\ndata:\n\n",
        "data: {\"method\":\"notifications/progress\",\"params\":{\"progressToken\":ID,\"progress\":1,\"message\":\"half\"}}\n\n",
        "event: other\ndata: {}\n\n",
        "data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n",
        "data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[{\"type\":\"text\",\ndata: \"text\":\"hello\"}]}}\n\n",
    );
    let fake = Fake::start(&[INITIALIZED, TAKEN, &events.replace("; charset=utf-8", ""), TAKEN]).await;
    let (client, _) = opened(&fake, Era::Legacy).await;
    let client = client.unwrap();
    let reports = std::sync::Mutex::new(Vec::new());
    let listen = |progress: Progress| reports.lock().unwrap().push(progress.message);
    let options = CallOptions { on_progress: Some(&listen), ..CallOptions::default() };
    let outcome = client.call_tool("t", &RawJson::empty_object(), options).await.unwrap();
    assert_eq!((text(&outcome), reports.lock().unwrap().clone()), ("hello", vec![Some("half".to_owned())]));
    client.close().await;
    // The ping was answered by a request of its own; an answer has no method.
    let answer = "POST mcp-protocol-version=2025-11-25 mcp-session-id=s1 mcp-method=forged x-mine=1";
    assert!(fake.asked().contains(&answer.to_owned()), "{:?}", fake.asked());
}

#[tokio::test]
async fn a_stream_that_breaks_is_taken_up_again_where_the_revision_has_that() {
    let broken = "200 content-type: text/event-stream\nretry: 1\nid: e7\ndata:\n\n";
    let rest = "200 content-type: text/event-stream\nid: e8\ndata: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}}\n\n";
    let fake = Fake::start(&[INITIALIZED, TAKEN, broken, &rest.replace("\"id\":3", "\"id\":2")]).await;
    let (client, _) = opened(&fake, Era::Legacy).await;
    assert_eq!(call(&client.unwrap()).await, Ok("hello".to_owned()));
    let resumed =
        "GET mcp-protocol-version=2025-11-25 mcp-session-id=s1 mcp-method=forged last-event-id=e7 x-mine=1";
    assert_eq!(fake.asked()[3], resumed);

    let fake = Fake::start(&[DISCOVERED, broken]).await;
    let (client, _) = opened(&fake, Era::Auto).await;
    assert_eq!(call(&client.unwrap()).await, Err(ClientError::Protocol { what: CUT.to_owned() }));
    assert_eq!(fake.asked().len(), 2);
}

#[tokio::test]
async fn a_stream_that_stays_empty_is_given_up_and_one_without_a_place_is_not_asked_for_again() {
    let broken = "200 content-type: text/event-stream\nretry: 1\nid: e7\ndata:\n\n";
    let empty = "200 content-type: text/event-stream\n";
    let taken_back = "200 content-type: text/event-stream\nid: e8\ndata:\n\nid\ndata:\n\n";
    let fake =
        Fake::start(&[INITIALIZED, TAKEN, broken, empty, empty, empty, empty, taken_back, HELLO]).await;
    let (client, _) = opened(&fake, Era::Legacy).await;
    let client = client.unwrap();
    assert_eq!(call(&client).await, Err(ClientError::Protocol { what: CUT.to_owned() }));
    assert_eq!(call(&client).await, Err(ClientError::Protocol { what: CUT.to_owned() }));
    assert_eq!(call(&client).await, Ok("hello".to_owned()));
    let verbs: Vec<String> = fake.asked()[2..].iter().map(|line| line[..4].trim().to_owned()).collect();
    assert_eq!(verbs, ["POST", "GET", "GET", "GET", "GET", "POST", "POST"]);
}

#[tokio::test]
async fn the_answer_counts_even_where_the_stream_ends_without_an_empty_line() {
    let hello = "200 content-type: text/event-stream\nid: e1\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}}";
    let half = "200 content-type: text/event-stream\nid: e1\ndata:\n\nid: e2\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\"resu";
    let fake = Fake::start(&[INITIALIZED, TAKEN, hello, half, "405\n"]).await;
    let (client, _) = opened(&fake, Era::Legacy).await;
    let client = client.unwrap();
    assert_eq!(call(&client).await, Ok("hello".to_owned()));
    // Half an event is none: it is asked for again.
    assert!(call(&client).await.is_err());
    let resumed =
        "GET mcp-protocol-version=2025-11-25 mcp-session-id=s1 mcp-method=forged last-event-id=e1 x-mine=1";
    assert_eq!(fake.asked()[4], resumed);
}

#[tokio::test]
async fn a_lost_session_is_opened_anew_and_what_it_refused_is_asked_once_more() {
    let lost = "404 content-type: text/plain\nsession not found";
    let wants_handshake = "400 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"Bad Request: Server not initialized\"}}";
    let again = INITIALIZED.replace("s1", "s2");
    let tools = "200 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"tools\":[{\"name\":\"t\",\"inputSchema\":{}}]}}";
    let fake =
        Fake::start(&[INITIALIZED, TAKEN, lost, &again, TAKEN, tools, wants_handshake, &again, TAKEN, HELLO])
            .await;
    let (client, events) = opened(&fake, Era::Legacy).await;
    let client = client.unwrap();
    assert_eq!(client.list_tools().await.unwrap().items.len(), 1);
    // The call was refused before it ran.
    assert_eq!(call(&client).await, Ok("hello".to_owned()));
    let note = ClientEvent::Note(Note::new(
        "server",
        "session opened anew",
        "the server had forgotten the one before",
    ));
    assert_eq!(*events.lock().unwrap(), [note.clone(), note]);
    assert!(fake.asked().last().unwrap().contains("mcp-session-id=s2"));
}

#[tokio::test]
async fn a_wanted_login_is_told_with_the_servers_words_at_the_start_and_later() {
    let wanted = "401 www-authenticate: Bearer resource_metadata=\"https://a.example/meta\"";
    let fake = Fake::start(&[wanted]).await;
    let (client, _) = opened(&fake, Era::Auto).await;
    assert_eq!(
        client.unwrap_err().to_string(),
        format!(
            "http://{}/mcp wants a login; it said: Bearer resource_metadata=\"https://a.example/meta\"",
            fake.address
        )
    );
    let fake = Fake::start(&[
        DISCOVERED,
        "401\nplease log in",
        "403 www-authenticate: Bearer error=\"insufficient_scope\"",
        "403\nno",
    ])
    .await;
    let (client, _) = opened(&fake, Era::Auto).await;
    let client = client.unwrap();
    let url = format!("http://{}/mcp", fake.address);
    let login =
        |challenge: &str| Err(ClientError::LoginNeeded { url: url.clone(), challenge: challenge.to_owned() });
    assert_eq!(call(&client).await, login("please log in"));
    assert_eq!(call(&client).await, login("Bearer error=\"insufficient_scope\""));
    let what = format!("{url} answered HTTP 403: no");
    assert_eq!(call(&client).await, Err(ClientError::Protocol { what }));
}

#[tokio::test]
async fn pages_are_turned_until_the_last_or_until_the_server_goes_round_in_circles() {
    let page = |tools: &str, next: &str| {
        format!(
            "200 content-type: application/json\n{{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{{\"tools\":[{tools}],\"nextCursor\":{next}}}}}"
        )
    };
    let tool = |name: &str| format!("{{\"name\":\"{name}\",\"inputSchema\":{{}}}}");
    let pages = [page(&tool("a"), "\"\""), page("7", "\"x\""), page(&tool("b"), "null")];
    let circle = [page(&tool("a"), "\"x\""), page(&tool("a"), "\"x\"")];
    let mut answers = vec![DISCOVERED];
    answers.extend(pages.iter().chain(&circle).map(String::as_str));
    let fake = Fake::start(&answers).await;
    let (client, _) = opened(&fake, Era::Auto).await;
    let client = client.unwrap();
    let mut heard = Vec::new();
    for _ in 0..2 {
        let listing = client.list_tools().await.unwrap();
        let names: Vec<String> = listing.items.into_iter().map(|tool| tool.name).collect();
        heard.push((names.join(" "), listing.notes.len()));
    }
    assert_eq!(heard, [("a b".to_owned(), 1), ("a".to_owned(), 2)]);
    assert_eq!(fake.asked().len(), 6);
}

#[test]
fn what_may_be_secret_in_a_target_is_not_shown() {
    let url = Url::parse("https://user:hush@a.example/mcp?key=hush#hush").unwrap();
    let headers = vec![("Authorization".to_owned(), Secret::new("hush".to_owned()))];
    assert_eq!(
        format!("{:?}", Target::Http(HttpTarget { url, headers })),
        r#"Http(HttpTarget { url: "https://a.example/mcp", headers: ["Authorization"] })"#
    );
}

#[tokio::test]
async fn trouble_on_the_way_is_no_evidence_of_an_era() {
    let inside = "500 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,\"message\":\"oops\"}}";
    for (trouble, why) in [
        (
            "503 content-type: text/html\n<h1>down for  maintenance</h1>",
            "HTTP 503: <h1>down for maintenance</h1>",
        ),
        ("500\noops", "HTTP 500: oops"),
        ("501", "HTTP 501"),
        ("429\nlater", "answered HTTP 429: later"),
        (inside, "HTTP 500: oops"),
    ] {
        let fake = Fake::start(&[trouble]).await;
        let (client, _) = opened(&fake, Era::Auto).await;
        let words = client.unwrap_err().to_string();
        assert!(words.ends_with(why), "{words}");
        assert_eq!(fake.asked().len(), 1);
    }
}

#[tokio::test]
async fn an_address_that_is_no_server_says_what_it_answered_and_is_tried_as_the_oldest_transport_too() {
    let page = "404 content-type: text/html\n<html>not here</html>";
    let fake = Fake::start(&[page, page, page]).await;
    let (client, _) = opened(&fake, Era::Auto).await;
    assert_eq!(
        client.unwrap_err().to_string(),
        "the answer to `initialize` is not usable: HTTP 404: <html>not here</html>"
    );
    assert_eq!(fake.asked()[2], "GET mcp-method=forged x-mine=1");
}

#[tokio::test]
async fn an_answer_that_is_none_and_a_question_back_are_errors_that_say_so() {
    let page = "200 content-type: text/html\n<html>hello</html>";
    let asks = "200 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{\"method\":\"elicitation/create\"}}}}";
    let fake = Fake::start(&[DISCOVERED, page, TAKEN, asks]).await;
    let (client, _) = opened(&fake, Era::Auto).await;
    let client = client.unwrap();
    let url = format!("http://{}/mcp", fake.address);
    let what = format!("{url} answered something that is no message of the protocol: <html>hello</html>");
    assert_eq!(call(&client).await, Err(ClientError::Protocol { what }));
    let what = "the server took the request and gave no answer to it".to_owned();
    assert_eq!(call(&client).await, Err(ClientError::Protocol { what }));
    assert_eq!(
        call(&client).await.unwrap_err().to_string(),
        "the server asks for input (elicitation/create) before it answers, and this client has not offered to give any"
    );
}

#[tokio::test]
async fn arguments_that_a_schema_marks_are_repeated_in_headers_and_bad_marks_cost_the_tool() {
    let tools = concat!(
        "200 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"tools\":[",
        "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"r\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"}}}},",
        "{\"name\":\"bad\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"r\":{\"type\":\"number\",\"x-mcp-header\":\"R\"}}}}]}}"
    );
    let fake = Fake::start(&[DISCOVERED, tools, HELLO]).await;
    let (client, _) = opened(&fake, Era::Auto).await;
    let client = client.unwrap();
    let listing = client.list_tools().await.unwrap();
    assert_eq!(listing.items.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["t"]);
    let why = "`x-mcp-header: R` is on a value that is no string, integer or boolean";
    assert_eq!(listing.notes, [Note::new("tools/list", "tool `bad` left out", why)]);
    let arguments = RawJson::parse(r#"{"r":"eu 1"}"#).unwrap();
    client.call_tool("t", &arguments, CallOptions::default()).await.unwrap();
    assert!(fake.asked()[2].contains("mcp-param-region=eu 1"), "{:?}", fake.asked());
}

#[tokio::test]
async fn a_call_whose_headers_are_refused_is_made_again_once_as_the_tool_is_listed_now() {
    let tools = |header: &str| {
        format!(
            "200 content-type: application/json\n{{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{{\"tools\":[{{\"name\":\"t\",\"inputSchema\":{{\"type\":\"object\",\"properties\":{{\"r\":{{\"type\":\"string\"{header}}}}}}}}}]}}}}"
        )
    };
    let refused = "400 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"code\":-32020,\"message\":\"`Mcp-Param-Region` is absent\"}}";
    let (before, now) = (tools(""), tools(",\"x-mcp-header\":\"Region\""));
    let fake = Fake::start(&[DISCOVERED, &before, refused, &now, HELLO, refused, &now, refused]).await;
    let (client, _) = opened(&fake, Era::Auto).await;
    let client = client.unwrap();
    client.list_tools().await.unwrap();
    let arguments = RawJson::parse(r#"{"r":"eu"}"#).unwrap();
    let outcome = client.call_tool("t", &arguments, CallOptions::default()).await;
    assert_eq!(outcome.as_ref().map(text), Ok("hello"));
    let calls: Vec<String> = fake.asked().into_iter().filter(|line| line.contains("tools/call")).collect();
    let call = |region: &str| {
        format!(
            "POST mcp-protocol-version=2026-07-28 mcp-method=tools/call mcp-name=t{region} x-mine=1 [tools/call]"
        )
    };
    assert_eq!(calls, [call(""), call(" mcp-param-region=eu")]);
    let failure = client.call_tool("t", &arguments, CallOptions::default()).await.unwrap_err();
    assert_eq!(failure.to_string(), "`Mcp-Param-Region` is absent (code -32020)");
    assert_eq!(fake.asked().len(), 8);
}

#[tokio::test]
async fn what_does_no_harm_twice_is_asked_again_after_a_break_and_nothing_else() {
    let tools = "200 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"tools\":[{\"name\":\"t\",\"inputSchema\":{}},{\"name\":\"again\",\"inputSchema\":{},\"annotations\":{\"idempotentHint\":true}}]}}";
    let broken = "200 content-type: text/event-stream\n: nothing\n\n";
    let fake = Fake::start(&[DISCOVERED, broken, tools, broken, HELLO, broken, broken, broken]).await;
    let (client, _) = opened(&fake, Era::Auto).await;
    let client = client.unwrap();
    assert_eq!(client.list_tools().await.unwrap().items.len(), 2);
    let outcome = client.call_tool("again", &RawJson::empty_object(), CallOptions::default()).await;
    assert_eq!(outcome.as_ref().map(text), Ok("hello"));
    assert_eq!(call(&client).await, Err(ClientError::Protocol { what: CUT.to_owned() }));
    // Once more and no more.
    assert!(client.list_tools().await.is_err());
    assert_eq!(fake.asked().len(), 8);
}
