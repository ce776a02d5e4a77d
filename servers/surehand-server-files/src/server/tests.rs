use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;
use surehand_mcp::{Effect, ToolInvocation};
use surehand_model::{ContentBlock, RawJson};
use tempfile::TempDir;

use super::*;

/// Stands in every file outside of the allowed directory, and in the names of those files.
const SECRET: &str = "TOPSECRET";

/// `root/` is allowed; what lies beside it is not.
struct World {
    folder: TempDir,
    server: Arc<dyn ServerHandler>,
}

impl World {
    fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    fn with_limits(limits: Limits) -> Self {
        let folder = TempDir::new().unwrap();
        let (base, root) = (folder.path(), folder.path().join("root"));
        fs::create_dir_all(root.join("docs/deep")).unwrap();
        fs::create_dir_all(base.join("root-evil")).unwrap();
        fs::create_dir_all(base.join(SECRET)).unwrap();
        for outside in ["outside.txt", "root-evil/file.txt", "TOPSECRET/TOPSECRET.txt"] {
            fs::write(base.join(outside), SECRET).unwrap();
        }
        fs::write(root.join("lines.txt"), "one\ntwo\nthree\nfour\n").unwrap();
        fs::write(root.join("docs/plan.md"), "# Plan\n").unwrap();
        fs::write(root.join("docs/deep/Notes.MD"), "notes\n").unwrap();
        fs::write(root.join("empty"), "").unwrap();
        fs::write(root.join("picture.png"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
        symlink("lines.txt", root.join("inner")).unwrap();
        symlink("../outside.txt", root.join("escape")).unwrap();
        symlink(base.join("outside.txt"), root.join("absolute")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("/", root.join("slash")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let server = server(Options { roots: vec![root], limits });
        Self { folder, server }
    }

    async fn call(&self, name: &str, arguments: serde_json::Value) -> ToolOutput {
        let arguments = RawJson::from(&arguments);
        self.server.call(ToolInvocation::detached(name, arguments)).await.unwrap()
    }

    /// The texts, with the folder's own name taken out.
    async fn shown(&self, name: &str, arguments: serde_json::Value) -> String {
        let output = self.call(name, arguments).await;
        let texts: Vec<String> = output.content.iter().map(block_text).collect();
        let text = texts.join("\n").replace(&self.folder.path().display().to_string(), "");
        if output.is_error { format!("error {text}") } else { text }
    }

    /// What several calls of one tool give, one below the other.
    async fn transcript(&self, name: &str, calls: &[serde_json::Value]) -> String {
        let mut transcript = String::new();
        for arguments in calls {
            let shown = self.shown(name, arguments.clone()).await;
            let _ = writeln!(transcript, "> {arguments}\n{shown}\n");
        }
        transcript.replace(&self.folder.path().display().to_string(), "")
    }
}

fn block_text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.clone(),
        other => panic!("not text: {other:?}"),
    }
}

#[tokio::test]
async fn a_file_is_read_whole_or_by_its_first_or_last_lines() {
    let world = World::new();
    let absolute = world.folder.path().join("root/docs/../docs/plan.md");
    let calls = [
        json!({ "path": "lines.txt" }),
        json!({ "path": "lines.txt", "head": 2 }),
        json!({ "path": "lines.txt", "tail": 1 }),
        json!({ "path": "lines.txt", "tail": 9 }),
        json!({ "path": "lines.txt", "head": 1, "tail": 1 }),
        json!({ "path": "inner", "head": 1 }),
        json!({ "path": "empty" }),
        json!({ "path": absolute }),
    ];
    expect![[r#"
        > {"path":"lines.txt"}
        one
        two
        three
        four


        > {"path":"lines.txt","head":2}
        one
        two


        > {"path":"lines.txt","tail":1}
        four


        > {"path":"lines.txt","tail":9}
        one
        two
        three
        four


        > {"path":"lines.txt","head":1,"tail":1}
        error {"error":"invalid_arguments","message":"`head` and `tail` cannot be given together.","retryable":false}

        > {"path":"inner","head":1}
        one


        > {"path":"empty"}
        {"result":null,"message":"The file is empty."}

        > {"path":"/root/docs/../docs/plan.md"}
        # Plan


    "#]].assert_eq(&world.transcript("read_text_file", &calls).await);
}

#[tokio::test]
async fn what_is_cut_is_said_and_characters_stay_whole() {
    let world = World::with_limits(Limits { text_bytes: 11, ..Limits::default() });
    let root = world.folder.path().join("root");
    fs::write(root.join("long.txt"), "天气很好\n今天\n").unwrap();
    fs::write(root.join("one-line.txt"), "今天天气很好").unwrap();
    let calls = [
        json!({ "path": "long.txt" }),
        json!({ "path": "long.txt", "head": 5 }),
        json!({ "path": "long.txt", "tail": 5 }),
        json!({ "path": "long.txt", "tail": 1 }),
        json!({ "path": "one-line.txt", "tail": 1 }),
    ];
    expect![[r#"
        > {"path":"long.txt"}
        天气很
        [Only the first 11 of 20 bytes are shown. Use `head` or `tail` to see chosen lines.]

        > {"path":"long.txt","head":5}
        天气很
        [The file is long: only the first 11 of 20 bytes were looked at.]

        > {"path":"long.txt","tail":5}
        今天

        [The file is long: only the last 11 of 20 bytes were looked at.]

        > {"path":"long.txt","tail":1}
        今天

        [The file is long: only the last 11 of 20 bytes were looked at.]

        > {"path":"one-line.txt","tail":1}
        气很好
        [The file is long: only the last 11 of 18 bytes were looked at.]

    "#]]
    .assert_eq(&world.transcript("read_text_file", &calls).await);
}

#[tokio::test]
async fn what_is_no_text_is_named() {
    let world = World::new();
    let root = world.folder.path().join("root");
    fs::write(root.join("latin.txt"), b"caf\xe9").unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    let calls = ["picture.png", "latin.txt", "docs", "pipe"].map(|path| json!({ "path": path }));
    expect![[r#"
        > {"path":"picture.png"}
        error {"error":"not_text","message":"`/root/picture.png` is a PNG picture of 10 bytes and cannot be read as text.","retryable":false}

        > {"path":"latin.txt"}
        error {"error":"not_text","message":"`/root/latin.txt` is not UTF-8 text of 4 bytes and cannot be read as text.","retryable":false}

        > {"path":"docs"}
        error {"error":"not_a_file","message":"`/root/docs` is a folder, not a file.","retryable":false,"suggestion":"Use list_directory to see what is in it."}

        > {"path":"pipe"}
        error {"error":"not_a_file","message":"`/root/pipe` is a device, pipe or socket, not a file.","retryable":false}

    "#]].assert_eq(&world.transcript("read_text_file", &calls).await);
}

#[tokio::test]
async fn a_folder_is_listed_by_name_and_links_are_shown_as_links() {
    let world = World::new();
    fs::create_dir(world.folder.path().join("root/docs/none")).unwrap();
    let calls = [".", "docs/deep", "docs/none", "lines.txt"].map(|path| json!({ "path": path }));
    expect![[r#"
        > {"path":"."}
        /root:
        [LINK] absolute -> /outside.txt
        [DIR] docs/
        [FILE] empty (0 bytes)
        [LINK] escape -> ../outside.txt
        [LINK] inner -> lines.txt
        [FILE] lines.txt (19 bytes)
        [LINK] loop -> loop
        [FILE] picture.png (10 bytes)
        [LINK] slash -> /
        [LINK] up -> ..

        > {"path":"docs/deep"}
        /root/docs/deep:
        [FILE] Notes.MD (6 bytes)

        > {"path":"docs/none"}
        {"result":null,"message":"The folder /root/docs/none is empty."}

        > {"path":"lines.txt"}
        error {"error":"not_a_directory","message":"`/root/lines.txt` is a file, not a folder.","retryable":false,"suggestion":"Use read_text_file to read it."}

    "#]].assert_eq(&world.transcript("list_directory", &calls).await);
    let few = World::with_limits(Limits { entries: 2, ..Limits::default() });
    expect![[r#"
        > {"path":""}
        /root:
        [LINK] absolute -> /outside.txt
        [DIR] docs/
        [8 more are not shown. Use search_files to find one by name.]

    "#]]
    .assert_eq(&few.transcript("list_directory", &[json!({ "path": "" })]).await);
    let listed = few.call("list_directory", json!({ "path": "docs" })).await.structured.unwrap();
    expect![[r#"{"path":"/root/docs","entries":[{"name":"deep","kind":"directory"},{"name":"plan.md","kind":"file","size":7}],"left_out":0}"#]].assert_eq(&listed.to_string().replace(&few.folder.path().display().to_string(), ""));
}

#[tokio::test]
async fn files_are_found_by_glob_and_by_word() {
    let world = World::new();
    let calls = [
        json!({ "path": ".", "pattern": "*.md" }),
        json!({ "path": ".", "pattern": "docs/*.md" }),
        json!({ "path": ".", "pattern": "**/*.{md,png}" }),
        json!({ "path": "docs", "pattern": "note" }),
        json!({ "path": ".", "pattern": "*.md", "exclude": ["deep"] }),
        json!({ "path": ".", "pattern": "*.rs" }),
        json!({ "path": ".", "pattern": "[" }),
    ];
    expect![[r#"
        > {"path":".","pattern":"*.md"}
        /root/docs/plan.md
        /root/docs/deep/Notes.MD

        > {"path":".","pattern":"docs/*.md"}
        /root/docs/plan.md

        > {"path":".","pattern":"**/*.{md,png}"}
        /root/picture.png
        /root/docs/plan.md
        /root/docs/deep/Notes.MD

        > {"path":"docs","pattern":"note"}
        /root/docs/deep/Notes.MD

        > {"path":".","pattern":"*.md","exclude":["deep"]}
        /root/docs/plan.md

        > {"path":".","pattern":"*.rs"}
        {"result":null,"message":"Nothing below /root matches `*.rs`."}

        > {"path":".","pattern":"["}
        error {"error":"invalid_pattern","message":"`[` is not a pattern: invalid range pattern.","retryable":false}

    "#]].assert_eq(&world.transcript("search_files", &calls).await);
    let few = World::with_limits(Limits { matches: 1, ..Limits::default() });
    let everything = [json!({ "path": ".", "pattern": "*" })];
    expect![[r#"
        > {"path":".","pattern":"*"}
        /root/absolute
        [There may be more: no more than 1 are shown.]

    "#]]
    .assert_eq(&few.transcript("search_files", &everything).await);
    let hasty = World::with_limits(Limits { visited: 3, ..Limits::default() });
    let plan = [json!({ "path": ".", "pattern": "plan" })];
    expect![[r#"
        > {"path":".","pattern":"plan"}
        {"result":null,"message":"Nothing below /root matches `plan`. There may be some: the first 3 files and folders were looked at."}

    "#]].assert_eq(&hasty.transcript("search_files", &plan).await);
}

#[tokio::test]
async fn facts_about_a_file_are_told_without_following_a_link() {
    let world = World::new();
    let path = world.folder.path().join("root/lines.txt");
    let file = fs::File::options().write(true).open(&path).unwrap();
    let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    file.set_modified(then).unwrap();
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    let info: serde_json::Value =
        world.call("get_file_info", json!({ "path": "lines.txt" })).await.structured.unwrap().to_value();
    assert_eq!(
        (&info["kind"], &info["size"], &info["permissions"], &info["modified"]),
        (&json!("file"), &json!(19), &json!("640"), &json!("2023-11-14T22:13:20Z"))
    );
    let link: serde_json::Value =
        world.call("get_file_info", json!({ "path": "escape" })).await.structured.unwrap().to_value();
    assert_eq!((&link["kind"], &link["target"]), (&json!("link"), &json!("../outside.txt")));
}

#[tokio::test]
async fn nothing_outside_is_reached_and_the_refusal_names_what_is_allowed() {
    let world = World::new();
    let base = world.folder.path();
    let beside = base.join("root-evil/file.txt");
    let refusal = world.transcript("read_text_file", &[json!({ "path": beside })]).await;
    expect![[r#"
        > {"path":"/root-evil/file.txt"}
        error {"error":"outside_allowed_directories","message":"`/root-evil/file.txt` is outside of the allowed directories, or a link in it leads out of them. Allowed: /root.","retryable":false,"suggestion":"Use a path inside an allowed directory. Only the user can allow another one."}

    "#]].assert_eq(&refusal);
    for path in [
        "../outside.txt",
        "docs/../../outside.txt",
        "escape",
        "absolute",
        "up/outside.txt",
        "up/root/../outside.txt",
        "slash/etc/passwd",
        "/etc/passwd",
        "/proc/self/root/etc/passwd",
    ] {
        let output = world.call("read_text_file", json!({ "path": path })).await;
        let text = block_text(&output.content[0]);
        assert!(
            output.is_error && text.starts_with(r#"{"error":"outside_allowed_directories""#),
            "{path}: {text}"
        );
    }
    for (tool, path) in
        [("list_directory", "up"), ("list_directory", ".."), ("get_file_info", "up/outside.txt")]
    {
        let output = world.call(tool, json!({ "path": path })).await;
        assert!(
            output.is_error && block_text(&output.content[0]).contains("outside_allowed"),
            "{tool} {path}"
        );
    }
    let found = world.shown("search_files", json!({ "path": ".", "pattern": "**/*" })).await;
    assert!(!found.contains(SECRET), "{found}");
    assert!(world.call("read_text_file", json!({ "path": "loop" })).await.is_error);
    assert!(world.call("read_text_file", json!({ "path": "a\0b" })).await.is_error);
}

#[tokio::test]
async fn a_wrong_name_is_answered_with_the_nearest() {
    let world = World::new();
    let calls =
        ["line.txt", "doc/plan.md", "docs/plans.md", "nowhere/at/all"].map(|path| json!({ "path": path }));
    expect![[r#"
        > {"path":"line.txt"}
        error {"error":"not_found","message":"`/root/line.txt` does not exist: there is no `line.txt`.","retryable":false,"suggestion":"Use list_directory or search_files to see what is there.","did_you_mean":["lines.txt"]}

        > {"path":"doc/plan.md"}
        error {"error":"not_found","message":"`/root/doc/plan.md` does not exist: there is no `doc`.","retryable":false,"suggestion":"Use list_directory or search_files to see what is there.","did_you_mean":["docs"]}

        > {"path":"docs/plans.md"}
        error {"error":"not_found","message":"`/root/docs/plans.md` does not exist: there is no `plans.md`.","retryable":false,"suggestion":"Use list_directory or search_files to see what is there.","did_you_mean":["docs/plan.md"]}

        > {"path":"nowhere/at/all"}
        error {"error":"not_found","message":"`/root/nowhere/at/all` does not exist: there is no `nowhere`.","retryable":false,"suggestion":"Use list_directory or search_files to see what is there."}

    "#]].assert_eq(&world.transcript("read_text_file", &calls).await);
}

#[tokio::test]
async fn several_directories_are_one_server() {
    let (first, second) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::write(first.path().join("a"), "first").unwrap();
    fs::write(second.path().join("a"), "second").unwrap();
    fs::write(second.path().join("b"), "only here").unwrap();
    let missing = first.path().join("later");
    let roots = [first.path(), second.path(), &missing].map(Path::to_path_buf).to_vec();
    let server = server(Options { roots, limits: Limits::default() });
    let read = async |path: &Path| {
        let arguments = RawJson::from(&json!({ "path": path }));
        let output = server.call(ToolInvocation::detached("read_text_file", arguments)).await.unwrap();
        block_text(&output.content[0])
    };
    assert_eq!(read(Path::new("a")).await, "first");
    assert_eq!(read(Path::new("b")).await, "only here");
    assert_eq!(read(&second.path().join("a")).await, "second");
    // A directory that was not there at the start is used as soon as it is.
    assert!(read(&missing.join("c")).await.contains("cannot be opened"));
    fs::create_dir(&missing).unwrap();
    fs::write(missing.join("c"), "now it is").unwrap();
    assert_eq!(read(&missing.join("c")).await, "now it is");
}

#[tokio::test]
async fn without_a_directory_nothing_is_allowed() {
    let server = server(Options { roots: Vec::new(), limits: Limits::default() });
    for name in ["read_text_file", "list_directory", "get_file_info"] {
        let arguments = RawJson::from(&json!({ "path": "/etc/passwd" }));
        let output = server.call(ToolInvocation::detached(name, arguments)).await.unwrap();
        assert!(output.is_error && block_text(&output.content[0]).contains("Allowed: none."));
    }
}

#[test]
fn the_tools_are_described_for_a_model() {
    let mut listed = String::new();
    for tool in World::new().server.tools() {
        let (name, description, schema) = (tool.name, tool.description, tool.input_schema);
        let _ = writeln!(listed, "{name}: {description}\n{schema}");
        let _ = writeln!(listed, "{:?}", tool.annotations);
    }
    expect![[r#"
        read_text_file: Reads a text file (读取文件).
        {"type":"object","properties":{"path":{"type":"string","description":"The file, absolute or relative to the first allowed directory."},"head":{"type":["integer","null"],"description":"Only the first lines, this many.","minimum":1},"tail":{"type":["integer","null"],"description":"Only the last lines, this many. Not together with `head`.","minimum":1}},"required":["path"],"additionalProperties":false}
        ToolAnnotations { read_only: Some(true), destructive: None, idempotent: Some(true), open_world: Some(false) }
        list_directory: Lists the files and folders in a folder (列出目录).
        {"type":"object","properties":{"path":{"type":"string","description":"The folder, absolute or relative to the first allowed directory; \".\" for that directory itself."}},"required":["path"],"additionalProperties":false}
        ToolAnnotations { read_only: Some(true), destructive: None, idempotent: Some(true), open_world: Some(false) }
        search_files: Finds files and folders by name, in a folder and all folders below (查找文件).
        {"type":"object","properties":{"path":{"type":"string","description":"The folder to start in, with all folders below; \".\" for the first allowed directory."},"pattern":{"type":"string","description":"A glob such as \"*.md\" or \"src/**/*.rs\". A word without wildcards finds every name that contains it."},"exclude":{"type":"array","description":"Globs of what to leave out, for example \"node_modules\".","items":{"type":"string"},"default":[]}},"required":["path","pattern"],"additionalProperties":false}
        ToolAnnotations { read_only: Some(true), destructive: None, idempotent: Some(true), open_world: Some(false) }
        get_file_info: Tells size, kind, times and permissions of a file or folder (文件信息).
        {"type":"object","properties":{"path":{"type":"string","description":"The file or folder, absolute or relative to the first allowed directory."}},"required":["path"],"additionalProperties":false}
        ToolAnnotations { read_only: Some(true), destructive: None, idempotent: Some(true), open_world: Some(false) }
        list_allowed_directories: Names the directories that may be read.
        {"type":"object","properties":{}}
        ToolAnnotations { read_only: Some(true), destructive: None, idempotent: Some(true), open_world: Some(false) }
    "#]].assert_eq(&listed);
}

#[test]
fn the_tools_only_read() {
    assert!(cards().iter().all(|card| card.effect == Effect::Read));
    assert_eq!(cards().len(), 5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_path_leads_outside(
        parts in prop::collection::vec(
            prop_oneof![
                Just("..".to_owned()), Just(".".to_owned()), Just(String::new()), Just("docs".to_owned()),
                Just("up".to_owned()), Just("slash".to_owned()), Just("escape".to_owned()), Just("absolute".to_owned()),
                Just("loop".to_owned()), Just("root".to_owned()), Just("outside.txt".to_owned()),
                Just("TOPSECRET".to_owned()), Just("TOPSECRET.txt".to_owned()), Just("BASE".to_owned()),
                Just("ROOT".to_owned()), ".{0,3}",
            ],
            0..7,
        ),
    ) {
        let world = World::new();
        let base = world.folder.path().display().to_string();
        let path = parts.join("/").replace("BASE", &base).replace("ROOT", &format!("{base}/root"));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (tool, arguments) in [
            ("read_text_file", json!({ "path": path })),
            ("list_directory", json!({ "path": path })),
            ("get_file_info", json!({ "path": path })),
            ("search_files", json!({ "path": path, "pattern": "**/*" })),
        ] {
            let output = runtime.block_on(world.call(tool, arguments));
            let mut shown: String = output.content.iter().map(block_text).collect();
            shown.extend(output.structured.iter().map(ToString::to_string));
            // The caller's own words may come back, and so may the target that stands in a link inside.
            let found = shown.replace(&path, "").contains(SECRET);
            prop_assert!(!found || path.contains(SECRET) && output.is_error, "{} {:?}: {}", tool, path, shown);
        }
    }
}
