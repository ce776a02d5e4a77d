//! Results that a server allows to be kept. What reached the server is what counts: each process here counts its requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use surehand_mcp::BoxFuture;
use surehand_model::{RawJson, Secret};
use surehand_transport::{
    Authorizer, CallOptions, Challenge, Client, ClientError, ClientOptions, Credentials, Method, Retry,
    Target,
};
use url::Url;

use crate::fake::Fake;
use crate::fixture::{http_target, open, shell};

/// A stateless process that gives the count of lines read so far as the name of its only tool, resource and content.
fn counting(hints: &str, after: &str) -> Target {
    let script = r#"n=0
    while read -r line; do
        n=$((n + 1))
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\)[,}].*/\1/p')
        case "$line" in
        *server/discover*) result='"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{}},"instructions":"'"$n"'"';;
        *tools/list*) result='"tools":[{"name":"'"$n"'","inputSchema":{}}]';;
        *resources/read*) result='"contents":[{"uri":"a:1","text":"'"$n"'"}]';;
        esac
        printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"resultType":"complete",HINTS,'"$result"'}}'
        AFTER
    done"#;
    Target::Child(shell(&script.replace("HINTS", hints).replace("AFTER", after)))
}

async fn connect(target: Target) -> Client {
    open(target, ClientOptions::default()).await.0.unwrap()
}

async fn tool(client: &Client) -> String {
    client.list_tools().await.unwrap().items.pop().unwrap().name
}

async fn content(client: &Client) -> String {
    client.read_resource("a:1").await.unwrap().contents.pop().unwrap().text.unwrap()
}

async fn words(client: &Client) -> String {
    client.discover().await.unwrap().instructions.unwrap()
}

#[tokio::test]
async fn what_is_fresh_is_not_asked_for_again_until_it_is_forgotten() {
    let client = connect(counting(r#""ttlMs":3600000,"cacheScope":"private""#, ":")).await;
    let mut seen = Vec::new();
    for round in 0..3 {
        seen.push([words(&client).await, tool(&client).await, content(&client).await]);
        if round == 1 {
            client.forget_kept();
        }
    }
    assert_eq!(seen, [["2", "3", "4"], ["2", "3", "4"], ["5", "6", "7"]]);
}

#[tokio::test]
async fn without_a_time_everything_is_asked_for_each_time() {
    let client = connect(counting(r#""cacheScope":"public""#, ":")).await;
    let seen = [tool(&client).await, tool(&client).await, content(&client).await, content(&client).await];
    assert_eq!(seen, ["2", "3", "4", "5"]);
}

#[tokio::test]
async fn what_the_server_says_has_changed_is_asked_for_again() {
    let changed = r#"case "$line" in *server/discover*) ;; *)
        printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';; esac"#;
    let client = connect(counting(r#""ttlMs":3600000,"cacheScope":"public""#, changed)).await;
    // Each word of a change stands behind an answer, and is read before the next one.
    let seen = [tool(&client).await, content(&client).await, tool(&client).await, content(&client).await];
    assert_eq!(seen, ["2", "3", "4", "3"]);
}

const DISCOVERED: &str = "200 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}}}";

fn page(cursor: &str, name: &str) -> String {
    format!(
        "200 content-type: application/json\n{{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{{\"resultType\":\"complete\",\"ttlMs\":3600000,\"cacheScope\":\"public\"{cursor},\"tools\":[{{\"name\":\"{name}\",\"inputSchema\":{{}}}}]}}}}"
    )
}

#[tokio::test]
async fn a_cursor_from_a_page_that_was_kept_may_have_gone_bad_and_then_all_pages_are_asked_for_again() {
    let stale = "200 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"code\":-32602,\"message\":\"bad cursor\"}}";
    let (first, old, new) = (page(r#","nextCursor":"x""#, "a"), page("", "b"), page("", "c"));
    let old = old.replace("3600000", "0");
    let server = Fake::start(&[DISCOVERED, &first, &old, stale, &first, &new]).await;
    let client = connect(http_target(&format!("http://{}/mcp", server.address))).await;
    let names = async || {
        let listing = client.list_tools().await.unwrap();
        listing.items.into_iter().map(|tool| tool.name).collect::<Vec<_>>()
    };
    assert_eq!(names().await, ["a", "b"]);
    assert_eq!(names().await, ["a", "c"]);
    assert_eq!(names().await, ["a", "c"]);
    assert_eq!(server.asked().len(), 6);
}

#[tokio::test]
async fn a_cursor_that_is_refused_at_once_is_an_error() {
    let stale = "200 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"code\":-32602,\"message\":\"bad cursor\"}}";
    let first = page(r#","nextCursor":"x""#, "a").replace("3600000", "0");
    let server = Fake::start(&[DISCOVERED, &first, stale]).await;
    let client = connect(http_target(&format!("http://{}/mcp", server.address))).await;
    assert!(matches!(client.list_tools().await, Err(ClientError::Rpc { code: -32602, .. })));
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn a_call_refused_for_its_headers_is_made_once_more_when_the_tools_have_been_read_again() {
    let refused = "400 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"code\":-32020,\"message\":\"?\"}}";
    let list = page("", "t").replace(
        r#""inputSchema":{}"#,
        r#""inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"}}}"#,
    );
    let done = "200 content-type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"resultType\":\"complete\",\"content\":[]}}";
    let server = Fake::start(&[DISCOVERED, refused, &list, done, refused, &list, refused]).await;
    let client = connect(http_target(&format!("http://{}/mcp", server.address))).await;
    let arguments = RawJson::parse(r#"{"r":"eu"}"#).unwrap();
    client.call_tool("t", &arguments, CallOptions::default()).await.unwrap();
    let call = "POST mcp-protocol-version=2026-07-28 mcp-method=tools/call mcp-name=t";
    assert_eq!(
        server.asked()[1..],
        [
            format!("{call} [tools/call]"),
            "POST mcp-protocol-version=2026-07-28 mcp-method=tools/list [tools/list]".to_owned(),
            format!("{call} mcp-param-region=eu [tools/call]"),
        ]
    );
    let again = client.call_tool("t", &arguments, CallOptions::default()).await;
    assert!(matches!(again, Err(ClientError::Rpc { code: -32020, .. })), "{again:?}");
}

/// Brings other credentials with each request once it is told to.
struct Account(AtomicUsize);

impl Authorizer for Account {
    fn headers<'a>(&'a self, _: &'a Method, _: &'a Url) -> BoxFuture<'a, Result<Credentials, String>> {
        let account = self.0.load(Ordering::Relaxed);
        let given = ("Authorization".to_owned(), Secret::new(format!("Bearer {account}")));
        Box::pin(async { Ok(vec![given]) })
    }

    fn challenged<'a>(&'a self, _: Challenge) -> BoxFuture<'a, Result<Retry, String>> {
        Box::pin(async { Ok(Retry::GiveUp) })
    }
}

#[tokio::test]
async fn what_one_account_was_told_is_not_shown_to_another() {
    let (first, read, second) = (page("", "a"), page("", "x"), page("", "b"));
    let (first, second) = (first.replace("public", "private"), second.replace("public", "private"));
    let read = read.replace(r#""tools":"#, r#""contents":[],"tools":"#);
    let server = Fake::start(&[DISCOVERED, &first, &read, &second]).await;
    let account = Arc::new(Account(AtomicUsize::new(1)));
    let authorizer: Option<Arc<dyn Authorizer>> = Some(account.clone());
    let options = ClientOptions { authorizer, ..ClientOptions::default() };
    let client = open(http_target(&format!("http://{}/mcp", server.address)), options).await.0.unwrap();
    assert_eq!([tool(&client).await, tool(&client).await], ["a", "a"]);
    account.0.store(2, Ordering::Relaxed);
    // The first request with the new credentials is the one that shows them.
    client.read_resource("a:1").await.unwrap();
    assert_eq!(tool(&client).await, "b");
}
