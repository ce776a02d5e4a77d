use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use surehand_model::RawJson;

use crate::client::Listed;
use crate::members::Members;
use crate::method::{ListParams, Method, PagedMethod};
use crate::types::{Page, ReadResult, ShapeFault};

/// How many files one skill may have.
pub(super) const FILES: usize = 512;
/// How large the files of one skill may be in all, in bytes.
pub(super) const BYTES: u64 = 16 * 1024 * 1024;
/// The file that makes a folder a skill.
const MAIN: &str = "/SKILL.md";

/// A skill as its server lists it. Nothing of it has been read yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// The address of its main file, for example `skill://acme/pdf/SKILL.md`.
    pub uri: String,
    /// The name it goes by, which is that of its folder.
    pub name: String,
    /// What it is for, in the server's words.
    pub description: String,
    /// All that its main file begins with, as it came.
    pub frontmatter: RawJson,
    /// Which files it has.
    pub files: SkillFiles,
    /// The whole entry as it came.
    pub raw: RawJson,
}

/// The files of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillFiles {
    /// These and no others, the main file among them.
    Listed(Vec<SkillFile>),
    /// Made when they are asked for, so that nothing can be promised of them.
    Dynamic,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFile {
    /// Its address.
    pub uri: String,
    /// SHA-256 of its bytes.
    pub digest: [u8; 32],
    /// In bytes.
    pub size: u64,
}

/// What `skills/get` asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillParams {
    /// The address of the skill's main file.
    pub uri: String,
}

/// Lists skills.
#[derive(Clone, Copy, Debug)]
pub enum ListSkills {}

impl Method for ListSkills {
    const NAME: &'static str = "skills/list";
    type Params = ListParams;
    type Result = Page<Skill>;
}

impl PagedMethod for ListSkills {
    type Item = Skill;
}

/// Gives one skill, listed or not.
#[derive(Clone, Copy, Debug)]
pub enum GetSkill {}

impl Method for GetSkill {
    const NAME: &'static str = "skills/get";
    type Params = SkillParams;
    type Result = Skill;
}

impl Listed for Skill {
    fn key(&self) -> &str {
        &self.uri
    }
}

impl Skill {
    /// The folder it lies in, with a slash at its end.
    pub(super) fn folder(&self) -> &str {
        &self.uri[..=self.uri.len() - MAIN.len()]
    }

    /// The promise about one file.
    pub fn file(&self, uri: &str) -> Option<&SkillFile> {
        match &self.files {
            SkillFiles::Listed(files) => files.iter().find(|file| file.uri == uri),
            SkillFiles::Dynamic => None,
        }
    }
}

impl ReadResult for Page<Skill> {
    fn read(result: &RawJson) -> Result<Self, ShapeFault> {
        Self::read_items(result, (ListSkills::NAME, "skills"), |raw, _| read_skill(raw))
    }
}

impl ReadResult for Skill {
    fn read(result: &RawJson) -> Result<Self, ShapeFault> {
        let fault = |what: String| ShapeFault { method: GetSkill::NAME, what };
        let members =
            Members::parse(result.as_str()).ok_or_else(|| fault("it is not an object".to_owned()))?;
        let skill = members.present("skill").ok_or_else(|| fault("it has no `skill`".to_owned()))?;
        read_skill(skill).map_err(fault)
    }
}

/// A skill is taken whole or not at all: half a promise is none.
fn read_skill(raw: &RawValue) -> Result<Skill, String> {
    let members = Members::of(raw).ok_or("it is not an object")?;
    let uri = members.string("uri").ok_or("it has no `uri`")?;
    let frontmatter = members.object("frontmatter").ok_or("it has no `frontmatter`")?;
    let name = frontmatter.string("name").filter(|name| !name.is_empty()).ok_or("it has no name")?;
    let description = frontmatter.string("description").ok_or("it has no description")?;
    let folder = uri.strip_suffix(MAIN).and_then(|path| path.rsplit_once('/')).map(|(_, folder)| folder);
    match folder {
        Some(folder) if folder == name => {}
        Some(folder) => return Err(format!("it is called `{name}` and lies in a folder called `{folder}`")),
        None => return Err(format!("`{uri}` is not the address of a `SKILL.md` in a folder")),
    }
    let files = match members.present("resources") {
        Some(files) if files.get() == "\"dynamic\"" => SkillFiles::Dynamic,
        Some(_) => {
            let files = members.array("resources").ok_or("`resources` is no list")?;
            SkillFiles::Listed(read_files(&uri, files)?)
        }
        None => return Err("it has no `resources`".to_owned()),
    };
    let frontmatter = members.get("frontmatter").map(RawJson::from).unwrap_or_else(RawJson::empty_object);
    Ok(Skill { uri, name, description, frontmatter, files, raw: RawJson::from(raw) })
}

fn read_files(main: &str, files: Vec<&RawValue>) -> Result<Vec<SkillFile>, String> {
    if files.len() > FILES {
        return Err(format!("its {} files are more than {FILES}", files.len()));
    }
    let folder = &main[..=main.len() - MAIN.len()];
    let mut seen = HashSet::new();
    let mut all = Vec::with_capacity(files.len());
    let mut bytes = 0_u64;
    for (index, raw) in files.into_iter().enumerate() {
        let file = Members::of(raw).ok_or_else(|| format!("file {index} is not an object"))?;
        let uri = file.string("uri").ok_or_else(|| format!("file {index} has no `uri`"))?;
        let is_inside = uri.strip_prefix(folder).is_some_and(is_plain_path);
        if !is_inside {
            return Err(format!("its file `{uri}` lies outside its folder"));
        }
        let digest = file.string("digest").as_deref().and_then(read_digest);
        let digest = digest.ok_or_else(|| format!("its file `{uri}` has no usable digest"))?;
        let size = file.get("size").and_then(|size| size.get().parse::<u64>().ok());
        let size = size.ok_or_else(|| format!("its file `{uri}` has no usable size"))?;
        bytes = bytes.saturating_add(size);
        if !seen.insert(uri.clone()) {
            return Err(format!("its file `{uri}` is listed twice"));
        }
        all.push(SkillFile { uri, digest, size });
    }
    if bytes > BYTES {
        return Err(format!("its {bytes} bytes are more than {BYTES}"));
    }
    if !seen.contains(main) {
        return Err("its main file is not among its files".to_owned());
    }
    Ok(all)
}

/// Whether a path leads nowhere but down.
pub(super) fn is_plain_path(path: &str) -> bool {
    let is_step = |step: &str| {
        let step = step.to_ascii_lowercase().replace("%2e", ".");
        !step.is_empty() && step != "." && step != ".." && !step.contains("%2f") && !step.contains("%5c")
    };
    !path.contains(['\\', '?', '#']) && path.split('/').all(is_step)
}

fn read_digest(text: &str) -> Option<[u8; 32]> {
    let hex = text.strip_prefix("sha256:").filter(|hex| hex.len() == 64)?;
    if !hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let mut digest = [0; 32];
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest() -> String {
        format!("sha256:{}", "0f".repeat(32))
    }

    fn listed(entry: &str) -> (Vec<String>, Vec<String>) {
        let entry = entry.replace("DIGEST", &digest());
        let result = RawJson::parse(format!(r#"{{"skills":[{entry}],"ttlMs":0}}"#)).unwrap();
        let page = Page::<Skill>::read(&result).unwrap();
        (
            page.items.into_iter().map(|skill| skill.name).collect(),
            page.notes.into_iter().map(|note| note.why).collect(),
        )
    }

    const GOOD: &str = r#"{"uri":"skill://a/pdf/SKILL.md","frontmatter":{"name":"pdf","description":"d","x":1.10},"resources":[{"uri":"skill://a/pdf/SKILL.md","digest":"DIGEST","size":5},{"uri":"skill://a/pdf/ref/F.md","digest":"DIGEST","size":6}]}"#;

    #[test]
    fn a_skill_is_taken_whole_and_byte_for_byte() {
        let text = GOOD.replace("DIGEST", &digest());
        let result = RawJson::parse(format!(r#"{{"skill":{text}}}"#)).unwrap();
        let file = |uri: &str, size| SkillFile { uri: uri.to_owned(), digest: [0x0f; 32], size };
        assert_eq!(
            Skill::read(&result).unwrap(),
            Skill {
                uri: "skill://a/pdf/SKILL.md".to_owned(),
                name: "pdf".to_owned(),
                description: "d".to_owned(),
                frontmatter: RawJson::parse(r#"{"name":"pdf","description":"d","x":1.10}"#).unwrap(),
                files: SkillFiles::Listed(vec![
                    file("skill://a/pdf/SKILL.md", 5),
                    file("skill://a/pdf/ref/F.md", 6)
                ]),
                raw: RawJson::parse(text).unwrap(),
            }
        );
        let dynamic = r#"{"uri":"skill://pdf/SKILL.md","frontmatter":{"name":"pdf","description":"d"},"resources":"dynamic"}"#;
        assert_eq!(listed(dynamic), (vec!["pdf".to_owned()], vec![]));
    }

    #[test]
    fn half_a_promise_is_none_and_costs_only_that_skill() {
        let many =
            format!(r#"{},"#, r#"{"uri":"skill://a/pdf/SKILL.md","digest":"DIGEST","size":5}"#).repeat(513);
        let many = format!(r#""resources":[{}]"#, many.trim_end_matches(','));
        for (from, to, why) in [
            (r#""name":"pdf""#, r#""name":"doc""#, "it is called `doc` and lies in a folder called `pdf`"),
            (
                "pdf/SKILL.md\",\"front",
                "pdf/README.md\",\"front",
                "`skill://a/pdf/README.md` is not the address of a `SKILL.md` in a folder",
            ),
            (r#""description":"d","#, "", "it has no description"),
            (
                "DIGEST\",\"size\":6",
                "sha256:00\",\"size\":6",
                "its file `skill://a/pdf/ref/F.md` has no usable digest",
            ),
            (r#""size":6"#, r#""size":-6"#, "its file `skill://a/pdf/ref/F.md` has no usable size"),
            (r#""size":6"#, r#""size":17000000"#, "its 17000005 bytes are more than 16777216"),
            (
                "skill://a/pdf/ref/F.md",
                "skill://a/other/F.md",
                "its file `skill://a/other/F.md` lies outside its folder",
            ),
            (
                "skill://a/pdf/ref/F.md",
                "skill://a/pdf/%2E%2e/F.md",
                "its file `skill://a/pdf/%2E%2e/F.md` lies outside its folder",
            ),
            (
                "skill://a/pdf/ref/F.md",
                "skill://a/pdf/SKILL.md",
                "its file `skill://a/pdf/SKILL.md` is listed twice",
            ),
            (
                r#"{"uri":"skill://a/pdf/SKILL.md","digest":"DIGEST","size":5},"#,
                "",
                "its main file is not among its files",
            ),
            (r#""resources":["#, r#""resources":"all","x":["#, "`resources` is no list"),
            (
                &GOOD[GOOD.find(r#""resources""#).unwrap()..GOOD.len() - 1],
                &many,
                "its 513 files are more than 512",
            ),
        ] {
            let entry = GOOD.replacen(from, to, 1);
            assert_ne!(entry, GOOD, "{from}");
            assert_eq!(listed(&format!("{entry},{GOOD}")), (vec!["pdf".to_owned()], vec![why.to_owned()]));
        }
    }
}
