use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use surehand_model::{RawJson, ResourceContents};
use thiserror::Error;

use super::entry::{BYTES, FILES, GetSkill, ListSkills, is_plain_path};
use super::frontmatter::{FrontmatterFault, read_frontmatter};
use super::{READ_DIRECTORY, SKILLS};
use crate::handler::CallFailure;
use crate::members::{Members, string_of};
use crate::meta::push_member;
use crate::method::Method;
use crate::revision::{Feature, Revision};
use crate::types::resources::Resource;

/// How many skills, or things in a folder, stand on one page.
const PAGE: usize = 100;
/// How long an answer may be kept, in milliseconds.
const LIFETIME: u32 = 60_000;
const FOLDER_TYPE: &str = "inode/directory";

/// The skills that a server serves: what it lists, and what it gives of each, follow from the files that it is handed.
///
/// ```text
/// let shelf = SkillShelf::default().with_skill("acme/pdf", [("SKILL.md", include_bytes!("../pdf/SKILL.md"))])?;
/// let server = Toolset::new("acme", "1.0").with_skills(shelf);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillShelf {
    /// In the order they were added.
    skills: Vec<Shelved>,
    /// By address.
    files: BTreeMap<String, Vec<u8>>,
    /// By address, without a slash at the end: what is right inside.
    folders: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Shelved {
    /// Of the main file.
    uri: String,
    name: String,
    description: String,
    /// As it is listed.
    entry: RawJson,
}

/// Why files are no skill that can be served.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ShelfFault {
    /// There is no `SKILL.md` among them.
    #[error("it has no `SKILL.md`")]
    NoMainFile,
    /// The main file is no text that begins with values by name.
    #[error("its `SKILL.md`: {0}")]
    Frontmatter(#[from] FrontmatterFault),
    /// The main file does not say what the skill is called or is for.
    #[error("its `SKILL.md` does not say its `{0}`")]
    Unsaid(&'static str),
    /// A name is 1 to 64 lower-case letters, digits and single hyphens between them.
    #[error("`{0}` is not a name that skills have")]
    Name(String),
    /// The last part of its path is not its name.
    #[error("it is called `{name}` and lies at `{path}`")]
    Misplaced {
        /// As its main file says.
        name: String,
        /// As it was added.
        path: String,
    },
    /// A path that leads elsewhere than down, or holds what no address has.
    #[error("`{0}` is not a path inside a skill")]
    Path(String),
    /// Two files have the same address.
    #[error("`{0}` is there already")]
    Twice(String),
    /// Clients take no more than 512 files and 16 MiB.
    #[error("it has {files} files of {bytes} bytes, which is more than clients take")]
    TooLarge {
        /// How many.
        files: usize,
        /// In all.
        bytes: u64,
    },
}

impl SkillShelf {
    /// Adds a skill: where it lies, for example `acme/pdf`, and its files, by their paths in it.
    ///
    /// # Errors
    ///
    /// [`ShelfFault`].
    pub fn with_skill<P: Into<String>, B: Into<Vec<u8>>>(
        mut self,
        path: &str,
        files: impl IntoIterator<Item = (P, B)>,
    ) -> Result<Self, ShelfFault> {
        if !is_address_path(path) {
            return Err(ShelfFault::Path(path.to_owned()));
        }
        let mut own: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for (inner, bytes) in files {
            let inner: String = inner.into();
            if !is_address_path(&inner) {
                return Err(ShelfFault::Path(inner));
            }
            let uri = format!("skill://{path}/{inner}");
            if self.files.contains_key(&uri) || own.contains_key(&uri) {
                return Err(ShelfFault::Twice(uri));
            }
            own.insert(uri, bytes.into());
        }
        let bytes = own.values().map(|file| file.len() as u64).sum();
        if own.len() > FILES || bytes > BYTES {
            return Err(ShelfFault::TooLarge { files: own.len(), bytes });
        }
        self.skills.push(shelved(path, &own)?);
        for uri in own.keys() {
            self.enter(uri, &format!("skill://{path}"));
        }
        self.files.extend(own);
        Ok(self)
    }

    /// What a server says of the extension among [`Offers::extensions`](crate::Offers::extensions). Resources are to be offered
    /// beside it.
    pub fn offer(&self) -> (String, RawJson) {
        (SKILLS.to_owned(), RawJson::from(&json!({"directoryRead": true})))
    }

    /// The main files, for the list of resources.
    pub fn resources(&self) -> Vec<Resource> {
        let main = |skill: &Shelved| {
            Resource::new(&skill.uri, &skill.name, &skill.description).with_mime_type(mime_type(&skill.uri))
        };
        self.skills.iter().map(main).collect()
    }

    /// One file, where it is one of a skill.
    pub fn read(&self, uri: &str) -> Option<ResourceContents> {
        let bytes = self.files.get(uri)?;
        let (text, blob) = match std::str::from_utf8(bytes) {
            Ok(text) => (Some(text.to_owned()), None),
            Err(_) => (None, Some(STANDARD.encode(bytes))),
        };
        let known = mime_type(uri);
        let mime_type = if text.is_none() && known.starts_with("text/") { UNKNOWN_TYPE } else { known };
        Some(ResourceContents { uri: uri.to_owned(), mime_type: Some(mime_type.to_owned()), text, blob })
    }

    /// Answers a method of the extension; nothing where it is none of them.
    pub fn answer(
        &self,
        method: &str,
        params: &RawJson,
        revision: Revision,
    ) -> Option<Result<RawJson, CallFailure>> {
        let mut may_be_kept = revision.has(Feature::CacheHints);
        let answered = match method {
            ListSkills::NAME => page("skills", &self.skills, params, |skill| skill.entry.clone()),
            GetSkill::NAME => self.get(params).map(|entry| format!("{{\"skill\":{entry}")),
            READ_DIRECTORY => {
                may_be_kept = false;
                self.read_folder(params)
            }
            _ => return None,
        };
        Some(answered.and_then(|mut result| {
            if may_be_kept {
                push_member(&mut result, "ttlMs", &LIFETIME.to_string());
                push_member(&mut result, "cacheScope", "\"private\"");
            }
            result.push('}');
            RawJson::parse(result).map_err(|error| CallFailure::Internal(error.to_string()))
        }))
    }

    fn get(&self, params: &RawJson) -> Result<&RawJson, CallFailure> {
        let uri = uri_of(params)?;
        let skill = self.skills.iter().find(|skill| skill.uri == uri);
        let skill = skill.ok_or_else(|| CallFailure::InvalidParams(format!("there is no skill `{uri}`")))?;
        Ok(&skill.entry)
    }

    fn read_folder(&self, params: &RawJson) -> Result<String, CallFailure> {
        let uri = uri_of(params)?;
        let inside = self.folders.get(&uri);
        let inside =
            inside.ok_or_else(|| CallFailure::InvalidParams(format!("there is no folder `{uri}`")))?;
        let inside: Vec<&String> = inside.iter().collect();
        page("resources", &inside, params, |uri| {
            let main = self.skills.iter().find(|skill| skill.uri == **uri);
            let name = uri.rsplit('/').next().unwrap_or_default();
            let kind = if self.folders.contains_key(*uri) { FOLDER_TYPE } else { mime_type(uri) };
            RawJson::from(&match main {
                Some(Shelved { name, description, .. }) => {
                    json!({"uri": uri, "name": name, "description": description, "mimeType": kind})
                }
                None => json!({"uri": uri, "name": name, "mimeType": kind}),
            })
        })
    }

    /// Puts a file into its folder, that one into the one around it, and so on up to the skill.
    fn enter(&mut self, uri: &str, top: &str) {
        let mut inside = uri;
        while let Some((folder, _)) = inside.rsplit_once('/').filter(|_| inside.len() > top.len()) {
            self.folders.entry(folder.to_owned()).or_default().insert(inside.to_owned());
            inside = folder;
        }
    }
}

/// A skill as it is listed: its main file is read, every file is measured.
fn shelved(path: &str, files: &BTreeMap<String, Vec<u8>>) -> Result<Shelved, ShelfFault> {
    let uri = format!("skill://{path}/SKILL.md");
    let main = files.get(&uri).ok_or(ShelfFault::NoMainFile)?;
    let main =
        std::str::from_utf8(main).map_err(|_| FrontmatterFault::NotYaml("it is not UTF-8".to_owned()))?;
    let frontmatter = read_frontmatter(main)?;
    let word = |key: &'static str| {
        let word = frontmatter.get(key).and_then(|word| word.as_str()).filter(|word| !word.is_empty());
        word.map(str::to_owned).ok_or(ShelfFault::Unsaid(key))
    };
    let (name, description) = (word("name")?, word("description")?);
    if !is_name(&name) {
        return Err(ShelfFault::Name(name));
    }
    if path.rsplit('/').next() != Some(name.as_str()) {
        return Err(ShelfFault::Misplaced { name, path: path.to_owned() });
    }
    let files: Vec<Value> = files
        .iter()
        .map(|(uri, bytes)| {
            let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            json!({"uri": uri, "digest": format!("sha256:{digest}"), "size": bytes.len()})
        })
        .collect();
    let entry = format!(
        "{{\"uri\":{},\"frontmatter\":{},\"resources\":{}}}",
        RawJson::from_serialize(&uri),
        RawJson::from(&frontmatter),
        RawJson::from_serialize(&files),
    );
    let entry = RawJson::parse(entry).unwrap_or_else(|_| RawJson::empty_object());
    Ok(Shelved { uri, name, description, entry })
}

/// One page of something, as a result whose last brace is missing.
fn page<T>(
    key: &str,
    all: &[T],
    params: &RawJson,
    write: impl Fn(&T) -> RawJson,
) -> Result<String, CallFailure> {
    let members = Members::parse(params.as_str());
    let start = match members.as_ref().and_then(|members| members.present("cursor")) {
        None => 0,
        Some(cursor) => {
            let start = string_of(cursor).and_then(|cursor| cursor.parse::<usize>().ok());
            start.filter(|start| start.is_multiple_of(PAGE) && *start < all.len()).ok_or_else(|| {
                CallFailure::InvalidParams("this cursor was not given out by this server".to_owned())
            })?
        }
    };
    let items: Vec<RawJson> = all.iter().skip(start).take(PAGE).map(write).collect();
    let mut out = String::from("{");
    push_member(&mut out, key, RawJson::from_serialize(&items).as_str());
    let next = start + PAGE;
    if next < all.len() {
        push_member(&mut out, "nextCursor", &format!("\"{next}\""));
    }
    Ok(out)
}

fn uri_of(params: &RawJson) -> Result<String, CallFailure> {
    let members = Members::parse(params.as_str());
    let uri = members.and_then(|members| members.string("uri"));
    uri.ok_or_else(|| CallFailure::InvalidParams("`uri` is missing or is not a string".to_owned()))
}

/// Source: the Agent Skills specification, "name".
fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&name.len())
        && name.bytes().all(fits)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// Whether a path leads down, and can stand in an address as it is. Source: RFC 3986, `pchar` without escapes.
fn is_address_path(path: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte);
    is_plain_path(path) && path.bytes().all(fits)
}

const UNKNOWN_TYPE: &str = "application/octet-stream";

/// By the end of the name; text where it says nothing.
fn mime_type(uri: &str) -> &'static str {
    let name = uri.rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).as_deref() {
        Some("md") => "text/markdown",
        Some("json") => "application/json",
        Some("html") => "text/html",
        Some("csv") => "text/csv",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("pdf") => "application/pdf",
        _ => "text/plain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skills::Skill;
    use crate::types::{Page, ReadResult};

    const MAIN: &str = "---\nname: pdf\ndescription: d\nversion: 1.10\n---\nBody\n";

    fn shelf() -> SkillShelf {
        let files: [(&str, &[u8]); 4] = [
            ("SKILL.md", MAIN.as_bytes()),
            ("templates/a.md", b"A"),
            ("templates/eu/b.md", b"B"),
            ("logo.png", &[0xff, 0xd8]),
        ];
        SkillShelf::default().with_skill("acme/pdf", files).unwrap()
    }

    fn asked(shelf: &SkillShelf, method: &str, params: Value) -> Result<Value, String> {
        let answer = shelf.answer(method, &RawJson::from(&params), Revision::LATEST).unwrap();
        answer.map(|result| result.to_type().unwrap()).map_err(|failure| failure.to_string())
    }

    #[test]
    fn what_is_listed_is_what_our_own_client_takes_and_every_file_is_as_promised() {
        let shelf = shelf();
        let listed =
            shelf.answer("skills/list", &RawJson::empty_object(), Revision::LATEST).unwrap().unwrap();
        let page = Page::<Skill>::read(&listed).unwrap();
        assert_eq!((page.items.len(), page.notes.len()), (1, 0));
        let skill = &page.items[0];
        assert_eq!(skill.frontmatter.as_str(), r#"{"name":"pdf","description":"d","version":1.10}"#);
        for (uri, bytes) in &shelf.files {
            assert_eq!(skill.check(uri, &[shelf.read(uri).unwrap()]).as_ref(), Ok(bytes), "{uri}");
        }
        let got = RawJson::from_serialize(&json!({"uri": skill.uri}));
        let got = shelf.answer("skills/get", &got, Revision::LATEST).unwrap().unwrap();
        assert_eq!(Skill::read(&got).unwrap(), *skill);
        assert_eq!(shelf.read("skill://acme/pdf/other"), None);
        assert_eq!(shelf.answer("skills/other", &RawJson::empty_object(), Revision::LATEST), None);
    }

    #[test]
    fn answers_may_be_kept_in_revisions_that_say_for_how_long() {
        let keys = |revision| {
            let answer = shelf().answer("skills/list", &RawJson::empty_object(), revision).unwrap().unwrap();
            let value: Value = answer.to_type().unwrap();
            (value["ttlMs"].clone(), value["cacheScope"].clone())
        };
        assert_eq!(keys(Revision::LATEST), (json!(60_000), json!("private")));
        assert_eq!(keys(Revision::LATEST_LEGACY), (Value::Null, Value::Null));
    }

    #[test]
    fn folders_are_read_one_level_at_a_time() {
        let shelf = shelf();
        let inside = |uri: &str| {
            let result = asked(&shelf, READ_DIRECTORY, json!({"uri": uri}))?;
            let all = result["resources"].as_array().unwrap().iter();
            let word = |entry: &Value, key: &str| entry[key].as_str().unwrap().to_owned();
            Ok(all.map(|entry| word(entry, "name") + " " + &word(entry, "mimeType")).collect::<Vec<_>>())
        };
        assert_eq!(
            inside("skill://acme/pdf"),
            Ok(vec![
                "pdf text/markdown".to_owned(),
                "logo.png image/png".to_owned(),
                "templates inode/directory".to_owned()
            ])
        );
        assert_eq!(
            inside("skill://acme/pdf/templates"),
            Ok(vec!["a.md text/markdown".to_owned(), "eu inode/directory".to_owned()])
        );
        for uri in ["skill://acme", "skill://acme/pdf/SKILL.md", "skill://acme/pdf/templates/", ""] {
            assert_eq!(inside(uri), Err::<Vec<String>, _>(format!("there is no folder `{uri}`")));
        }
    }

    #[test]
    fn many_skills_come_by_pages_and_other_cursors_are_refused() {
        let shelf = (0..201).fold(SkillShelf::default(), |shelf, number| {
            let main = format!("---\nname: s{number}\ndescription: d\n---\n");
            shelf.with_skill(&format!("s{number}"), [("SKILL.md", main)]).unwrap()
        });
        let page = |cursor: Value| {
            let result = asked(&shelf, "skills/list", json!({"cursor": cursor}))?;
            Ok((result["skills"].as_array().unwrap().len(), result["nextCursor"].clone()))
        };
        assert_eq!(page(Value::Null), Ok((100, json!("100"))));
        assert_eq!(page(json!("200")), Ok((1, Value::Null)));
        for cursor in [json!("1"), json!("300"), json!(""), json!(100)] {
            let words = "this cursor was not given out by this server".to_owned();
            assert_eq!(page(cursor), Err::<(usize, Value), _>(words));
        }
    }

    #[test]
    fn what_clients_would_not_take_is_not_put_up() {
        let fault = |path: &str, files: &[(&str, &str)]| {
            let files = files.iter().map(|(path, text)| (*path, *text));
            SkillShelf::default().with_skill(path, files).map(drop).unwrap_err().to_string()
        };
        let main = [("SKILL.md", MAIN)];
        for (found, words) in [
            (fault("pdf", &[("README.md", MAIN)]), "it has no `SKILL.md`"),
            (
                fault("pdf", &[("SKILL.md", "Body")]),
                "its `SKILL.md`: it does not begin with lines between `---` and `---`",
            ),
            (
                fault("pdf", &[("SKILL.md", "---\nname: pdf\n---\n")]),
                "its `SKILL.md` does not say its `description`",
            ),
            (
                fault("Pdf", &[("SKILL.md", "---\nname: Pdf\ndescription: d\n---\n")]),
                "`Pdf` is not a name that skills have",
            ),
            (fault("acme/doc", &main), "it is called `pdf` and lies at `acme/doc`"),
            (fault("../pdf", &main), "`../pdf` is not a path inside a skill"),
            (fault("pdf", &[("a b.md", "")]), "`a b.md` is not a path inside a skill"),
            (
                fault("pdf", &[("SKILL.md", MAIN), ("SKILL.md", MAIN)]),
                "`skill://pdf/SKILL.md` is there already",
            ),
            (
                fault("pdf", &[("SKILL.md", MAIN), ("x", &"x".repeat(16 * 1024 * 1024))]),
                "it has 2 files of 16777268 bytes, which is more than clients take",
            ),
        ] {
            assert_eq!(found, words);
        }
    }
}
