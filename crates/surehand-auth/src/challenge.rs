/// One demand out of a `WWW-Authenticate` header: a scheme and what it says.
///
/// Source: RFC 9110, section 11.6.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// In lower case: `bearer`, `dpop`.
    pub scheme: String,
    /// Names in lower case, values without their quotes, in order.
    pub parameters: Vec<(String, String)>,
}

impl Demand {
    /// The first value of a parameter. `name` is in lower case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The scopes it names, none where it names none.
    pub fn scopes(&self) -> Option<Vec<String>> {
        let scopes: Vec<String> = self.get("scope")?.split_whitespace().map(str::to_owned).collect();
        (!scopes.is_empty()).then_some(scopes)
    }
}

/// Reads the values of `WWW-Authenticate`, each of which may hold several demands. What cannot be read is passed over.
pub fn parse_challenges<'a>(values: impl IntoIterator<Item = &'a str>) -> Vec<Demand> {
    let mut demands = Vec::new();
    for value in values {
        Reader { rest: value }.read(&mut demands);
    }
    demands
}

/// The demand that a token answers: the first for `Bearer` or `DPoP`.
pub fn token_demand(demands: &[Demand]) -> Option<&Demand> {
    demands.iter().find(|demand| matches!(demand.scheme.as_str(), "bearer" | "dpop"))
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn read(&mut self, demands: &mut Vec<Demand>) {
        let first = demands.len();
        loop {
            self.skip(|c| c == ',' || c.is_whitespace());
            let word = self.take(|c| !matches!(c, ',' | '=' | '"') && !c.is_whitespace()).to_owned();
            if word.is_empty() {
                if self.rest.is_empty() {
                    return;
                }
                self.step();
                continue;
            }
            self.skip(char::is_whitespace);
            if !self.rest.starts_with('=') {
                demands.push(Demand { scheme: word.to_ascii_lowercase(), parameters: Vec::new() });
                continue;
            }
            self.step();
            if self.rest.starts_with('=') {
                // The padding of a token68, which the schemes read here do not use.
                self.skip(|c| c == '=');
                continue;
            }
            self.skip(char::is_whitespace);
            let value = if self.rest.starts_with('"') { self.quoted() } else { self.bare() };
            if let Some(demand) = demands[first..].last_mut() {
                demand.parameters.push((word.to_ascii_lowercase(), value));
            }
        }
    }

    fn quoted(&mut self) -> String {
        self.step();
        let mut value = String::new();
        while let Some(c) = self.step() {
            match c {
                '"' => break,
                '\\' => value.extend(self.step()),
                c => value.push(c),
            }
        }
        value
    }

    fn bare(&mut self) -> String {
        self.take(|c| c != ',' && !c.is_whitespace()).to_owned()
    }

    fn step(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn skip(&mut self, is_skipped: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(is_skipped);
    }

    fn take(&mut self, is_taken: impl Fn(char) -> bool) -> &str {
        let end = self.rest.find(|c| !is_taken(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(scheme: &str, parameters: &[(&str, &str)]) -> Demand {
        let parameters =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Demand { scheme: scheme.to_owned(), parameters }
    }

    #[test]
    fn a_challenge_is_read_whatever_its_case_its_order_and_what_stands_in_quotes() {
        let cases = [
            (
                r#"Bearer resource_metadata="https://h.example.test/.well-known/oauth-protected-resource/a/mcp""#,
                vec![demand(
                    "bearer",
                    &[(
                        "resource_metadata",
                        "https://h.example.test/.well-known/oauth-protected-resource/a/mcp",
                    )],
                )],
            ),
            (
                r#"bearer realm="x, y", error="invalid_token",Resource_Metadata = "https://h.example.test/prm?a=b""#,
                vec![demand(
                    "bearer",
                    &[
                        ("realm", "x, y"),
                        ("error", "invalid_token"),
                        ("resource_metadata", "https://h.example.test/prm?a=b"),
                    ],
                )],
            ),
            (
                r#"Negotiate YWJj==, Basic realm="a \"b\"", DPoP algs="ES256 PS256", scope=a , error=use_dpop_nonce"#,
                vec![
                    demand("negotiate", &[]),
                    demand("basic", &[("realm", "a \"b\"")]),
                    demand("dpop", &[("algs", "ES256 PS256"), ("scope", "a"), ("error", "use_dpop_nonce")]),
                ],
            ),
            ("Bearer", vec![demand("bearer", &[])]),
            ("scope=\"lost\" =, \" , Bearer scope=\"open", vec![demand("bearer", &[("scope", "open")])]),
            ("", vec![]),
        ];
        for (text, wanted) in cases {
            assert_eq!(parse_challenges([text]), wanted, "{text}");
        }
    }

    #[test]
    fn the_first_demand_that_a_token_answers_is_taken_and_its_scopes_are_words() {
        let demands = parse_challenges(["Basic realm=\"x\"", "Bearer scope=\"a  b\", DPoP"]);
        let taken = token_demand(&demands).unwrap();
        assert_eq!((taken.scheme.as_str(), taken.scopes()), ("bearer", Some(vec!["a".into(), "b".into()])));
        assert_eq!(parse_challenges(["Bearer scope=\" \""])[0].scopes(), None);
    }
}
