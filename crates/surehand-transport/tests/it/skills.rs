//! Skills of a server. What is asked of the server counts as much as what comes of it.

use surehand_transport::{Client, ClientError, ClientOptions, SkillError, SkillFault};

use crate::fixture::open;
use crate::scripted::process;

const DISCOVERED: (&str, &[&str]) = (
    "*server/discover*",
    &[
        r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"resources":{},"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true}}}}}"#,
    ],
);

/// SHA-256 of `text`.
const DIGEST: &str = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1";

async fn connect() -> Client {
    let entry = |name: &str, size: usize| {
        format!(
            r#"{{"uri":"skill://a/{name}/SKILL.md","frontmatter":{{"name":"{name}","description":"d"}},"resources":[{{"uri":"skill://a/{name}/SKILL.md","digest":"sha256:{DIGEST}","size":9}},{{"uri":"skill://a/{name}/x.md","digest":"sha256:{DIGEST}","size":{size}}}]}}"#
        )
    };
    let list = format!(
        r#"{{"jsonrpc":"2.0","id":ID,"result":{{"resultType":"complete","skills":[{},{{"uri":"skill://a/b/SKILL.md"}}]}}}}"#,
        entry("pdf", 4)
    );
    let other = format!(
        r#"{{"jsonrpc":"2.0","id":ID,"result":{{"resultType":"complete","skill":{}}}}}"#,
        entry("doc", 5)
    );
    let file = r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","contents":[{"uri":"skill://a/pdf/x.md","text":"text"},{"uri":"skill://a/doc/x.md","text":"text"}]}}"#;
    let directory = r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","resources":[{"uri":"skill://a/pdf","mimeType":"inode/directory"}]}}"#;
    let target = process(&[
        DISCOVERED,
        ("*skills/list*", &[&list]),
        ("*skills/get*", &[&other]),
        ("*directory/read*", &[directory]),
        ("*resources/read*x.md*", &[file]),
    ]);
    open(target, ClientOptions::default()).await.0.unwrap()
}

#[tokio::test]
async fn a_file_is_used_only_as_it_was_promised_and_no_other_is_asked_for() {
    let client = connect().await;
    let listing = client.list_skills().await.unwrap();
    assert_eq!(listing.notes.len(), 1);
    let pdf = &listing.items[0];
    assert_eq!(client.read_skill_file(pdf, "skill://a/pdf/x.md").await, Ok(b"text".to_vec()));
    // The process would not answer this.
    let elsewhere = "skill://a/doc/x.md";
    assert_eq!(
        client.read_skill_file(pdf, elsewhere).await,
        Err(SkillError::Fault(SkillFault::NotListed(elsewhere.to_owned())))
    );
    let doc = client.get_skill("skill://a/doc/SKILL.md").await.unwrap();
    assert_eq!(
        client.read_skill_file(&doc, elsewhere).await,
        Err(SkillError::Fault(SkillFault::Size { uri: elsewhere.to_owned(), listed: 5, found: 4 }))
    );
    let failure = client.get_skill("skill://a/pdf/SKILL.md").await.unwrap_err();
    assert!(matches!(failure, ClientError::Protocol { .. }), "{failure}");
    let children = client.read_directory("skill://a").await.unwrap().items;
    assert_eq!(children[0].mime_type.as_deref(), Some("inode/directory"));
}

#[tokio::test]
async fn a_server_without_skills_is_not_asked_for_any() {
    let client = open(process(&[crate::scripted::DISCOVERED]), ClientOptions::default()).await.0.unwrap();
    assert_eq!(client.list_skills().await.unwrap().items, []);
    let failure = client.get_skill("skill://a/SKILL.md").await.unwrap_err();
    assert!(matches!(failure, ClientError::NotOffered { .. }), "{failure}");
}
