//! Skills of a server: instructions for a model, with files beside them. What is listed is a promise (sizes, digests, the first
//! lines of the main file), and nothing that breaks it is used.
//!
//! Source: SEP-2640, "Skills".

mod entry;
mod frontmatter;
mod shelf;
mod verify;

pub use entry::{GetSkill, ListSkills, Skill, SkillFile, SkillFiles, SkillParams};
pub use frontmatter::{FrontmatterFault, read_frontmatter};
pub use shelf::{ShelfFault, SkillShelf};
pub use verify::SkillFault;

/// The identifier of the extension.
pub const SKILLS: &str = "io.modelcontextprotocol/skills";

/// Lists what stands right inside a directory; for servers that say `directoryRead`.
pub const READ_DIRECTORY: &str = "resources/directory/read";
