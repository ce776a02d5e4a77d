//! Methods that ask for nothing, or are answered with nothing but that they are done.

use serde::{Deserialize, Serialize};
use surehand_model::RawJson;

use super::{ReadResult, ShapeFault};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoParams {}

/// Done. Whatever the answer holds says no more than that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done;

impl ReadResult for Done {
    fn read(_: &RawJson) -> Result<Self, ShapeFault> {
        Ok(Self)
    }
}
