//! One skill, of two files, as the skills extension serves them. Source: SEP-2640.

use surehand_mcp::{ShelfFault, SkillShelf};

const MANIFEST: &str = "---\nname: unit-conversion\ndescription: Converts between metric and imperial units\n---\n\n\
                        Look the factor up in references/factors.md, then multiply.\n";
const FACTORS: &str = "An inch is 25.4 mm. A pound is 0.45359237 kg.\n";

pub(crate) fn shelf() -> Result<SkillShelf, ShelfFault> {
    SkillShelf::default()
        .with_skill("unit-conversion", [("SKILL.md", MANIFEST), ("references/factors.md", FACTORS)])
}
