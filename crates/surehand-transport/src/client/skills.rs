use surehand_mcp::{
    GetSkill, ListSkills, Listing, Page, Paging, READ_DIRECTORY, ReadResult, Resource, SKILLS, Skill,
    SkillFault, SkillParams,
};
use surehand_model::RawJson;
use thiserror::Error;

use super::{Client, ClientError, WireRequest};

/// Why a file of a skill is not there to be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SkillError {
    /// It could not be read.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// It is not what the server promised, or nothing that the skill has.
    #[error(transparent)]
    Fault(#[from] SkillFault),
}

impl Client {
    /// All skills that the server lists; nothing of them is read yet. Empty where it does not take part in the extension. One that
    /// promises too little is left out with a note.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn list_skills(&self) -> Result<Listing<Skill>, ClientError> {
        self.list::<ListSkills>(self.server.extension(SKILLS).is_some()).await
    }

    /// One skill by the address of its main file, listed or not.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; [`ClientError::NotOffered`] where the server does not take part in the extension.
    pub async fn get_skill(&self, uri: &str) -> Result<Skill, ClientError> {
        self.needs_skills()?;
        let skill = self.ask::<GetSkill>(&SkillParams { uri: uri.to_owned() }, None).await?;
        if skill.uri != uri {
            let what = format!("the server was asked for the skill `{uri}` and gave `{}`", skill.uri);
            return Err(ClientError::Protocol { what });
        }
        Ok(skill)
    }

    /// Reads one file of a skill and checks it against what was promised: size, digest, and for the main file its first lines. A
    /// file that is not the skill's is not even asked for. The bytes are a stranger's words all the same.
    ///
    /// # Errors
    ///
    /// [`SkillError`]; nothing of the file may be used then.
    pub async fn read_skill_file(&self, skill: &Skill, uri: &str) -> Result<Vec<u8>, SkillError> {
        skill.may_read(uri)?;
        let read = self.read_resource(uri).await?;
        Ok(skill.check(uri, &read.contents)?)
    }

    /// What stands right inside a directory, directories with the type `inode/directory` among it.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotOffered`] where the server does not say that it can be asked; [`ClientError`].
    pub async fn read_directory(&self, uri: &str) -> Result<Listing<Resource>, ClientError> {
        let settings = self.server.extension(SKILLS);
        if !settings.is_some_and(|settings| settings.to_value()["directoryRead"] == true) {
            return Err(ClientError::NotOffered { what: "to read directories" });
        }
        let mut paging = Paging::new(READ_DIRECTORY);
        let mut cursor = None;
        loop {
            let mut params = serde_json::json!({"uri": uri});
            if let Some(cursor) = cursor {
                params["cursor"] = cursor;
            }
            let request = WireRequest {
                method: READ_DIRECTORY,
                params: Some(RawJson::from(&params)),
                subject: None,
                arguments: None,
                timeout: self.request_timeout,
                on_progress: None,
                is_read: true,
            };
            let (raw, _) = self.fetch_raw(request).await?;
            match paging.take(Page::<Resource>::read(&raw)?) {
                Some(next) => cursor = next.cursor.map(Into::into),
                None => return Ok(paging.finish()),
            }
        }
    }

    fn needs_skills(&self) -> Result<(), ClientError> {
        let is_offered = self.server.extension(SKILLS).is_some();
        if is_offered { Ok(()) } else { Err(ClientError::NotOffered { what: "skills" }) }
    }
}
