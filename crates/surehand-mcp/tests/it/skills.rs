//! Skills that a server serves, as its clients see them.

use serde_json::{Value, json};
use surehand_mcp::{Arrival, ServerMachine, SkillShelf, Toolset, Verdict};

use crate::fixture::{Outgoing, machine_of, run};

const MAIN: &str = "---\nname: pdf\ndescription: Fills in forms.\n---\nBody\n";

fn machine() -> ServerMachine {
    let files = [("SKILL.md", MAIN), ("forms/a.md", "A")];
    machine_of(Toolset::new("s", "1").with_skills(SkillShelf::default().with_skill("pdf", files).unwrap()))
}

fn told(machine: &ServerMachine, method: &str, mut params: Value) -> (Value, u16) {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let text = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let arrival = Arrival::Stream { session: None, principal: None };
    let reply = match machine.receive(&text, arrival).pop().unwrap() {
        Verdict::Answer(reply) => reply,
        Verdict::Run(request) => run(request, Outgoing::default()),
        other => panic!("{other:?}"),
    };
    let answer: Value = serde_json::from_str(&reply.body).unwrap();
    let told = answer.get("result").or_else(|| answer.get("error")).unwrap().clone();
    (told, reply.status)
}

#[test]
fn a_server_of_skills_says_so_and_lists_and_gives_them() {
    let machine = machine();
    let capabilities = told(&machine, "server/discover", json!({})).0["capabilities"].take();
    assert_eq!(
        capabilities,
        json!({"resources": {}, "extensions": {"io.modelcontextprotocol/skills": {"directoryRead": true}}})
    );
    let main = json!({"uri": "skill://pdf/SKILL.md", "name": "pdf", "description": "Fills in forms.",
        "mimeType": "text/markdown"});
    assert_eq!(told(&machine, "resources/list", json!({})).0["resources"], json!([main]));
    let listed = told(&machine, "skills/list", json!({})).0;
    let got = told(&machine, "skills/get", json!({"uri": "skill://pdf/SKILL.md"})).0;
    assert_eq!((&listed["skills"], &listed["resultType"]), (&json!([got["skill"]]), &json!("complete")));
    let folder = told(&machine, "resources/directory/read", json!({"uri": "skill://pdf/forms"})).0;
    let file = json!({"uri": "skill://pdf/forms/a.md", "name": "a.md", "mimeType": "text/markdown"});
    assert_eq!(folder["resources"], json!([file]));
    let read = told(&machine, "resources/read", json!({"uri": "skill://pdf/SKILL.md"})).0;
    assert_eq!(
        read["contents"],
        json!([{"uri": "skill://pdf/SKILL.md", "mimeType": "text/markdown", "text": MAIN}])
    );
}

#[test]
fn what_is_no_skill_is_refused() {
    let machine = machine();
    let code = |method: &str, uri: &str| {
        let (told, status) = told(&machine, method, json!({"uri": uri}));
        (told["code"].as_i64().unwrap(), status)
    };
    assert_eq!(code("skills/get", "skill://pdf"), (-32602, 200));
    assert_eq!(code("resources/directory/read", "skill://pdf/SKILL.md"), (-32602, 200));
    assert_eq!(code("resources/read", "skill://pdf/other"), (-32602, 200));
    assert_eq!(code("skills/other", "skill://pdf"), (-32601, 404));
}
