//! The bundled servers, served to others.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use crate::home::Home;

#[test]
fn a_server_at_an_address_is_reached_by_its_url() {
    let home = Home::new();
    let mut server = home.command(&["server", "time", "--listen", "127.0.0.1:0"], &[]).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut said).unwrap();
    let url = said.split_whitespace().find(|word| word.starts_with("http://")).unwrap().trim_end_matches(',');
    let ran = home.run(&[
        "call",
        "clock/get_current_time",
        "timezone=Asia/Shanghai",
        "--server",
        &format!("clock={url}"),
        "--approve",
        "always",
    ]);
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
    assert!(ran.stdout.contains("+08:00"), "{ran}");
}

#[test]
fn the_files_server_reads_the_folders_it_is_given_and_no_others() {
    let home = Home::new();
    home.write("one/a.txt", "inside");
    home.write("two/b.txt", "outside");
    let server =
        format!("docs={} server files --root {}", env!("CARGO_BIN_EXE_surehand"), home.path("one").display());
    let read = |path: &str| {
        let path = format!("path={}", home.path(path).display());
        home.run(&["call", "docs/read_text_file", &path, "--server", &server, "--approve", "always"])
    };
    let inside = read("one/a.txt");
    assert_eq!((inside.code, inside.stdout.as_str()), (0, "inside\n"), "{inside}");
    let outside = read("two/b.txt");
    assert_eq!(outside.code, 5, "{outside}");
    assert!(!outside.stdout.contains("outside\""), "{outside}");
}

#[test]
fn options_of_another_server_are_refused() {
    let ran = Home::new().run(&["server", "time", "--root", "/"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (2, "error: the server `time` has no --root\n"), "{ran}");
}

#[test]
fn a_server_with_an_issuer_lets_in_nobody_without_a_token_and_says_where_to_get_one() {
    let home = Home::new();
    // Nobody listens at the issuer: without a token there is nothing to ask it.
    let line = [
        "server",
        "time",
        "--listen",
        "127.0.0.1:0",
        "--issuer",
        "https://login.example",
        "--public-url",
        "https://tools.example/time",
        "--scope",
        "clock",
    ];
    let mut server = home.command(&line, &[]).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut said).unwrap();
    let url = said.split_whitespace().find(|word| word.starts_with("http://")).unwrap();
    let address = url.trim_start_matches("http://").split('/').next().unwrap();
    let ask = |request: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "{request} HTTP/1.1\r\nHost: tools.example\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let refused = ask("POST /mcp");
    let metadata = ask("GET /.well-known/oauth-protected-resource/time");
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
    let challenge = "www-authenticate: Bearer scope=\"clock\", resource_metadata=\"https://tools.example/.well-known/oauth-protected-resource/time\"\r\n";
    assert!(refused.contains(challenge), "{refused}");
    let issuer =
        "\"resource\":\"https://tools.example/time\",\"authorization_servers\":[\"https://login.example\"]";
    assert!(metadata.contains(issuer), "{metadata}");
}

#[test]
fn an_issuer_that_others_could_speak_for_is_refused() {
    let line = ["server", "time", "--listen", "127.0.0.1:0", "--public-url", "https://tools.example/mcp"];
    let ran = Home::new().run(&[&line[..], &["--issuer", "http://login.example"]].concat());
    let words = "error: `http://login.example` must be an https address, or one of this machine, without query and fragment\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (2, words), "{ran}");
}
