use serde_json::{Map, Value};

use super::ClaimFault;

/// What a token says. Absent members are none; members of a wrong shape are a fault, never absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    /// Who made it.
    pub issuer: Option<String>,
    /// Whom it is about.
    pub subject: Option<String>,
    /// For whom it is meant.
    pub audiences: Vec<String>,
    /// From when on it is no longer valid, in seconds since 1970.
    pub expires: Option<f64>,
    /// From when on it is valid.
    pub not_before: Option<f64>,
    /// When it was made.
    pub issued: Option<f64>,
    /// Its name.
    pub id: Option<String>,
    /// All members, these included.
    pub members: Map<String, Value>,
}

/// What must be true of a token's claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimRules<'a> {
    /// Who must have made it, compared letter by letter.
    pub issuer: &'a str,
    /// It must be meant for one of these.
    pub audiences: &'a [String],
    /// In seconds since 1970.
    pub now: u64,
    /// How far clocks may be apart, in seconds.
    pub leeway: u64,
}

impl Claims {
    /// Reads the payload of a token.
    ///
    /// # Errors
    ///
    /// [`ClaimFault::Shape`].
    pub fn parse(payload: &[u8]) -> Result<Self, ClaimFault> {
        let members: Map<String, Value> =
            serde_json::from_slice(payload).map_err(|_| ClaimFault::Shape("payload"))?;
        let text = |name: &'static str| match members.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(ClaimFault::Shape(name)),
        };
        let time = |name: &'static str| match members.get(name) {
            None => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or(ClaimFault::Shape(name)),
        };
        let audiences = match members.get("aud") {
            None => Vec::new(),
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(several)) => several
                .iter()
                .map(|one| one.as_str().map(str::to_owned).ok_or(ClaimFault::Shape("aud")))
                .collect::<Result<_, _>>()?,
            Some(_) => return Err(ClaimFault::Shape("aud")),
        };
        Ok(Self {
            issuer: text("iss")?,
            subject: text("sub")?,
            audiences,
            expires: time("exp")?,
            not_before: time("nbf")?,
            issued: time("iat")?,
            id: text("jti")?,
            members,
        })
    }

    /// Whether the token is from whom, for whom and for the time it must be. One without `exp` is expired.
    ///
    /// # Errors
    ///
    /// The first [`ClaimFault`].
    pub fn check(&self, rules: &ClaimRules<'_>) -> Result<(), ClaimFault> {
        if self.issuer.as_deref() != Some(rules.issuer) {
            return Err(ClaimFault::Issuer);
        }
        if !self.audiences.iter().any(|audience| rules.audiences.contains(audience)) {
            return Err(ClaimFault::Audience);
        }
        let (now, leeway) = (rules.now as f64, rules.leeway as f64);
        if !self.expires.is_some_and(|expires| now < expires + leeway) {
            return Err(ClaimFault::Expired);
        }
        let has_begun = |begin: Option<f64>| begin.is_none_or(|begin| begin <= now + leeway);
        if !has_begun(self.not_before) || !has_begun(self.issued) {
            return Err(ClaimFault::Early);
        }
        Ok(())
    }

    /// The scopes under `scope` (words in one text, RFC 9068) or `scp` (a list or words, as some servers write it).
    pub fn scopes(&self) -> Vec<String> {
        let named = self.members.get("scope").or_else(|| self.members.get("scp"));
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        match named {
            Some(Value::String(text)) => words(text),
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).flat_map(words).collect(),
            _ => Vec::new(),
        }
    }

    /// The thumbprint of the key that whoever shows the token must prove to have (RFC 9449, section 6.1).
    pub fn bound_to(&self) -> Option<&str> {
        self.members.get("cnf")?.get("jkt")?.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn judged(claims: &str) -> Result<(), ClaimFault> {
        let audiences = ["https://a.example/mcp".to_owned(), "other".to_owned()];
        let rules = ClaimRules { issuer: "https://as.example", audiences: &audiences, now: NOW, leeway: 30 };
        Claims::parse(claims.as_bytes())?.check(&rules)
    }

    #[test]
    fn issuer_audience_and_time_are_each_judged_and_clocks_may_differ_a_little() {
        let with = |members: &str| {
            judged(&format!(r#"{{"iss":"https://as.example","aud":"https://a.example/mcp",{members}}}"#))
        };
        assert_eq!(with(r#""exp":1800000001"#), Ok(()));
        assert_eq!(with(r#""exp":1799999970.5,"nbf":1800000030,"iat":1800000030.0"#), Ok(()));
        assert_eq!(with(r#""exp":1799999970"#), Err(ClaimFault::Expired));
        assert_eq!(with(r#""jti":"1""#), Err(ClaimFault::Expired));
        assert_eq!(with(r#""exp":"1900000000""#), Err(ClaimFault::Shape("exp")));
        assert_eq!(with(r#""exp":1900000000,"nbf":1800000031"#), Err(ClaimFault::Early));
        assert_eq!(with(r#""exp":1900000000,"iat":1800000031"#), Err(ClaimFault::Early));
    }

    #[test]
    fn an_audience_may_be_one_of_a_list_and_an_issuer_is_compared_letter_by_letter() {
        let with = |issuer: &str, audience: &str| {
            judged(&format!(r#"{{"iss":{issuer},"aud":{audience},"exp":1900000000}}"#))
        };
        let ours = r#""https://as.example""#;
        assert_eq!(with(ours, r#"["x","other"]"#), Ok(()));
        assert_eq!(with(ours, r#"["x"]"#), Err(ClaimFault::Audience));
        assert_eq!(with(ours, "[]"), Err(ClaimFault::Audience));
        assert_eq!(with(ours, r#""https://a.example""#), Err(ClaimFault::Audience));
        assert_eq!(with(ours, "[1]"), Err(ClaimFault::Shape("aud")));
        assert_eq!(with(r#""https://as.example/""#, r#""other""#), Err(ClaimFault::Issuer));
        assert_eq!(with("7", r#""other""#), Err(ClaimFault::Shape("iss")));
    }

    #[test]
    fn scopes_are_words_or_a_list() {
        let scopes = |claims: &str| Claims::parse(claims.as_bytes()).unwrap().scopes();
        assert_eq!(scopes(r#"{"scope":"a  b"}"#), ["a", "b"]);
        assert_eq!(scopes(r#"{"scp":["a","b"]}"#), ["a", "b"]);
        assert_eq!(scopes("{}"), [""; 0]);
    }
}
