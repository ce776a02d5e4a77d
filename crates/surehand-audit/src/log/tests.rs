use std::fs;
use std::io::{BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use expect_test::expect;
use surehand_model::RawJson;
use tempfile::TempDir;

use crate::{
    AuditError, AuditFault, AuditLog, Head, Intent, Kind, Outcome, Record, RepairNote, Torn, Verdict,
    Verified, records, verify, verify_beyond,
};

fn intent<'a>(call: &'a str, arguments: &'a RawJson) -> Intent<'a> {
    Intent {
        time_ms: 1_764_466_567_042,
        run: "run-1",
        call,
        server: "files",
        tool: "write_file",
        arguments: Some(arguments),
        decision: Verdict::Approved,
        decided_by: "person",
        rule: "default",
        repairs: &[],
    }
}

fn outcome(call: &str) -> Outcome<'_> {
    Outcome {
        time_ms: 1_764_466_567_142,
        run: "run-1",
        call,
        server: "files",
        tool: "write_file",
        result: Some(b"abc"),
        is_error: false,
        duration_ms: 100,
    }
}

fn check(path: &Path) -> Result<Verified, AuditFault> {
    verify(BufReader::new(fs::File::open(path).unwrap()))
}

fn all(path: &Path) -> Vec<Record> {
    records(BufReader::new(fs::File::open(path).unwrap())).collect::<Result<_, _>>().unwrap()
}

/// A log of `count` intents with an outcome each.
fn written(folder: &TempDir, count: usize) -> (std::path::PathBuf, Head) {
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path).unwrap();
    let mut head = Head::start();
    for number in 0..count {
        let call = format!("call-{number}");
        log.record_intent(&intent(&call, &RawJson::parse(r#"{"path":"a"}"#).unwrap())).unwrap();
        head = log.record_outcome(&outcome(&call)).unwrap();
    }
    (path, head)
}

#[test]
fn a_call_is_two_lines_that_tell_everything_about_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path).unwrap();
    let arguments =
        RawJson::parse("{\n  \"path\": \"a\",\n  \"token\": \"t0p\",\n  \"size\": 123456789012345678901\n}")
            .unwrap();
    let repairs = [RepairNote { path: "/size".into(), from: "string \"1\"".into(), to: "integer 1".into() }];
    log.record_intent(&Intent { repairs: &repairs, ..intent("call-1", &arguments) }).unwrap();
    log.record_outcome(&outcome("call-1")).unwrap();
    expect![[r#"
        {"seq":1,"time":"2025-11-30T01:36:07.042Z","run":"run-1","kind":"intent","call":"call-1","server":"files","tool":"write_file","arguments":{"path":"a","token":"***","size":123456789012345678901},"decision":"approved","decided_by":"person","rule":"default","repairs":[{"path":"/size","from":"string","to":"integer"}],"prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":"b9a65e9b25f53ee4a35e3b3e4401e2c3af5bd455e2dac591fd19f100a85a2bf2"}
        {"seq":2,"time":"2025-11-30T01:36:07.142Z","run":"run-1","kind":"outcome","call":"call-1","server":"files","tool":"write_file","result":{"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","bytes":3},"is_error":false,"duration_ms":100,"prev":"b9a65e9b25f53ee4a35e3b3e4401e2c3af5bd455e2dac591fd19f100a85a2bf2","hash":"fb8a8bbf92803b9ea76b6f3eb0d5931795ea059da16f272f32b805840858c9a0"}
    "#]].assert_eq(&fs::read_to_string(&path).unwrap());
}

#[test]
fn what_was_written_is_read_back() {
    let folder = TempDir::new().unwrap();
    let (path, head) = written(&folder, 1);
    let [intent, outcome] = all(&path).try_into().unwrap();
    assert_eq!((intent.kind, intent.seq, intent.call.as_str()), (Kind::Intent, 1, "call-0"));
    assert_eq!((intent.decision, intent.decided_by.as_deref()), (Some(Verdict::Approved), Some("person")));
    assert_eq!(intent.arguments, Some(RawJson::parse(r#"{"path":"a"}"#).unwrap()));
    assert_eq!((outcome.kind, outcome.seq, outcome.prev), (Kind::Outcome, 2, intent.hash));
    assert_eq!((outcome.is_error, outcome.duration_ms), (Some(false), Some(100)));
    let digest = outcome.result.unwrap();
    assert_eq!(digest.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(digest.bytes, 3);
    assert_eq!(check(&path), Ok(Verified { records: 2, head, torn: None }));
}

#[test]
fn only_the_owner_can_read_the_log() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("state/surehand/audit.jsonl");
    AuditLog::open(&path).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    AuditLog::open(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn a_log_goes_on_where_it_was_left() {
    let folder = TempDir::new().unwrap();
    let (path, before) = written(&folder, 2);
    let log = AuditLog::open(&path).unwrap();
    let head = log.record_outcome(&outcome("later")).unwrap();
    assert_eq!(head.seq, before.seq + 1);
    assert_eq!(check(&path), Ok(Verified { records: 5, head, torn: None }));
}

#[test]
fn eight_threads_and_two_logs_keep_one_chain() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("audit.jsonl");
    // Two opened logs have nothing in common but the file, as two processes have.
    let logs = [AuditLog::open(&path).unwrap(), AuditLog::open(&path).unwrap()];
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let log = &logs[thread % 2];
            scope.spawn(move || {
                for number in 0..25 {
                    let call = format!("call-{thread}-{number}");
                    log.record_intent(&intent(&call, &RawJson::empty_object())).unwrap();
                    log.record_outcome(&outcome(&call)).unwrap();
                }
            });
        }
    });
    assert_eq!(check(&path).unwrap().records, 400);
    let records = all(&path);
    let mut calls: Vec<(&str, Kind)> =
        records.iter().map(|record| (record.call.as_str(), record.kind)).collect();
    for thread in 0..8 {
        for number in 0..25 {
            let call = format!("call-{thread}-{number}");
            let mut of_call = calls.iter().filter(|(name, _)| *name == call).map(|(_, kind)| *kind);
            assert_eq!(
                (of_call.next(), of_call.next(), of_call.next()),
                (Some(Kind::Intent), Some(Kind::Outcome), None)
            );
        }
    }
    calls.dedup();
    assert_eq!(calls.len(), 400);
}

#[test]
fn any_changed_byte_is_found() {
    let folder = TempDir::new().unwrap();
    let (path, _) = written(&folder, 2);
    let whole = fs::read(&path).unwrap();
    let last_line_start = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x20;
        match verify(bytes.as_slice()) {
            Err(_) => {}
            // Without its line feed, the last line is whole or torn; either way nothing in front of it is touched.
            Ok(verified) => {
                assert_eq!(at, whole.len() - 1, "byte {at}");
                assert!(verified.records >= 3 && last_line_start > 0);
            }
        }
    }
}

#[test]
fn removed_swapped_doubled_and_inserted_lines_are_found_where_they_are() {
    let folder = TempDir::new().unwrap();
    let (path, _) = written(&folder, 3);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let other = TempDir::new().unwrap();
    let foreign = fs::read_to_string(written(&other, 5).0).unwrap();
    let foreign: Vec<&str> = foreign.lines().collect();
    let table: [(&str, Vec<&str>, u64); 6] = [
        ("first removed", lines[1..].to_vec(), 1),
        ("middle removed", [&lines[..2], &lines[3..]].concat(), 3),
        ("swapped", vec![lines[0], lines[2], lines[1], lines[3], lines[4], lines[5]], 2),
        ("doubled", [&lines[..2], &lines[1..]].concat(), 3),
        ("inserted", [&lines[..2], &["{}"], &lines[2..]].concat(), 3),
        ("spliced", [&lines[..5], &foreign[6..]].concat(), 6),
    ];
    for (what, lines, at) in table {
        let fault = verify(format!("{}\n", lines.join("\n")).as_bytes()).unwrap_err();
        assert_eq!(fault.line, at, "{what}: {fault}");
    }
}

#[test]
fn a_line_that_was_changed_together_with_its_hash_is_found_at_the_next_one() {
    let folder = TempDir::new().unwrap();
    let (path, head) = written(&folder, 2);
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let forge = |line: &str| {
        let body = line.split(",\"hash\":").next().unwrap().replace("files", "mails");
        crate::chain::seal(&format!("{body}}}")).0
    };
    lines[1] = forge(&lines[1]);
    assert_eq!(verify(lines.join("\n").as_bytes()).unwrap_err().line, 3);
    // The last one has no next; a head kept elsewhere tells.
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[3] = forge(&lines[3]);
    let forged = lines.join("\n");
    assert!(verify(forged.as_bytes()).is_ok());
    assert_eq!(verify_beyond(forged.as_bytes(), &head).unwrap_err().line, 4);
}

#[test]
fn lines_cut_off_the_end_are_found_by_whoever_kept_a_head() {
    let folder = TempDir::new().unwrap();
    let (path, head) = written(&folder, 3);
    let text = fs::read_to_string(&path).unwrap();
    let cut: String = text.lines().take(4).map(|line| format!("{line}\n")).collect();
    assert_eq!(verify(cut.as_bytes()).unwrap().records, 4);
    let fault = verify_beyond(cut.as_bytes(), &head).unwrap_err();
    assert_eq!(fault.to_string(), "line 5: records were cut off: there were 6 and there are 4");
    assert!(verify_beyond(text.as_bytes(), &head).is_ok());
    assert!(verify_beyond("".as_bytes(), &head).is_err());
    assert_eq!(verify("".as_bytes()), Ok(Verified { records: 0, head: Head::start(), torn: None }));
}

#[test]
fn a_torn_last_line_is_reported_taken_away_and_remembered() {
    let folder = TempDir::new().unwrap();
    let (path, _) = written(&folder, 2);
    let whole = fs::read(&path).unwrap();
    let last_start = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for kept in [1, 10, whole.len() - last_start - 2] {
        fs::write(&path, &whole[..last_start + kept]).unwrap();
        assert_eq!(check(&path).unwrap().torn, Some(Torn { line: 4, bytes: kept as u64 }));
        let head = AuditLog::open(&path).unwrap().record_outcome(&outcome("after")).unwrap();
        assert_eq!(head.seq, 4);
        assert_eq!(check(&path), Ok(Verified { records: 4, head, torn: None }));
        assert_eq!(all(&path)[3].dropped_bytes, Some(kept as u64));
    }
}

#[test]
fn a_record_that_lacks_nothing_but_its_line_feed_is_kept() {
    let folder = TempDir::new().unwrap();
    let (path, head) = written(&folder, 1);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(check(&path), Ok(Verified { records: 2, head, torn: None }));
    AuditLog::open(&path).unwrap().record_outcome(&outcome("after")).unwrap();
    assert_eq!(check(&path).unwrap().records, 3);
    assert_eq!(all(&path)[2].dropped_bytes, None);
}

#[test]
fn a_file_that_is_torn_from_its_first_byte_begins_anew() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("audit.jsonl");
    fs::write(&path, "{\"seq\":1,\"ti").unwrap();
    let head = AuditLog::open(&path).unwrap().record_outcome(&outcome("first")).unwrap();
    assert_eq!(check(&path), Ok(Verified { records: 1, head, torn: None }));
}

#[test]
fn a_log_whose_end_was_changed_takes_no_more_records() {
    let folder = TempDir::new().unwrap();
    let (path, _) = written(&folder, 1);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"is_error\":false", "\"is_error\":true ")).unwrap();
    let error = AuditLog::open(&path).unwrap().record_outcome(&outcome("after")).unwrap_err();
    assert!(matches!(error, AuditError::Changed { .. }), "{error}");
}

#[test]
fn a_log_that_got_shorter_while_it_was_open_takes_no_more_records() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path).unwrap();
    log.record_outcome(&outcome("one")).unwrap();
    let one = fs::metadata(&path).unwrap().len();
    log.record_outcome(&outcome("two")).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(one).unwrap();
    assert!(matches!(log.record_outcome(&outcome("three")), Err(AuditError::Changed { .. })));
    assert_eq!(check(&path).unwrap().records, 1);
}

#[test]
fn a_log_that_was_moved_away_is_begun_anew_under_its_name() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path).unwrap();
    log.record_outcome(&outcome("one")).unwrap();
    let old = folder.path().join("audit.1.jsonl");
    fs::rename(&path, &old).unwrap();
    log.record_outcome(&outcome("two")).unwrap();
    assert_eq!((check(&old).unwrap().records, check(&path).unwrap().records), (1, 1));
}

#[test]
fn long_and_unreadable_arguments_are_noted_and_a_line_stays_one_line() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path).unwrap();
    let long = RawJson::parse(format!("{{\"text\":\"{}\"}}", "é\\n".repeat(100_000))).unwrap();
    let deep = RawJson::parse("[".repeat(1_000) + &"]".repeat(1_000)).unwrap();
    log.record_intent(&intent("long", &long)).unwrap();
    log.record_intent(&intent("deep", &deep)).unwrap();
    log.record_intent(&Intent { arguments: None, call: "un\nreadable", ..intent("", &deep) }).unwrap();
    log.record_intent(&Intent { tool: &"t".repeat(1_000_000), ..intent("name", &deep) }).unwrap();
    assert_eq!(check(&path).unwrap().records, 4);
    assert!(fs::metadata(&path).unwrap().len() < 100_000);
    let notes: Vec<Option<String>> = all(&path).into_iter().map(|record| record.arguments_note).collect();
    assert_eq!(
        notes,
        [
            Some("the first part of 400011 bytes, as text".to_owned()),
            Some("not recorded: JSON nested deeper than 128 levels".to_owned()),
            Some("could not be read".to_owned()),
            Some("not recorded: JSON nested deeper than 128 levels".to_owned()),
        ]
    );
}

#[test]
fn a_secret_is_in_no_record_whatever_form_it_has() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path).unwrap();
    let secret = "s3cr3t-canary-0123456789";
    for arguments in [
        format!(r#"{{"password":"{secret}"}}"#),
        format!(r#"{{"headers":{{"X-Api-Key":["{secret}"]}}}}"#),
        format!(r#"{{"body":"{{\"access_token\":\"{secret}\"}}"}}"#),
        format!(r#"{{"command":"curl -H 'Authorization: Bearer {secret}'"}}"#),
        format!(r#"{{"url":"https://me:{secret}@example.test/"}}"#),
    ] {
        let arguments = RawJson::parse(arguments).unwrap();
        let repairs = [RepairNote {
            path: String::new(),
            from: format!("string \"{secret}\""),
            to: format!("object {secret}"),
        }];
        log.record_intent(&Intent { repairs: &repairs, ..intent("c", &arguments) }).unwrap();
        log.record_outcome(&Outcome { result: Some(secret.as_bytes()), ..outcome("c") }).unwrap();
    }
    assert!(!fs::read_to_string(&path).unwrap().contains("s3cr3t"));
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_that_names_the_file() {
    let folder = TempDir::new().unwrap();
    let blocked = folder.path().join("file");
    fs::File::create(&blocked).unwrap().write_all(b"x").unwrap();
    let error = AuditLog::open(blocked.join("audit.jsonl")).unwrap_err();
    assert!(matches!(&error, AuditError::Open { path, .. } if path.ends_with("file/audit.jsonl")), "{error}");
}
