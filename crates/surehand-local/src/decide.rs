//! Whether a question needs a tool at all, which is what small models judge worst.
//!
//! Three signs are put together: whether the model, shown the tools, is about to write JSON; whether words of the question speak of a
//! tool; and what the model says when asked plainly whether general knowledge is enough. The third costs a second prompt and is
//! asked for only where the first two do not settle it.

/// What speaks for and against calling a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Signs {
    /// The probability, 0 to 1, that the model begins a call by itself.
    pub(crate) begins_call: f32,
    /// How well the best tool's words fit the question, from 0.
    pub(crate) words: f64,
}

impl Signs {
    /// The decision where these signs are enough for one.
    pub(crate) fn settled(&self) -> Option<bool> {
        if self.words >= 1.4 && self.begins_call >= 0.3 {
            return Some(true);
        }
        if self.words <= 0.0 && self.begins_call <= 0.06 {
            return Some(false);
        }
        None
    }

    /// The decision with the probability, 0 to 1, that general knowledge is enough.
    pub(crate) fn weighed(&self, general: f32) -> bool {
        let score = 8.0 * (0.80 - f64::from(general))
            + 3.0 * (f64::from(self.begins_call) - 0.15)
            + 0.3 * self.words.min(3.0);
        score > 0.3
    }
}

/// The instructions under which the model is asked whether general knowledge is enough.
pub(crate) const JUDGE_SYSTEM: &str = "You decide whether a tool is needed.";

/// The plain question whether general knowledge is enough.
pub(crate) fn judge_user(question: &str) -> String {
    format!(
        "Question: {question}\n\nCan this be answered from general knowledge, without looking at files, the clock, the weather or \
         any live data? Answer yes or no."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs(begins_call: f32, words: f64) -> Signs {
        Signs { begins_call, words }
    }

    #[test]
    fn clear_signs_need_no_second_look() {
        assert_eq!(signs(0.5, 3.0).settled(), Some(true));
        assert_eq!(signs(0.01, 0.0).settled(), Some(false));
        assert_eq!(signs(0.5, 0.0).settled(), None);
        assert_eq!(signs(0.1, 3.0).settled(), None);
    }

    #[test]
    fn general_knowledge_outweighs_a_chance_word() {
        assert!(!signs(0.18, 2.9).weighed(0.96));
        assert!(signs(0.17, 0.0).weighed(0.62));
    }
}
