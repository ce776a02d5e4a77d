//! The matrix itself: who talks to whom, how, and what is right.

use serde_json::{Value, json};

use super::page::WORDS;
use super::places::{COMMIT, GREETING, Places};

/// The newest revision of each era.
const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// One pair of a client and a server.
#[derive(Clone)]
pub(crate) struct Cell {
    /// The one that nobody here wrote.
    pub(crate) peer: &'static str,
    pub(crate) transport: &'static str,
    /// What the client was told.
    pub(crate) era: &'static str,
    /// What they must settle on; none where the client does not tell.
    pub(crate) revision: Option<&'static str>,
    pub(crate) command: Vec<String>,
    pub(crate) tools: Tools,
    /// A tool and its arguments.
    pub(crate) call: (&'static str, Value),
    /// The client answers what the server asks on the way.
    pub(crate) asked: bool,
    /// What the result's texts must hold.
    pub(crate) answer: Vec<String>,
}

/// Which tools must be listed.
#[derive(Clone, Copy)]
pub(crate) enum Tools {
    /// So many.
    Number(usize),
    /// The ones of our server, in its order.
    Own,
}

/// A server that nobody here wrote.
struct Foreign {
    name: &'static str,
    tools: usize,
    call: (&'static str, Value),
    asked: bool,
    answer: String,
}

/// Every cell.
pub(crate) fn matrix(places: &Places) -> Vec<Cell> {
    let mut cells = our_client(places);
    cells.extend(our_server(places));
    cells
}

/// What our own client sees of our server.
pub(crate) fn own(places: &Places) -> Cell {
    to_our_server("surehand", "stdio", "auto", Some(MODERN), ours(places, "auto", &stdio(places)))
}

fn our_client(places: &Places) -> Vec<Cell> {
    let path = |name: &str| places.work.join(name).display().to_string();
    let everything = || Foreign {
        name: "server-everything",
        tools: 13,
        call: ("get-sum", json!({"a": 2, "b": 3})),
        asked: false,
        answer: "The sum of 2 and 3 is 5.".to_owned(),
    };
    let mut cells = Vec::new();
    let mut add = |foreign: &Foreign, transport, target: &[String], eras: &[(&'static str, &'static str)]| {
        for (era, revision) in eras {
            cells.push(Cell {
                peer: foreign.name,
                transport,
                era,
                revision: Some(revision),
                command: ours(places, era, target),
                tools: Tools::Number(foreign.tools),
                call: foreign.call.clone(),
                asked: foreign.asked,
                answer: vec![foreign.answer.clone()],
            });
        }
    };
    // Servers of the older era: whoever asks for either must find that out.
    let older = &[("legacy", LEGACY), ("auto", LEGACY)];
    let both = &[("legacy", LEGACY), ("auto", MODERN), ("modern", MODERN)];

    add(&everything(), "stdio", &words(&["stdio", "mcp-server-everything", "stdio"]), older);
    let url = format!("http://{}/mcp", places.everything.address);
    add(&everything(), "http", &words(&["http", &url]), older);
    let bridge = bridge(places, &url);
    add(&Foreign { name: "mcp-remote to server-everything", ..everything() }, "stdio", &bridge, older);
    let url = format!("http://{}/sse", places.everything_sse.address);
    add(&everything(), "sse", &words(&["sse", &url]), older);

    // Questions on the way: a form, the model, the folders.
    let asking = [
        ("trigger-elicitation-request", json!({}), "- Name: Ada"),
        ("trigger-sampling-request", json!({"prompt": "Greet me"}), "Good day"),
        ("get-roots-list", json!({}), "file:///srv/interop"),
    ];
    let mcp = format!("http://{}/mcp", places.everything.address);
    let ways = [
        ("stdio", words(&["stdio", "mcp-server-everything", "stdio"])),
        ("http", words(&["http", &mcp])),
        ("sse", words(&["sse", &url])),
    ];
    for (tool, arguments, answer) in asking {
        for (transport, target) in &ways {
            let foreign = Foreign {
                tools: 16,
                call: (tool, arguments.clone()),
                asked: true,
                answer: answer.to_owned(),
                ..everything()
            };
            add(&foreign, transport, target, &older[..1]);
        }
    }

    let files = Foreign {
        name: "server-filesystem",
        tools: 14,
        call: ("read_text_file", json!({"path": path("files/greeting.txt")})),
        asked: false,
        answer: GREETING.to_owned(),
    };
    add(&files, "stdio", &words(&["stdio", "mcp-server-filesystem", &path("files")]), older);
    let memory = Foreign {
        name: "server-memory",
        tools: 9,
        call: (
            "create_entities",
            json!({"entities": [{"name": "Ada", "entityType": "person", "observations": ["counts"]}]}),
        ),
        asked: false,
        answer: "Ada".to_owned(),
    };
    for (era, revision) in older {
        // Each with a memory of its own: what is remembered already is not made again.
        let file = format!("MEMORY_FILE_PATH={}", path(&format!("memory-{era}.jsonl")));
        add(&memory, "stdio", &words(&["stdio", "env", &file, "mcp-server-memory"]), &[(*era, *revision)]);
    }
    let thinking = Foreign {
        name: "server-sequential-thinking",
        tools: 1,
        call: (
            "sequentialthinking",
            json!({"thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}),
        ),
        asked: false,
        answer: "\"thoughtHistoryLength\": 1".to_owned(),
    };
    add(&thinking, "stdio", &words(&["stdio", "mcp-server-sequential-thinking"]), older);
    let fetch = Foreign {
        name: "mcp-server-fetch",
        tools: 1,
        call: ("fetch", json!({"url": format!("http://{}/page", places.page)})),
        asked: false,
        answer: WORDS.to_owned(),
    };
    add(&fetch, "stdio", &words(&["stdio", "mcp-server-fetch", "--allow-private-ips"]), both);
    let git = Foreign {
        name: "mcp-server-git",
        tools: 12,
        call: ("git_log", json!({"repo_path": path("repository")})),
        asked: false,
        answer: COMMIT.to_owned(),
    };
    add(&git, "stdio", &words(&["stdio", "mcp-server-git"]), both);
    let time = Foreign {
        name: "mcp-server-time",
        tools: 2,
        call: (
            "convert_time",
            json!({"source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "Asia/Kolkata"}),
        ),
        asked: false,
        answer: "T08:30:00+05:30".to_owned(),
    };
    add(&time, "stdio", &words(&["stdio", "mcp-server-time"]), both);
    cells
}

fn our_server(places: &Places) -> Vec<Cell> {
    let script = |name: &str| places.scripts.join(name).display().to_string();
    let node = |name: &str| words(&["node", &script(name)]);
    let python = |name: &str| words(&[&places.python.display().to_string(), &script(name)]);
    let mcp = format!("http://{}/mcp", places.own.address);
    let sse = words(&["sse", &format!("http://{}/sse", places.own.address)]);
    let ways = [("stdio", stdio(places)), ("http", words(&["http", &mcp]))];
    let mut cells = Vec::new();
    let mut add = |peer: &'static str, transport, era, revision, command: Vec<Vec<String>>| {
        let cell = to_our_server(peer, transport, era, revision, command.concat());
        // The inspector's command line has nobody to ask, and a bridge asks nobody itself.
        if !peer.starts_with("inspector") && !peer.starts_with("mcp-remote") {
            cells.push(asking(cell.clone()));
        }
        cells.push(cell);
    };

    // Ours too: every way it has, on both ends.
    for (transport, target) in &ways {
        for (era, revision) in [("legacy", LEGACY), ("auto", MODERN), ("modern", MODERN)] {
            add("surehand", transport, era, Some(revision), vec![ours(places, era, target)]);
        }
    }
    for era in ["legacy", "auto"] {
        add("surehand", "sse", era, Some(LEGACY), vec![ours(places, era, &sse)]);
        add(
            "mcp-remote",
            "stdio",
            era,
            Some(if era == "auto" { MODERN } else { LEGACY }),
            vec![ours(places, era, &bridge(places, &mcp))],
        );
    }
    add("mcp-remote", "stdio", "modern", Some(MODERN), vec![ours(places, "modern", &bridge(places, &mcp))]);

    for (transport, target) in &ways {
        add(
            "sdk 1.32.2 (TypeScript)",
            transport,
            "legacy",
            Some(LEGACY),
            vec![node("sdk.mjs"), target.clone()],
        );
        for (era, revision) in [("default", LEGACY), ("auto", MODERN)] {
            let command = vec![node("client.mjs"), words(&[era]), target.clone()];
            add("client 2.4.0 (TypeScript)", transport, era, Some(revision), command);
        }
        for (era, revision) in [("legacy", LEGACY), ("auto", MODERN), (MODERN, MODERN)] {
            let command = vec![python("mcp_client.py"), words(&[era]), target.clone()];
            add("mcp 2.3.0 (Python)", transport, era, Some(revision), command);
        }
        let command = vec![python("fastmcp_client.py"), target.clone()];
        add("fastmcp 4.2.3 (Python)", transport, "auto", None, command);
        for era in ["legacy", "auto", "modern"] {
            let command = vec![node("inspector.mjs"), words(&[era]), target[1..].to_vec()];
            add("inspector 2.12.0", transport, era, None, command);
        }
    }
    add("sdk 1.32.2 (TypeScript)", "sse", "legacy", Some(LEGACY), vec![node("sdk.mjs"), sse]);
    cells
}

fn to_our_server(
    peer: &'static str,
    transport: &'static str,
    era: &'static str,
    revision: Option<&'static str>,
    command: Vec<String>,
) -> Cell {
    let answer = words(&["This is a simple text response for testing."]);
    let call = ("test_simple_text", json!({}));
    Cell { peer, transport, era, revision, command, tools: Tools::Own, call, asked: false, answer }
}

/// The same, with a tool that asks the person, the model and for the folders: by requests in the older era, in rounds in the newer.
fn asking(cell: Cell) -> Cell {
    let call = ("test_input_required_result_multiple_inputs", json!({}));
    Cell { call, asked: true, answer: words(&["Ada", "Good day", "file:///srv/interop"]), ..cell }
}

/// Our client, told of an era and a target.
fn ours(places: &Places, era: &str, target: &[String]) -> Vec<String> {
    let program = places.programs.join("interop-client").display().to_string();
    [words(&[&program, era]), target.to_vec()].concat()
}

/// Our server as a child.
fn stdio(places: &Places) -> Vec<String> {
    words(&["stdio", &places.programs.join("conformance-server").display().to_string()])
}

/// A bridge from standard streams to an address.
fn bridge(places: &Places, url: &str) -> Vec<String> {
    let folder = format!("MCP_REMOTE_CONFIG_DIR={}", places.work.join("mcp-remote").display());
    words(&["stdio", "env", &folder, "mcp-remote", url, "--allow-http"])
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| (*word).to_owned()).collect()
}
