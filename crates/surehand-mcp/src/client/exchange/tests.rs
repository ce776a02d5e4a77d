use super::*;

/// What came in, in words that can be compared.
fn said<W: std::fmt::Debug>(incoming: Vec<Incoming<W>>) -> Vec<String> {
    incoming
        .into_iter()
        .map(|item| match item {
            Incoming::Answer { waiter, outcome: Ok(result) } => format!("{waiter:?} gets {result}"),
            Incoming::Answer { waiter, outcome: Err(error) } => format!("{waiter:?} fails: {error}"),
            Incoming::Progress { id, progress } => format!("{id} is at {}", progress.progress),
            Incoming::Question { id, params, .. } => {
                format!("question {id}: {}", params.map(|params| params.to_string()).unwrap_or_default())
            }
            Incoming::Withdrawn { id } => format!("withdrawn {id}"),
            Incoming::Granted { id, granted } => format!("{id} is granted {granted:?}"),
            Incoming::Reply(message) => format!("send {message}"),
            Incoming::Notice(notice) => format!("{notice:?}"),
            Incoming::Note(note) => format!("note: {note}"),
        })
        .collect()
}

fn exchange(revision: Revision, waiters: &[&'static str]) -> Exchange<&'static str> {
    let mut exchange = Exchange::new(Some(revision), EnvelopeLimits::default());
    for waiter in waiters {
        exchange.begin(*waiter);
    }
    exchange
}

#[test]
fn answers_find_who_waits_in_whatever_order_they_come() {
    let mut exchange = exchange(Revision::V2025_11_25, &["first", "second"]);
    assert_eq!(
        said(exchange.receive(r#"{"jsonrpc":"2.0","id":2,"result":{"x": 1.10}}"#)),
        [r#""second" gets {"x": 1.10}"#]
    );
    assert_eq!(
        said(exchange.receive(r#"{"jsonrpc":"2.0","id":"1","error":{"code":-32602,"message":"no"}}"#)),
        [
            "note: server: answer under id \"1\" taken: ids are to come back as they were sent; this is said once",
            r#""first" fails: no (code -32602)"#
        ]
    );
    assert_eq!(exchange.waiting(), 0);
}

#[test]
fn a_server_that_writes_our_ids_in_another_way_is_told_of_once() {
    let mut exchange = exchange(Revision::V2025_11_25, &["first", "second", "third"]);
    let answer = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    assert_eq!(said(exchange.receive(&answer("1.0"))).len(), 2);
    assert_eq!(said(exchange.receive(&answer("\"2\""))), [r#""second" gets {}"#]);
    assert_eq!(said(exchange.receive(&answer("3"))), [r#""third" gets {}"#]);
}

#[test]
fn a_late_answer_is_dropped_and_an_unasked_one_is_noted() {
    let mut exchange = exchange(Revision::V2025_11_25, &["first"]);
    assert_eq!(exchange.forget(1), Some("first"));
    assert_eq!(said(exchange.receive(r#"{"id":1,"result":{}}"#)), [""; 0]);
    assert_eq!(
        said(exchange.receive(r#"{"id":9,"result":{}}"#)),
        ["note: server: answer under id 9 dropped: nothing was asked under it"]
    );
}

#[test]
fn an_error_without_an_id_reaches_the_only_one_who_waits() {
    let text = r#"{"id":null,"error":{"code":-32700,"message":"what?"}}"#;
    let mut alone = exchange(Revision::V2025_11_25, &["alone"]);
    assert_eq!(said(alone.receive(text)), [r#""alone" fails: what? (code -32700)"#]);
    let mut two = exchange(Revision::V2025_11_25, &["a", "b"]);
    assert_eq!(
        said(two.receive(text)),
        ["note: server: answer without an id dropped: nothing was asked under it"]
    );
}

#[test]
fn a_ping_is_answered_and_what_was_not_offered_is_refused_only_where_clients_take_requests() {
    let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
    let sampling = r#"{"jsonrpc":"2.0","id":4,"method":"sampling/createMessage","params":{}}"#;
    let mut legacy = exchange(Revision::V2024_11_05, &[]);
    assert_eq!(said(legacy.receive(ping)), [r#"send {"jsonrpc":"2.0","id":"p","result":{}}"#]);
    assert_eq!(
        said(legacy.receive(sampling)),
        [
            r#"send {"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"this client does not offer sampling/createMessage"}}"#
        ]
    );
    let mut modern = exchange(Revision::V2026_07_28, &[]);
    assert_eq!(
        said(modern.receive(ping)),
        ["note: server: request `ping` of the server dropped: this revision has no requests to clients"]
    );
}

#[test]
fn noise_is_noted_and_survived_and_blank_lines_are_nothing() {
    let mut exchange = exchange(Revision::V2025_11_25, &["waiting"]);
    assert_eq!(
        said(exchange.receive("Listening on port 7\u{1b}[0m")),
        ["note: server: dropped: Listening on port 7 [0m: not JSON: expected value at line 1 column 1"]
    );
    assert_eq!(said(exchange.receive("  ")), [""; 0]);
    assert_eq!(said(exchange.receive(r#"{"id":1,"result":{}}"#)), [r#""waiting" gets {}"#]);
}

#[test]
fn an_answer_that_is_broken_beyond_its_id_still_ends_the_wait() {
    let mut exchange = exchange(Revision::V2025_11_25, &["waiting"]);
    assert_eq!(
        said(exchange.receive(r#"{"id":1,"result":{},"error":{"code":1}}"#)),
        [r#""waiting" fails: not a JSON-RPC message: it is a request and an answer at once (code -32603)"#]
    );
    let mut exchange = self::exchange(Revision::V2025_11_25, &["waiting"]);
    let deep = format!(r#"{{"id":1,"result":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    assert_eq!(
        said(exchange.receive(&deep)),
        [r#""waiting" fails: message is nested deeper than 128 levels (code -32603)"#]
    );
}

#[test]
fn a_line_of_a_log_that_has_an_id_ends_no_wait_and_is_noted() {
    let mut exchange = exchange(Revision::V2025_11_25, &["waiting"]);
    for line in [
        r#"{"id":1}"#,
        r#"{"level":"info","id":1,"msg":"started"}"#,
        r#"{"level":"error","id":1,"error":"no such file","msg":"oops"}"#,
        r#"{"id":1,"method":"GET","result":200,"path":"/"}"#,
    ] {
        let said = said(exchange.receive(line));
        assert!(said.len() == 1 && said[0].starts_with("note: server: dropped: "), "{line}: {said:?}");
    }
    assert_eq!(said(exchange.receive(r#"{"id":1,"result":{}}"#)), [r#""waiting" gets {}"#]);
}

#[test]
fn progress_reaches_only_requests_that_wait() {
    let mut exchange = exchange(Revision::V2025_11_25, &["a"]);
    let report = |token: &str| {
        format!(
            r#"{{"method":"notifications/progress","params":{{"progressToken":{token},"progress":0.5}}}}"#
        )
    };
    assert_eq!(said(exchange.receive(&report("1"))), ["1 is at 0.5"]);
    assert_eq!(said(exchange.receive(&report("2"))), [""; 0]);
    assert_eq!(
        said(exchange.receive(&report("null"))),
        ["note: server: progress report dropped: it names no request or no number"]
    );
}

#[test]
fn what_a_server_tells_on_its_own_is_told_in_words() {
    let mut exchange = exchange(Revision::V2025_11_25, &[]);
    let tell =
        |method: &str, params: &str| format!(r#"{{"method":"notifications/{method}","params":{params}}}"#);
    let mut notice = |method: &str, params: &str| match exchange.receive(&tell(method, params)).pop() {
        Some(Incoming::Notice(notice)) => notice,
        other => panic!("{other:?}"),
    };
    assert_eq!(notice("tools/list_changed", "{}"), ServerNotice::ToolsChanged);
    assert_eq!(
        notice("resources/updated", r#"{"uri":"file:///a"}"#),
        ServerNotice::ResourceUpdated { uri: "file:///a".to_owned() }
    );
    let log = LogMessage { level: "error".to_owned(), logger: None, data: RawJson::parse("[1.10]").unwrap() };
    assert_eq!(notice("message", r#"{"level":"error","data":[1.10]}"#), ServerNotice::Log(log));
    assert_eq!(
        notice("vendor", r#"{"a":1}"#),
        ServerNotice::Other {
            method: "notifications/vendor".to_owned(),
            params: RawJson::parse(r#"{"a":1}"#).ok(),
        }
    );
}

#[test]
fn an_array_of_answers_is_taken_where_the_revision_has_batches() {
    let text = r#"[{"id":1,"result":{}},{"id":2,"result":{}}]"#;
    let mut with = exchange(Revision::V2025_03_26, &["a", "b"]);
    assert_eq!(said(with.receive(text)), [r#""a" gets {}"#, r#""b" gets {}"#]);
    let mut without = exchange(Revision::V2025_06_18, &["a", "b"]);
    assert_eq!(said(without.receive(text)).len(), 1);
    assert_eq!(without.waiting(), 2);
}

#[test]
fn a_question_to_the_person_is_handed_out_only_where_somebody_can_be_asked() {
    let ask =
        r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?", "n":1.10}}"#;
    let withdraw = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}"#;
    let mut alone = exchange(Revision::V2025_06_18, &[]);
    assert_eq!(
        said(alone.receive(ask)),
        [
            r#"send {"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"this client does not offer elicitation/create"}}"#
        ]
    );
    assert_eq!(said(alone.receive(withdraw)), [""; 0]);
    let mut attended = exchange(Revision::V2025_06_18, &[]).taking_questions(EVERY_KIND);
    assert_eq!(said(attended.receive(ask)), [r#"question "q": {"message":"?", "n":1.10}"#]);
    assert_eq!(said(attended.receive(withdraw)), [r#"withdrawn "q""#]);
    let mut modern = exchange(Revision::V2026_07_28, &[]).taking_questions(EVERY_KIND);
    assert_eq!(said(modern.receive(ask)).len(), 1);
    assert!(
        said(modern.receive(ask))[0]
            .starts_with("note: server: request `elicitation/create` of the server dropped")
    );
}

const EVERY_KIND: InputKinds = InputKinds { elicitation: true, sampling: true, roots: true, tasks: true };

#[test]
fn a_server_is_told_at_once_of_the_kinds_that_nobody_answers() {
    let takes = InputKinds { roots: true, ..InputKinds::default() };
    let mut exchange = exchange(Revision::V2024_11_05, &[]).taking_questions(takes);
    let mut asked = |method: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
        match exchange.receive(&text).pop().unwrap() {
            Incoming::Question { id, kind, params } => format!("{id} {kind:?} {params:?}"),
            Incoming::Reply(reply) => reply,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(asked("roots/list"), "1 Roots None");
    assert_eq!(
        asked("sampling/createMessage"),
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"this client does not offer sampling/createMessage"}}"#
    );
}

#[test]
fn a_server_tells_that_an_address_has_been_dealt_with() {
    let text =
        r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}"#;
    let incoming = exchange(Revision::V2025_11_25, &[]).receive(text).pop();
    assert!(
        matches!(&incoming, Some(Incoming::Notice(ServerNotice::ElicitationComplete { id })) if id == "e"),
        "{incoming:?}"
    );
}

#[test]
fn what_is_told_for_another_request_or_none_is_told_apart() {
    let mut exchange = exchange(Revision::V2026_07_28, &["call", "listens"]);
    exchange.subscribe(2);
    let tell = |method: &str, id: &str, more: &str| {
        format!(
            r#"{{"method":"notifications/{method}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}{more}}}}}"#
        )
    };
    let granted = r#","notifications":{"toolsListChanged":true}"#;
    let is_granted = format!("2 is granted {:?}", Wanted { tools: true, ..Wanted::default() });
    assert_eq!(said(exchange.receive(&tell("subscriptions/acknowledged", "2", granted))), [is_granted]);
    assert_eq!(said(exchange.receive(&tell("tools/list_changed", "2", ""))), ["ToolsChanged"]);
    assert_eq!(said(exchange.receive(&tell("tools/list_changed", "\"2\"", ""))), ["ToolsChanged"]);
    assert_eq!(said(exchange.receive(&tell("tools/list_changed", "1", ""))), [""; 0]);
    assert_eq!(said(exchange.receive(&tell("tools/list_changed", "\"x\"", ""))), [""; 0]);
    assert_eq!(
        said(exchange.receive(r#"{"method":"notifications/prompts/list_changed"}"#)),
        ["PromptsChanged"]
    );
    // An error without an id is never the end of the listening while a call waits.
    assert_eq!(
        said(exchange.receive(r#"{"id":null,"error":{"code":-32603,"message":"oops"}}"#)),
        [r#""call" fails: oops (code -32603)"#]
    );
    let end = r#"{"method":"notifications/cancelled","params":{"requestId":2}}"#;
    assert_eq!(said(exchange.receive(end)), [r#""listens" gets {}"#]);
    assert_eq!(said(exchange.receive(r#"{"id":2,"result":{}}"#)), [""; 0]);
    assert_eq!(said(exchange.receive(&tell("tools/list_changed", "2", ""))), [""; 0]);
}
