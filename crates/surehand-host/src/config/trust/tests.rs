use std::fs;

use super::super::Environment;
use super::*;

fn paths(home: &Path) -> Paths {
    Environment::from_pairs([("HOME", home)]).paths(home).unwrap()
}

#[test]
fn trust_holds_for_one_content_in_one_place() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    let (one, two) = (home.path().join("a/.mcp.json"), home.path().join("b/.mcp.json"));
    for path in [&one, &two] {
        fs::create_dir(path.parent().unwrap()).unwrap();
    }
    let (agreed, other) = (Digest::of(b"{}"), Digest::of(b"{ }"));
    let status = |path: &Path, digest| status(&paths, path, digest).unwrap();
    assert_eq!(status(&one, agreed), TrustStatus::Untrusted);
    trust(&paths, &one, agreed).unwrap();
    assert_eq!(
        [status(&one, agreed), status(&one, other), status(&two, agreed)],
        [TrustStatus::Trusted, TrustStatus::Changed, TrustStatus::Untrusted]
    );
    forget(&paths, &one).unwrap();
    assert_eq!(status(&one, agreed), TrustStatus::Untrusted);
}

#[cfg(unix)]
#[test]
fn agreements_are_private_and_a_link_to_a_folder_is_the_folder() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    fs::create_dir(home.path().join("real")).unwrap();
    std::os::unix::fs::symlink(home.path().join("real"), home.path().join("link")).unwrap();
    let digest = Digest::of(b"{}");
    trust(&paths, &home.path().join("link/.mcp.json"), digest).unwrap();
    assert_eq!(status(&paths, &home.path().join("real/.mcp.json"), digest).unwrap(), TrustStatus::Trusted);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&paths.trust_file()), mode(&paths.state)), (0o600, 0o700));
}

#[test]
fn a_damaged_file_of_agreements_trusts_nothing_and_is_not_overwritten() {
    let home = tempfile::tempdir().unwrap();
    let paths = paths(home.path());
    fs::create_dir_all(&paths.state).unwrap();
    fs::write(paths.trust_file(), "{oops").unwrap();
    let path = home.path().join(".mcp.json");
    let digest = Digest::of(b"{}");
    assert!(status(&paths, &path, digest).is_err());
    let error = trust(&paths, &path, digest).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{} is damaged; remove it and agree again", paths.trust_file().display())
    );
    assert_eq!(fs::read_to_string(paths.trust_file()).unwrap(), "{oops");
}
