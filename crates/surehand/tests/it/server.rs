//! The bundled servers, served to others.

use std::io::{BufRead, BufReader};

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
