//! A server process that answers by pattern.

use surehand_transport::Target;

use crate::fixture::shell;

/// A process that reads lines and, at the first pattern that fits one, writes the lines beside it: `ID` is the id of the line read,
/// `LINE` the whole of it, `KEPT` the last line that fitted a pattern with `=` before it.
pub(crate) fn process(cases: &[(&str, &[&str])]) -> Target {
    process_with(":", cases)
}

/// The same, with a line of the shell's own that is run for each line read; `TASK` is the variable `task`.
pub(crate) fn process_with(each: &str, cases: &[(&str, &[&str])]) -> Target {
    let mut script = format!(
        "while read -r line; do\nid=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\)[,}}].*/\\1/p')\n{each}\ncase \"$line\" in\n",
    );
    for (pattern, writes) in cases {
        let (pattern, keeps) = match pattern.strip_prefix('=') {
            Some(pattern) => (pattern, "kept=$line kept_id=$id;"),
            None => (*pattern, ":;"),
        };
        script.push_str(&format!("{pattern}) {keeps}\n"));
        for line in *writes {
            let line = line
                .replace("TASK", "'\"$task\"'")
                .replace("KEPT_ID", "'\"$kept_id\"'")
                .replace("KEPT", "'\"$kept\"'")
                .replace("LINE", "'\"$line\"'")
                .replace("ID", "'\"$id\"'");
            script.push_str(&format!("printf '%s\\n' '{line}'\n"));
        }
        script.push_str(";;\n");
    }
    script.push_str("esac\ndone");
    Target::Child(shell(&script))
}

/// Refuses discovery, so that the older era is spoken.
pub(crate) const NO_DISCOVERY: (&str, &[&str]) =
    ("*server/discover*", &[r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"?"}}"#]);

/// Opens in the newest revision of the older era, with everything on offer.
pub(crate) const INITIALIZED: (&str, &[&str]) = (
    r#"*\"initialize\"*"#,
    &[
        r#"{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{}},"serverInfo":{"name":"sh","version":"1"}}}"#,
    ],
);

/// Opens in the newest revision, with everything on offer.
pub(crate) const DISCOVERED: (&str, &[&str]) = (
    "*server/discover*",
    &[
        r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{},"prompts":{},"completions":{}}}}"#,
    ],
);
