//! Servers named on the command line: `NAME=COMMAND ARGS…` or `NAME=URL`.

use super::environment::Environment;
use super::error::LoadError;
use super::file::name_fault;
use super::server::parse_address;
use super::settings::{Launch, LimitSettings, Scope, ServerSettings, ShownLaunch};
use super::{shown, variables};

/// Reads one such text. The command line is split as a POSIX shell splits words: blanks separate, quotes keep together, a
/// backslash keeps the next character (on Windows only a quote). Placeholders are filled as in a file.
///
/// # Errors
///
/// [`LoadError::BadServer`]: the name, the quotes, the address or a variable is wrong.
pub(super) fn parse(
    text: &str,
    environment: &Environment,
    limits: &LimitSettings,
) -> Result<ServerSettings, LoadError> {
    let wrong = |what: String| LoadError::BadServer { text: shown_text(text), what };
    let (name, rest) = text
        .split_once('=')
        .ok_or_else(|| wrong("there is no `=`; write NAME=COMMAND or NAME=URL".into()))?;
    let (name, rest) = (name.trim(), rest.trim());
    if let Some(fault) = name_fault(name) {
        return Err(wrong(fault.into()));
    }
    let fill = |text: &str| {
        variables::fill(text, environment)
            .map_err(|faults| wrong(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))
    };
    let is_address = ["http://", "https://"]
        .iter()
        .any(|scheme| rest.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    let (launch, shown) = if is_address && !rest.contains(char::is_whitespace) {
        let url = parse_address(&fill(rest)?).map_err(wrong)?;
        let sse = url.path().trim_end_matches('/').ends_with("/sse");
        let shown = ShownLaunch {
            kind: if sse { "sse" } else { "http" }.into(),
            target: shown::address(rest),
            ..ShownLaunch::default()
        };
        (Launch::Http { url, headers: Vec::new(), sse }, shown)
    } else {
        let words = split_words(rest).map_err(wrong)?;
        let shown = ShownLaunch {
            kind: "stdio".into(),
            target: shown::command_line(&words),
            ..ShownLaunch::default()
        };
        let mut filled = words.iter().map(|word| fill(word)).collect::<Result<Vec<_>, _>>()?.into_iter();
        let command = filled.next().filter(|command| !command.is_empty());
        let command = command.ok_or_else(|| wrong("no command follows the `=`".into()))?;
        (Launch::Child { command, args: filled.collect(), env: Vec::new(), cwd: None }, shown)
    };
    Ok(ServerSettings::plain(name, launch, shown, Scope::Flag, limits))
}

/// Splits a command line into words. Source: POSIX.1-2017, XCU 2.2, without expansions.
fn split_words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        Some('\'') => break,
                        Some(other) => word.push(other),
                        None => return Err("a single quote is not closed".into()),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        Some('"') => break,
                        Some('\\') if characters.peek().is_some_and(|next| "\"\\$`".contains(*next)) => {
                            word.extend(characters.next());
                        }
                        Some(other) => word.push(other),
                        None => return Err("a double quote is not closed".into()),
                    }
                }
            }
            '\\' if !cfg!(windows) || characters.peek() == Some(&'"') => {
                word.get_or_insert_default().push(characters.next().unwrap_or('\\'));
            }
            blank if blank.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

/// The text as an error may show it: only its name and its first word, for the rest may hold a secret.
fn shown_text(text: &str) -> String {
    let mut words = text.split_whitespace();
    let first = shown::address(words.next().unwrap_or_default());
    if words.next().is_some() { format!("{first} …") } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(text: &str) -> String {
        let environment = Environment::from_pairs([("TOK", "s 3")]);
        match parse(text, &environment, &LimitSettings::default()) {
            Ok(ServerSettings { name, launch: Launch::Child { command, args, .. }, .. }) => {
                format!("{name}: {command:?} {args:?}")
            }
            Ok(ServerSettings { name, launch: Launch::Http { url, sse, .. }, .. }) => {
                format!("{name}: {url} {sse}")
            }
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_server_of_the_command_line_is_a_command_or_an_address() {
        let cases = [
            "files=npx -y server /tmp",
            "h='/Applications/Hopper Disassembler.app/srv' --x \"a \\\"b\\\" $c\" d\\ e ''",
            "web=https://h.example/mcp?a=b",
            "old=HTTP://127.0.0.1:3/sse",
            "env=srv --opt=${TOK} X=1",
            "eq=srv a=b=c",
            "nothing",
            "=srv",
            "x=",
            "x=''",
            "x=srv 'open",
            "x=srv ${NOPE}",
            "x=http://",
        ];
        expect_test::expect![[r#"
            files: "npx" ["-y", "server", "/tmp"]
            h: "/Applications/Hopper Disassembler.app/srv" ["--x", "a \"b\" $c", "d e", ""]
            web: https://h.example/mcp?a=b false
            old: http://127.0.0.1:3/sse true
            env: "srv" ["--opt=s 3", "X=1"]
            eq: "srv" ["a=b=c"]
            `nothing` is no server: there is no `=`; write NAME=COMMAND or NAME=URL
            `=srv` is no server: the name is empty
            `x=` is no server: no command follows the `=`
            `x=''` is no server: no command follows the `=`
            `x=srv …` is no server: a single quote is not closed
            `x=srv …` is no server: the variable NOPE is not set
            `x=http://` is no server: it is no address: empty host"#]]
        .assert_eq(&cases.map(launch).join("\n"));
    }

    #[test]
    fn what_may_be_shown_holds_no_secret() {
        let server =
            parse("x=srv --token abc", &Environment::from_pairs([("", "")]), &LimitSettings::default())
                .unwrap();
        assert_eq!(server.shown.target, "srv --token ***");
        assert_eq!(
            launch("x srv --token abc"),
            "`x …` is no server: there is no `=`; write NAME=COMMAND or NAME=URL"
        );
    }
}
