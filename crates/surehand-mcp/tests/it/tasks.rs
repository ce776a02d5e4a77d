//! Calls that become tasks, in both eras.

use std::future::poll_fn;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use serde_json::{Value, json};
use surehand_mcp::{
    Arrival, BoxFuture, CallFailure, Change, ChangeListener, HttpFacts, HttpSession, Implementation,
    Negotiated, NoArguments, Offers, Question, RequestContext, Revision, ServerHandler, ServerMachine,
    TaskOptions, TaskSupport, ToolEntry, ToolFacts, ToolFailure, ToolInvocation, ToolOutput, Toolset,
    Verdict,
};
use surehand_model::{RawJson, Tool};

use crate::fixture::{ByHand, OpenSeal, Outgoing, machine_with, run};

/// Tools that become tasks: `work` ends when it is told how, `ask` asks two things, `first` asks before it begins.
#[derive(Clone, Default)]
struct Worker {
    outcome: Arc<Mutex<Option<Result<ToolOutput, CallFailure>>>>,
}

impl ServerHandler for Worker {
    fn implementation(&self) -> Implementation {
        Implementation { name: "s".to_owned(), title: None, version: "1".to_owned() }
    }

    fn offers(&self) -> Offers {
        Offers { tasks: true, ..Offers::tools() }
    }

    fn tools(&self) -> Vec<Tool> {
        let schema = || RawJson::parse(r#"{"type":"object"}"#).unwrap();
        ["work", "plain", "must"].map(|name| Tool::new(name, name, schema())).to_vec()
    }

    fn task_support(&self, tool: &str) -> TaskSupport {
        match tool {
            "plain" => TaskSupport::Forbidden,
            "must" => TaskSupport::Required,
            _ => TaskSupport::Optional,
        }
    }

    fn call<'a>(&'a self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<ToolOutput, CallFailure>> {
        Box::pin(async move {
            let context = call.context;
            match call.name {
                "plain" => return Ok(ToolOutput::text("at once")),
                "must" => context.require_task(TaskOptions::default())?,
                "first" => {
                    let name = context.ask("who", name_question()).await?;
                    context.begin_task(TaskOptions::default())?;
                    return Ok(ToolOutput::text(name.as_str()));
                }
                _ => context.begin_task(TaskOptions {
                    ttl_ms: Some(60_000),
                    poll_interval_ms: Some(500),
                    status_message: Some("on it".to_owned()),
                })?,
            }
            if call.name == "ask" {
                let both = vec![("a".to_owned(), name_question()), ("b".to_owned(), Question::Roots)];
                let both = context.ask_all(both).await?;
                let again = context.ask("a", name_question()).await?;
                return Ok(ToolOutput::text(format!("{} {} {again}", both[0], both[1])));
            }
            context.progress(1.0, None, None);
            poll_fn(|_| match self.outcome.lock().unwrap().take() {
                Some(outcome) => Poll::Ready(outcome),
                None => Poll::Pending,
            })
            .await
        })
    }
}

fn name_question() -> Question {
    Question::Elicit(RawJson::parse(r#"{"message":"Who?","requestedSchema":{"type":"object"}}"#).unwrap())
}

const WORKER: &str = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{},"roots":{}}"#;

/// A server, the work that goes on in it, and what its clients would be sent.
struct Bench {
    machine: ServerMachine,
    background: ByHand,
    worker: Worker,
    seal: Arc<OpenSeal>,
    outgoing: Outgoing,
}

impl Bench {
    fn new() -> Self {
        let (seal, background, worker) =
            (Arc::new(OpenSeal::default()), ByHand::default(), Worker::default());
        seal.now.store(1_785_231_000, Ordering::Relaxed);
        let machine =
            machine_with(worker.clone(), seal.clone()).with_background(Arc::new(background.clone()));
        Self { machine, background, worker, seal, outgoing: Outgoing::default() }
    }

    fn receive(&self, text: &str, arrival: Arrival<'_>) -> (Value, u16) {
        let reply = match self.machine.receive(text, arrival).pop().unwrap() {
            Verdict::Answer(reply) => reply,
            Verdict::Run(request) => run(request, self.outgoing.clone()),
            other => panic!("{other:?}"),
        };
        let answer: Value = serde_json::from_str(&reply.body).unwrap();
        let told = answer.get("result").or_else(|| answer.get("error")).unwrap().clone();
        (told, reply.status)
    }

    /// What a client of the stateless era is told.
    fn modern_as(&self, capabilities: &str, method: &str, params: Value) -> (Value, u16) {
        let text = modern(capabilities, method, params);
        self.receive(&text, Arrival::Stream { session: None, principal: None })
    }

    fn modern(&self, method: &str, params: Value) -> Value {
        let (mut told, _) = self.modern_as(WORKER, method, params);
        if let Some(told) = told.as_object_mut() {
            told.remove("_meta");
        }
        told
    }

    /// What a client of 2025-11-25 is told.
    fn legacy(&self, session: &Negotiated, method: &str, params: Value) -> Value {
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        self.receive(&text, Arrival::Stream { session: Some(session), principal: None }).0
    }

    fn finish(&self, outcome: Result<ToolOutput, CallFailure>) {
        *self.worker.outcome.lock().unwrap() = Some(outcome);
        self.background.step();
    }

    fn session(&self) -> Negotiated {
        let text = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",
            "capabilities":{"elicitation":{},"roots":{}}}}"#
            .replace('\n', "");
        match self.machine.receive(&text, Arrival::Stream { session: None, principal: None }).pop().unwrap() {
            Verdict::Open { session, .. } => session,
            other => panic!("{other:?}"),
        }
    }
}

fn modern(capabilities: &str, method: &str, mut params: Value) -> String {
    let capabilities: Value = serde_json::from_str(capabilities).unwrap();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

/// The id of the first task of a server: what the fixture's seal makes of it.
const FIRST: &str = "sealed-0-7461736b2031";

/// The first task of a server as the stateless era writes it.
fn task(result_type: &str, status: &str, updated: &str, more: Value) -> Value {
    let mut task = json!({
        "resultType": result_type, "taskId": FIRST, "status": status, "statusMessage": "on it",
        "createdAt": "2026-07-28T09:30:00Z", "lastUpdatedAt": updated, "ttlMs": 60_000, "pollIntervalMs": 500,
    });
    task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    task
}

#[test]
fn a_call_that_becomes_a_task_is_answered_at_once_and_its_result_is_fetched() {
    let bench = Bench::new();
    let get = || bench.modern("tasks/get", json!({"taskId": FIRST}));
    let begun = "2026-07-28T09:30:00Z";
    assert_eq!(
        bench.modern("tools/call", json!({"name": "work"})),
        task("task", "working", begun, json!({}))
    );
    assert_eq!(get(), task("complete", "working", begun, json!({})));
    bench.background.step();
    bench.seal.now.fetch_add(5, Ordering::Relaxed);
    bench.finish(Ok(ToolOutput::error("no luck")));
    let result = json!({
        "resultType": "complete", "content": [{"type": "text", "text": "no luck"}], "isError": true,
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}},
    });
    let done = task("complete", "completed", "2026-07-28T09:30:05Z", json!({"result": result}));
    assert_eq!(get(), done);
    // Cancelling what is over changes nothing.
    assert_eq!(bench.modern("tasks/cancel", json!({"taskId": FIRST})), json!({"resultType": "complete"}));
    assert_eq!(get(), done);
    assert_eq!((bench.background.load(), bench.outgoing.sent.lock().unwrap().len()), (0, 0));
}

#[test]
fn an_error_of_the_protocol_fails_a_task() {
    let bench = Bench::new();
    bench.modern("tools/call", json!({"name": "work"}));
    bench.finish(Err(CallFailure::Internal("broken".to_owned())));
    assert_eq!(
        bench.modern("tasks/get", json!({"taskId": FIRST})),
        task(
            "complete",
            "failed",
            "2026-07-28T09:30:00Z",
            json!({"statusMessage": "broken", "error": {"code": -32603, "message": "broken"}})
        )
    );
}

#[test]
fn a_cancelled_task_is_no_longer_worked_on() {
    let bench = Bench::new();
    bench.modern("tools/call", json!({"name": "work"}));
    assert_eq!(bench.background.load(), 1);
    assert_eq!(bench.modern("tasks/cancel", json!({"taskId": FIRST})), json!({"resultType": "complete"}));
    bench.finish(Ok(ToolOutput::text("too late")));
    assert_eq!(
        bench.modern("tasks/get", json!({"taskId": FIRST})),
        task("complete", "cancelled", "2026-07-28T09:30:00Z", json!({}))
    );
    assert_eq!(bench.background.load(), 0);
}

#[test]
fn what_a_task_asks_is_answered_piece_by_piece_and_no_key_is_used_twice() {
    let bench = Bench::new();
    let form = json!({"method": "elicitation/create",
        "params": {"message": "Who?", "requestedSchema": {"type": "object"}}});
    let roots = json!({"method": "roots/list", "params": {}});
    let open = || bench.modern("tasks/get", json!({"taskId": FIRST}))["inputRequests"].clone();
    let update = |responses: Value| {
        bench.modern("tasks/update", json!({"taskId": FIRST, "inputResponses": responses}))
    };
    bench.modern("tools/call", json!({"name": "ask"}));
    assert_eq!(open(), json!({"a": form, "b": roots}));
    let done = json!({"resultType": "complete"});
    assert_eq!(update(json!({"unknown": {}, "a": "no object", "b": {"roots": []}})), done);
    bench.background.step();
    assert_eq!(open(), json!({"a": form}));
    assert_eq!(update(json!({"b": {"roots": [1]}, "a": {"action": "accept"}})), done);
    bench.background.step();
    assert_eq!(open(), json!({"a-2": form}));
    update(json!({"a": {"action": "cancel"}, "a-2": {"action": "decline"}}));
    bench.background.step();
    let text = r#"{"action":"accept"} {"roots":[]} {"action":"decline"}"#;
    let got = bench.modern("tasks/get", json!({"taskId": FIRST}));
    assert_eq!((&got["status"], &got["result"]["content"][0]["text"]), (&json!("completed"), &json!(text)));
    assert_eq!(open(), Value::Null);
}

#[test]
fn rounds_of_questions_come_before_the_task_and_leave_nothing_in_it() {
    let bench = Bench::new();
    let first = bench.modern("tools/call", json!({"name": "first"}));
    assert_eq!(first["resultType"], "input_required");
    let second = bench.modern(
        "tools/call",
        json!({"name": "first", "requestState": first["requestState"],
            "inputResponses": {"who": {"action": "accept"}}}),
    );
    assert_eq!((&second["resultType"], &second["requestState"]), (&json!("task"), &Value::Null));
    let got = bench.modern("tasks/get", json!({"taskId": second["taskId"]}));
    assert_eq!(got["result"]["content"][0]["text"], r#"{"action":"accept"}"#);
}

#[test]
fn who_does_not_declare_tasks_gets_none() {
    let bench = Bench::new();
    bench.modern("tools/call", json!({"name": "work"}));
    let missing = json!({"requiredCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}});
    for (method, params) in [
        ("tasks/get", json!({"taskId": FIRST})),
        ("tasks/update", json!({"taskId": FIRST, "inputResponses": {}})),
        ("tasks/cancel", json!({"taskId": "unknown"})),
        ("tools/call", json!({"name": "must"})),
        ("subscriptions/listen", json!({"notifications": {"taskIds": [FIRST]}})),
    ] {
        let (told, status) = bench.modern_as("{}", method, params);
        assert_eq!((&told["code"], &told["data"], status), (&json!(-32021), &missing, 400), "{method}");
    }
    *bench.worker.outcome.lock().unwrap() = Some(Ok(ToolOutput::text("waited for")));
    let (told, _) = bench.modern_as("{}", "tools/call", json!({"name": "work"}));
    assert_eq!(
        (&told["resultType"], &told["content"][0]["text"]),
        (&json!("complete"), &json!("waited for"))
    );
}

#[test]
fn the_stateless_era_has_three_methods_for_tasks_and_passes_the_older_wish_over() {
    let bench = Bench::new();
    let code = |method: &str, params: Value| bench.modern_as(WORKER, method, params).0["code"].clone();
    assert_eq!(code("tasks/result", json!({"taskId": FIRST})), -32601);
    assert_eq!(code("tasks/list", json!({})), -32601);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        assert_eq!(code(method, json!({"taskId": "unknown", "inputResponses": {}})), -32602);
        assert_eq!(code(method, json!({"inputResponses": {}})), -32602);
    }
    bench.modern("tools/call", json!({"name": "work"}));
    assert_eq!(code("tasks/update", json!({"taskId": FIRST})), -32602);
    let plain = bench.modern("tools/call", json!({"name": "plain", "task": {"ttl": 1}}));
    assert_eq!(plain, json!({"resultType": "complete", "content": [{"type": "text", "text": "at once"}]}));
}

#[test]
fn a_server_that_nobody_works_for_in_the_background_offers_no_tasks() {
    let machine = machine_with(Worker::default(), Arc::default());
    assert!(!machine.offers().tasks);
    let bench = Bench { machine, ..Bench::new() };
    let code = bench.modern_as(WORKER, "tasks/get", json!({"taskId": FIRST})).0["code"].clone();
    assert_eq!(code, -32601);
    *bench.worker.outcome.lock().unwrap() = Some(Ok(ToolOutput::text("waited for")));
    let plain = bench.modern("tools/call", json!({"name": "plain"}));
    assert_eq!(plain["resultType"], "complete");
}

#[test]
fn whoever_listens_for_a_task_hears_all_that_becomes_of_it() {
    let bench = Bench::new();
    bench.modern("tools/call", json!({"name": "work"}));
    let listen = json!({"notifications": {"taskIds": [FIRST, "unknown"]}});
    let text = modern(WORKER, "subscriptions/listen", listen);
    let mut verdicts = bench.machine.receive(&text, Arrival::Stream { session: None, principal: None });
    let Some(Verdict::Listen(subscription)) = verdicts.pop() else { panic!("{text}") };
    let granted: Value = serde_json::from_str(&subscription.acknowledgement()).unwrap();
    assert_eq!(granted["params"]["notifications"], json!({"taskIds": [FIRST]}));
    let heard: Arc<Mutex<Vec<Value>>> = Arc::default();
    let hearing = heard.clone();
    let listener: ChangeListener = Arc::new(move |change: &Change| {
        let message = subscription.message_for(change).unwrap();
        hearing.lock().unwrap().push(serde_json::from_str(&message).unwrap());
    });
    bench.machine.listen(&listener);
    bench.finish(Ok(ToolOutput::text("done")));
    let mut params = bench.modern("tasks/get", json!({"taskId": FIRST}));
    params.as_object_mut().unwrap().remove("resultType");
    params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": 1});
    let expected = json!({"jsonrpc": "2.0", "method": "notifications/tasks", "params": params});
    assert_eq!(*heard.lock().unwrap(), [expected]);
}

#[test]
fn a_task_belongs_to_whoever_made_it() {
    let bench = Bench::new();
    let ask = |principal: Option<&str>, method: &str, params: Value| {
        let name = params.get("name").or_else(|| params.get("taskId")).unwrap().as_str().unwrap().to_owned();
        let facts = HttpFacts {
            version: Some("2026-07-28"),
            method: Some(method),
            name: Some(&name),
            params: &[],
            session: HttpSession::Absent,
            principal,
        };
        bench.receive(&modern(WORKER, method, params), Arrival::Http(facts)).0
    };
    ask(Some("ann"), "tools/call", json!({"name": "work"}));
    for (principal, code) in [(Some("ann"), Value::Null), (Some("bob"), json!(-32602)), (None, json!(-32602))]
    {
        let told = ask(principal, "tasks/get", json!({"taskId": FIRST}));
        assert_eq!(told["code"], code, "{principal:?}");
    }
    ask(Some("bob"), "tasks/cancel", json!({"taskId": FIRST}));
    let told = ask(Some("ann"), "tasks/get", json!({"taskId": FIRST}));
    assert_eq!(told["status"], "working");
}

#[test]
fn a_task_ends_with_its_time_and_with_its_server() {
    for (is_late, words) in
        [(true, "the task took longer than it may"), (false, "the server stopped working on it")]
    {
        let bench = Bench::new();
        bench.modern("tools/call", json!({"name": "work"}));
        bench.background.step();
        match is_late {
            true => {
                bench.background.is_late.store(true, Ordering::Relaxed);
                bench.background.step();
            }
            false => bench.background.stop(),
        }
        let got = bench.modern("tasks/get", json!({"taskId": FIRST}));
        let error = json!({"code": -32603, "message": words});
        assert_eq!((&got["status"], &got["error"]), (&json!("failed"), &error));
        // A minute after its time it is forgotten.
        bench.seal.now.fetch_add(120, Ordering::Relaxed);
        assert_eq!(bench.modern("tasks/get", json!({"taskId": FIRST}))["status"], "failed");
        bench.seal.now.fetch_add(1, Ordering::Relaxed);
        assert_eq!(bench.modern("tasks/get", json!({"taskId": FIRST}))["code"], -32602);
    }
}

#[test]
fn only_so_many_tasks_run_and_are_kept() {
    let bench = Bench::new();
    let call = || bench.modern("tools/call", json!({"name": "work"}));
    for _ in 0..1_024 {
        assert_eq!(call()["resultType"], "task");
    }
    let refused = call();
    assert_eq!(refused, json!({"code": -32603, "message": "too many tasks are running already"}));
    // What is over makes room in the end, the oldest first.
    for _ in 0..4 {
        bench.background.stop();
        for _ in 0..1_024 {
            assert_eq!(call()["resultType"], "task");
        }
    }
    assert_eq!(bench.modern("tasks/get", json!({"taskId": FIRST}))["code"], -32602);
}

/// The first task of a server as 2025-11-25 writes it.
fn core_task(status: &str) -> Value {
    json!({
        "taskId": FIRST, "status": status, "statusMessage": "on it", "createdAt": "2026-07-28T09:30:00Z",
        "lastUpdatedAt": "2026-07-28T09:30:00Z", "ttl": 30_000, "pollInterval": 500,
    })
}

#[test]
fn in_the_core_protocol_the_client_makes_a_call_a_task() {
    let bench = Bench::new();
    let session = bench.session();
    let call = json!({"name": "work", "task": {"ttl": 30_000}});
    let begun = bench.legacy(&session, "tools/call", call);
    assert_eq!((&begun["task"]["status"], &begun["task"]["ttl"]), (&json!("working"), &json!(30_000)));
    let get = || bench.legacy(&session, "tasks/get", json!({"taskId": FIRST}));
    assert_eq!(get(), core_task("working"));
    assert_eq!(bench.legacy(&session, "tasks/list", json!({})), json!({"tasks": [core_task("working")]}));
    // A tool that fails makes a task that failed; its result is there all the same.
    bench.finish(Ok(ToolOutput::error("no luck")));
    assert_eq!(get(), core_task("failed"));
    assert_eq!(
        bench.legacy(&session, "tasks/result", json!({"taskId": FIRST})),
        json!({
            "content": [{"type": "text", "text": "no luck"}], "isError": true,
            "_meta": {"io.modelcontextprotocol/related-task": {"taskId": FIRST}},
        })
    );
    let cancelled = bench.legacy(&session, "tasks/cancel", json!({"taskId": FIRST}));
    assert_eq!(cancelled["code"], -32602);
}

#[test]
fn in_the_core_protocol_whoever_waits_for_a_result_is_asked() {
    let mut bench = Bench::new();
    bench.outgoing.answers =
        vec![("elicitation/create", r#"{"action":"accept"}"#), ("roots/list", r#"{"roots":[]}"#)];
    let session = bench.session();
    bench.legacy(&session, "tools/call", json!({"name": "ask", "task": {}}));
    let get = || bench.legacy(&session, "tasks/get", json!({"taskId": FIRST}))["status"].clone();
    assert_eq!(get(), "input_required");
    let text = json!({"jsonrpc": "2.0", "id": 2, "method": "tasks/result", "params": {"taskId": FIRST}});
    let arrival = Arrival::Stream { session: Some(&session), principal: None };
    let Some(Verdict::Run(request)) = bench.machine.receive(&text.to_string(), arrival).pop() else {
        panic!("{text}")
    };
    let mut waiting = Box::pin(request.run(Arc::new(bench.outgoing.clone())));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    bench.background.step();
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    bench.background.step();
    let Poll::Ready(reply) = waiting.as_mut().poll(&mut context) else { panic!("nothing came of it") };
    let reply: Value = serde_json::from_str(&reply.body).unwrap();
    let said = r#"{"action":"accept"} {"roots":[]} {"action":"accept"}"#;
    assert_eq!(reply["result"]["content"][0]["text"], said);
    let related = format!(r#""_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"{FIRST}"}}}}"#);
    let form =
        format!(r#"elicitation/create {{"message":"Who?","requestedSchema":{{"type":"object"}},{related}}}"#);
    assert_eq!(
        *bench.outgoing.sent.lock().unwrap(),
        [form.clone(), format!("roots/list {{{related}}}"), form]
    );
}

#[test]
fn in_the_core_protocol_a_tool_says_whether_it_can_be_a_task() {
    let bench = Bench::new();
    let session = bench.session();
    let tools = bench.legacy(&session, "tools/list", json!({}));
    let says = |at: usize| tools["tools"][at]["execution"]["taskSupport"].clone();
    assert_eq!([says(0), says(1), says(2)], [json!("optional"), Value::Null, json!("required")]);
    let code = |call: Value| bench.legacy(&session, "tools/call", call)["code"].clone();
    assert_eq!(code(json!({"name": "plain", "task": {}})), -32601);
    assert_eq!(code(json!({"name": "must"})), -32601);
    assert_eq!(code(json!({"name": "must", "task": {}})), Value::Null);
    let older = Negotiated::new(Revision::V2025_06_18);
    let plain = bench.legacy(&older, "tools/call", json!({"name": "plain", "task": {}}));
    assert_eq!(plain["content"][0]["text"], "at once");
    assert_eq!(bench.legacy(&older, "tasks/list", json!({}))["code"], -32601);
    assert_eq!(bench.legacy(&older, "tools/list", json!({}))["tools"][0]["execution"], Value::Null);
}

#[test]
fn in_the_core_protocol_a_task_is_seen_in_its_session_only_and_listed_by_pages() {
    let bench = Bench::new();
    let (session, other) = (bench.session(), bench.session());
    for _ in 0..201 {
        bench.legacy(&session, "tools/call", json!({"name": "work", "task": {}}));
    }
    let mut cursor = None;
    let mut sizes = Vec::new();
    loop {
        let params = cursor.map_or(json!({}), |cursor: Value| json!({"cursor": cursor}));
        let page = bench.legacy(&session, "tasks/list", params);
        sizes.push(page["tasks"].as_array().unwrap().len());
        match page.get("nextCursor") {
            Some(next) => cursor = Some(next.clone()),
            None => break,
        }
    }
    assert_eq!(sizes, [100, 100, 1]);
    assert_eq!(bench.legacy(&session, "tasks/list", json!({"cursor": "x"}))["code"], -32602);
    assert_eq!(bench.legacy(&other, "tasks/list", json!({})), json!({"tasks": []}));
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        assert_eq!(bench.legacy(&other, method, json!({"taskId": FIRST}))["code"], -32602);
    }
}

#[test]
fn a_toolset_offers_tasks_where_one_of_its_tools_becomes_one() {
    let tool = |name: &str, task| {
        let facts = ToolFacts { name: name.to_owned(), task, ..ToolFacts::default() };
        ToolEntry::with_context(facts, |_: NoArguments, context: RequestContext| async move {
            context.begin_task(TaskOptions::default())?;
            Ok::<_, ToolFailure>("done")
        })
    };
    let plain = Toolset::new("s", "1").with_entry(tool("plain", TaskSupport::Forbidden));
    assert!(!plain.offers().tasks);
    let both = plain.with_entry(tool("work", TaskSupport::Optional));
    assert!(both.offers().tasks);
    let bench = Bench::new();
    let machine = machine_with(both, bench.seal.clone()).with_background(Arc::new(bench.background.clone()));
    let bench = Bench { machine, ..bench };
    assert_eq!(bench.modern("tools/call", json!({"name": "work"}))["resultType"], "task");
    let got = bench.modern("tasks/get", json!({"taskId": FIRST}));
    assert_eq!(got["result"]["content"][0]["text"], "done");
    let tools = bench.legacy(&bench.session(), "tools/list", json!({}));
    let says = |at: usize| tools["tools"][at]["execution"].clone();
    assert_eq!([says(0), says(1)], [Value::Null, json!({"taskSupport": "optional"})]);
}
