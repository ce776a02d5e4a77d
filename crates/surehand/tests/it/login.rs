//! Logging in to a server with the real binary, a real redirect and a server that wants it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::home::{Home, Ran};

/// A server and its authorization server. It ends with the process.
struct Fake {
    base: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (own_base, own_asked) = (base.clone(), asked.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (base, asked) = (own_base.clone(), own_asked.clone());
                thread::spawn(move || serve(stream.unwrap(), &base, &asked));
            }
        });
        Self { base, asked }
    }
}

fn serve(mut stream: TcpStream, base: &str, asked: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let Some(first) = head.first() else { return };
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let header = |name: &str| {
        head.iter().find_map(|line| {
            let (own, value) = line.split_once(": ")?;
            own.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    };
    let mut body = vec![0; header("content-length").map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    asked.lock().unwrap().push(format!("{method} {path}"));
    if body.contains("grant_type=") && !body.contains("authorization_code") {
        asked.lock().unwrap().push(body.clone());
    }
    let json = "200 OK\r\nContent-Type: application/json";
    let (status, answer) = match (method, path) {
        ("POST", "/mcp") if header("authorization").as_deref() != Some("Bearer a1") => (
            format!(
                "401 Unauthorized\r\nWWW-Authenticate: Bearer scope=\"a\", resource_metadata=\"{base}/prm\""
            ),
            String::new(),
        ),
        ("POST", "/mcp") => {
            let id: String =
                body.split("\"id\":").nth(1).unwrap().chars().take_while(char::is_ascii_digit).collect();
            let result = if body.contains("server/discover") {
                r#""supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}"#
            } else {
                r#""tools":[{"name":"greet","inputSchema":{"type":"object"}}]"#
            };
            let answer =
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete",{result}}}}}"#);
            (json.to_owned(), answer)
        }
        ("GET", "/prm") => {
            (json.to_owned(), format!(r#"{{"resource":"{base}/mcp","authorization_servers":["{base}"]}}"#))
        }
        ("GET", "/.well-known/oauth-authorization-server") => (
            json.to_owned(),
            format!(
                r#"{{"issuer":"{base}","authorization_endpoint":"{base}/authorize","token_endpoint":"{base}/token",
                    "registration_endpoint":"{base}/register","code_challenge_methods_supported":["S256"]}}"#
            ),
        ),
        ("POST", "/register") => (json.to_owned(), r#"{"client_id":"c1"}"#.to_owned()),
        ("POST", "/token") => (json.to_owned(), r#"{"access_token":"a1","token_type":"Bearer"}"#.to_owned()),
        ("GET", "/authorize") => {
            let field = |name: &str| {
                let found = query.split('&').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
                found.unwrap().replace("%3A", ":").replace("%2F", "/")
            };
            let (redirect, state) = (field("redirect_uri"), field("state"));
            (format!("302 Found\r\nLocation: {redirect}?code=x1&state={state}"), String::new())
        }
        _ => ("404 Not Found".to_owned(), String::new()),
    };
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
        answer.len()
    );
}

/// Asks for a page and gives back its head and body.
fn get(url: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    page
}

/// Runs `mcp login` and does at the browser what a person would do.
fn log_in(home: &Home, arguments: &[&str]) -> Ran {
    let mut child = home.command(arguments, &[]).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if said.read_line(&mut line).unwrap() == 0 {
            break;
        }
        if line.starts_with("http://") {
            let page = get(line.trim());
            let location = page.lines().find_map(|line| line.strip_prefix("Location: ")).unwrap();
            assert!(get(location.trim()).contains("this window can be closed"));
            continue;
        }
        lines.push(line);
    }
    let output = child.wait_with_output().unwrap();
    Ran {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: lines.concat(),
        code: output.status.code().unwrap(),
    }
}

fn home_with(fake: &Fake, more: &str) -> Home {
    let home = Home::new();
    let entry = format!(r#"{{"mcpServers":{{"h":{{"type":"http","url":"{}/mcp"{more}}}}}}}"#, fake.base);
    home.write("config/surehand/surehand.json", &entry);
    home
}

#[test]
fn a_login_serves_every_later_run_until_it_is_forgotten() {
    let fake = Fake::start();
    let home = home_with(&fake, "");
    let before = home.run(&["tools", "h"]);
    assert_eq!(before.code, 3);
    assert!(before.stderr.contains("surehand mcp login h"), "{}", before.stderr);

    let done = log_in(&home, &["mcp", "login", "h"]);
    assert_eq!(
        done,
        Ran {
            stdout: "Logged in to `h`.\n".to_owned(),
            stderr: "Open this address in a browser:\n".to_owned(),
            code: 0
        }
    );
    let tools = home.run(&["tools", "h"]);
    assert_eq!((tools.code, tools.stdout.contains("greet")), (0, true), "{tools:?}");
    let folder = home.path("state/surehand/oauth");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for file in folder.read_dir().unwrap() {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
    let logins = fake.asked.lock().unwrap().iter().filter(|line| *line == "POST /token").count();
    assert_eq!(logins, 1);

    let kept = |ran: Ran| ran.stdout.lines().any(|line| line.split_whitespace().eq(["Login", "kept"]));
    assert!(kept(home.run(&["mcp", "get", "h"])));
    let out = home.run(&["mcp", "logout", "h"]);
    assert_eq!((out.code, out.stdout.as_str()), (0, "Logged out of `h`.\n"));
    let again = home.run(&["mcp", "logout", "h", "--output", "json"]);
    assert_eq!((again.code, again.stdout.as_str()), (0, "{\"server\":\"h\",\"state\":\"not_needed\"}\n"));
    assert_eq!(home.run(&["tools", "h"]).code, 3);
    assert!(!kept(home.run(&["mcp", "get", "h"])));
}

#[test]
fn only_servers_behind_an_address_that_want_it_are_logged_in_to() {
    let fake = Fake::start();
    let home = home_with(&fake, r#","headers":{"Authorization":"Bearer a1"}"#);
    let own = home.run(&["mcp", "login", "h"]);
    assert_eq!(own.code, 2);
    assert!(
        own.stderr.contains("`h` is not logged in to: its entry has an `Authorization` header of its own"),
        "{}",
        own.stderr
    );
    assert_eq!(home.run(&["tools", "h"]).code, 0);
    let home = home_with(&fake, r#","oauth":false"#);
    assert_eq!(home.run(&["mcp", "login", "h"]).code, 2);
    let wanted = home.run(&["tools", "h"]);
    assert_eq!(
        (wanted.code, wanted.stderr.contains("it said: Bearer scope")),
        (3, true),
        "{}",
        wanted.stderr
    );
    let bundled = home.run(&["mcp", "login", "time"]);
    assert!(bundled.stderr.contains("only servers behind a URL are"), "{}", bundled.stderr);
}

#[test]
fn a_fixed_port_in_use_ends_the_login_at_once() {
    let fake = Fake::start();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let home = home_with(&fake, &format!(r#","oauth":{{"callbackPort":{port},"clientId":"c9"}}"#));
    let ran = home.run(&["mcp", "login", "h"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains(&format!("port {port} is in use")), "{}", ran.stderr);
}

#[test]
fn a_workload_logs_in_by_itself_with_the_token_in_a_file_and_with_no_other_file() {
    let fake = Fake::start();
    let home = home_with(
        &fake,
        r#","oauth":{"grant":"workload","clientId":"w","tokenFile":"pod.jwt","scopes":"b"}"#,
    );
    let asked =
        || fake.asked.lock().unwrap().iter().filter(|line| line.contains("grant_type=")).cloned().collect();
    home.write("pod.jwt", "hunter2");
    let secret = home.run(&["tools", "h"]);
    assert_eq!(secret.code, 3, "{secret:?}");
    let words = "pod.jwt` is no use for a login: this is no signed token: it has not three parts";
    assert!(secret.stderr.contains(words) && !secret.stderr.contains("hunter2"), "{}", secret.stderr);
    let none: Vec<String> = asked();
    assert_eq!(none, [""; 0]);
    // Signed with ES384, which is the authorization server's business.
    home.write("pod.jwt", "eyJhbGciOiJFUzM4NCJ9.e30.AAAA\n");
    let tools = home.run(&["tools", "h"]);
    assert_eq!((tools.code, tools.stdout.contains("greet")), (0, true), "{tools:?}");
    let base = fake.base.replace(':', "%3A").replace('/', "%2F");
    let form: Vec<String> = asked();
    let expected = format!(
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=eyJhbGciOiJFUzM4NCJ9.e30.AAAA&scope=a+b&resource={base}%2Fmcp&client_id=w"
    );
    assert_eq!(form, [expected]);
}

#[test]
fn a_key_that_cannot_be_read_is_named_and_nobody_is_asked() {
    let fake = Fake::start();
    let entry = r#","oauth":{"grant":"client_credentials","clientId":"c","privateKeyFile":"none.pem"}"#;
    let ran = home_with(&fake, entry).run(&["tools", "h"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(
        ran.stderr.contains("none.pem` is no use for a login: No such file or directory"),
        "{}",
        ran.stderr
    );
    assert_eq!(*fake.asked.lock().unwrap(), [""; 0]);
}
