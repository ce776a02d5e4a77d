use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use surehand_model::{Json, ResourceContents};
use thiserror::Error;

use super::entry::{Skill, SkillFiles, is_plain_path};
use super::frontmatter::{FrontmatterFault, read_frontmatter};

/// Why what a server gave for a file of a skill is not used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SkillFault {
    /// The skill does not list the file.
    #[error("the skill has no file `{0}`")]
    NotListed(String),
    /// The answer holds no file of that address, or several.
    #[error("the answer holds {0} files of that address")]
    NotOne(usize),
    /// The bytes are no base64.
    #[error("`{0}` is no base64")]
    NotBytes(String),
    /// Not as long as listed.
    #[error("`{uri}` has {found} bytes and is listed with {listed}")]
    Size {
        /// Which file.
        uri: String,
        /// As listed.
        listed: u64,
        /// As it came.
        found: u64,
    },
    /// Not the bytes that were listed.
    #[error("`{0}` is not what was listed: its digest is another")]
    Digest(String),
    /// The main file does not begin as every skill does.
    #[error("the main file: {0}")]
    Frontmatter(#[from] FrontmatterFault),
    /// The main file says something else about the skill than the list did.
    #[error("the main file says another `{0}` than the list")]
    Differs(String),
}

impl Skill {
    /// Checks what a server gave for a file of this skill, and gives its bytes. For the main file that means its first lines too.
    ///
    /// Of a skill whose files are made when they are asked for there is nothing to check but those lines; a file that lies outside
    /// its folder is refused all the same.
    ///
    /// # Errors
    ///
    /// [`SkillFault`]; nothing of the file may be used then.
    pub fn check(&self, uri: &str, contents: &[ResourceContents]) -> Result<Vec<u8>, SkillFault> {
        self.may_read(uri)?;
        let mut of_file = contents.iter().filter(|item| item.uri == uri);
        let bytes = match (of_file.next(), of_file.count()) {
            (Some(item), 0) => bytes_of(item)?,
            (first, more) => return Err(SkillFault::NotOne(usize::from(first.is_some()) + more)),
        };
        if let Some(file) = self.file(uri) {
            let found = bytes.len() as u64;
            if found != file.size {
                return Err(SkillFault::Size { uri: uri.to_owned(), listed: file.size, found });
            }
            if Sha256::digest(&bytes)[..] != file.digest {
                return Err(SkillFault::Digest(uri.to_owned()));
            }
        }
        if uri == self.uri {
            self.check_main(&bytes)?;
        }
        Ok(bytes)
    }

    /// Whether a file is one of this skill, before it is asked for.
    ///
    /// # Errors
    ///
    /// [`SkillFault::NotListed`].
    pub fn may_read(&self, uri: &str) -> Result<(), SkillFault> {
        let is_ours = match &self.files {
            SkillFiles::Listed(_) => self.file(uri).is_some(),
            SkillFiles::Dynamic => uri.strip_prefix(self.folder()).is_some_and(is_plain_path),
        };
        if is_ours { Ok(()) } else { Err(SkillFault::NotListed(uri.to_owned())) }
    }

    /// Stands for exactly these files of this skill: what a person allowed under it does not cover others. Hexadecimal. To be
    /// kept with the server, for two servers may have the same skill.
    pub fn fingerprint(&self) -> String {
        let mut hasher = Sha256::new();
        let mut take = |part: &[u8]| {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        };
        take(self.uri.as_bytes());
        match &self.files {
            SkillFiles::Dynamic => take(b"dynamic"),
            SkillFiles::Listed(files) => {
                let mut files: Vec<_> = files.iter().collect();
                files.sort_by(|one, other| one.uri.cmp(&other.uri));
                for file in files {
                    take(file.uri.as_bytes());
                    take(&file.digest);
                    take(&file.size.to_be_bytes());
                }
            }
        }
        hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn check_main(&self, bytes: &[u8]) -> Result<(), SkillFault> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| FrontmatterFault::NotYaml("it is not UTF-8".to_owned()))?;
        let found = read_frontmatter(text)?;
        let listed = self.frontmatter.to_json();
        let listed = listed.as_ref().map_err(|error| FrontmatterFault::NotYaml(error.to_string()))?;
        let members = |value: &Json| value.as_object().map(<[_]>::to_vec).unwrap_or_default();
        for (name, _) in members(&found).into_iter().chain(members(listed)) {
            // Not there and nothing are the same.
            let (one, other) =
                (found.get(&name).unwrap_or(&Json::Null), listed.get(&name).unwrap_or(&Json::Null));
            if !is_same(one, other) {
                return Err(SkillFault::Differs(name));
            }
        }
        Ok(())
    }
}

fn bytes_of(item: &ResourceContents) -> Result<Vec<u8>, SkillFault> {
    match (&item.text, &item.blob) {
        (Some(text), _) => Ok(text.clone().into_bytes()),
        (None, Some(blob)) => STANDARD.decode(blob).map_err(|_| SkillFault::NotBytes(item.uri.clone())),
        (None, None) => Ok(Vec::new()),
    }
}

/// Whether two values mean the same: order of names and spelling of numbers aside.
fn is_same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            one == other
                || one.parse::<f64>().ok().zip(other.parse::<f64>().ok()).is_some_and(|(a, b)| a == b)
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Json::Object(members), Json::Object(others)) => {
            members.len() == others.len()
                && members
                    .iter()
                    .all(|(name, value)| other.get(name).is_some_and(|found| is_same(value, found)))
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use surehand_model::RawJson;

    use super::*;
    use crate::types::ReadResult;

    const MAIN: &str = "---\nname: pdf\ndescription: d\nn: 1.0\n---\nBody\n";
    const URI: &str = "skill://a/pdf/SKILL.md";

    fn skill(resources: &str) -> Skill {
        let text = format!(
            r#"{{"skill":{{"uri":"{URI}","frontmatter":{{"n":1,"name":"pdf","description":"d","gone":null}},"resources":{resources}}}}}"#
        );
        Skill::read(&RawJson::parse(text).unwrap()).unwrap()
    }

    fn listed(size: usize) -> Skill {
        let digest: String = Sha256::digest(MAIN).iter().map(|byte| format!("{byte:02x}")).collect();
        skill(&format!(r#"[{{"uri":"{URI}","digest":"sha256:{digest}","size":{size}}}]"#))
    }

    fn contents(uri: &str, text: &str) -> ResourceContents {
        ResourceContents { uri: uri.to_owned(), mime_type: None, text: Some(text.to_owned()), blob: None }
    }

    #[test]
    fn what_was_promised_is_given_as_text_or_as_bytes() {
        let skill = listed(MAIN.len());
        assert_eq!(skill.check(URI, &[contents(URI, MAIN)]), Ok(MAIN.into()));
        let blob = ResourceContents { text: None, blob: Some(STANDARD.encode(MAIN)), ..contents(URI, "") };
        assert_eq!(skill.check(URI, &[contents("skill://a/pdf/x", "?"), blob]), Ok(MAIN.into()));
    }

    #[test]
    fn whatever_differs_from_the_promise_is_not_used() {
        let skill = listed(MAIN.len());
        let check = |uri: &str, text: &str| skill.check(uri, &[contents(uri, text)]).unwrap_err().to_string();
        assert_eq!(
            check(URI, "---\nname: pdf\ndescription: d\nn: 1.0\n---\nEvil\n"),
            format!("`{URI}` is not what was listed: its digest is another")
        );
        assert_eq!(
            check(URI, &format!("{MAIN}more")),
            format!("`{URI}` has {} bytes and is listed with {}", MAIN.len() + 4, MAIN.len())
        );
        assert_eq!(check("skill://a/pdf/x", ""), "the skill has no file `skill://a/pdf/x`");
        assert_eq!(skill.check(URI, &[]), Err(SkillFault::NotOne(0)));
        assert_eq!(skill.check(URI, &[contents(URI, MAIN), contents(URI, MAIN)]), Err(SkillFault::NotOne(2)));
    }

    #[test]
    fn a_main_file_that_says_something_else_is_not_used_even_where_nothing_else_was_promised() {
        let skill = skill("\"dynamic\"");
        let check = |uri: &str, text: &str| skill.check(uri, &[contents(uri, text)]).map(drop);
        assert_eq!(check(URI, MAIN), Ok(()));
        assert_eq!(check("skill://a/pdf/any/thing.md", "made just now"), Ok(()));
        assert_eq!(
            check(URI, &MAIN.replace("description: d", "description: e")),
            Err(SkillFault::Differs("description".to_owned()))
        );
        assert_eq!(
            check(URI, &MAIN.replace("n: 1.0", "n: 1.0\nallowed-tools: [all]")),
            Err(SkillFault::Differs("allowed-tools".to_owned()))
        );
        assert_eq!(check(URI, "Body"), Err(SkillFault::Frontmatter(FrontmatterFault::Missing)));
        for outside in ["skill://a/other/x", "skill://a/pdf/../x", "skill://a/pdf/", "skill://a/pdf/a//b"] {
            assert_eq!(check(outside, ""), Err(SkillFault::NotListed(outside.to_owned())));
        }
    }

    #[test]
    fn another_set_of_files_has_another_fingerprint() {
        let prints = [listed(5).fingerprint(), listed(6).fingerprint(), skill("\"dynamic\"").fingerprint()];
        assert_eq!(prints[0].len(), 64);
        assert!(prints[0] != prints[1] && prints[1] != prints[2]);
        assert_eq!(listed(5).fingerprint(), prints[0]);
    }
}
