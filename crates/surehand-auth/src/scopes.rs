/// The scopes to ask for: what the server just named, else what its metadata list, else none; what was asked before stays.
///
/// `offline_access` is added only where the authorization server knows it, and never because the server lists it.
///
/// Sources: MCP 2025-11-25, "Scope selection strategy"; MCP 2026-07-28, "Scope challenge handling" and "Refresh tokens".
pub fn choose_scopes(wish: ScopeWish<'_>) -> Vec<String> {
    let named = wish.challenged.or(wish.listed).unwrap_or_default();
    let mut chosen = union(wish.before, named);
    chosen = union(&chosen, wish.extra);
    if wish.offline && wish.known.is_some_and(|known| known.iter().any(|scope| scope == OFFLINE)) {
        chosen = union(&chosen, &[OFFLINE.to_owned()]);
    }
    chosen
}

/// What the choice of scopes depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScopeWish<'a> {
    /// Asked for before, at the same authorization server.
    pub before: &'a [String],
    /// From the challenge.
    pub challenged: Option<&'a [String]>,
    /// From the server's metadata.
    pub listed: Option<&'a [String]>,
    /// From the configuration.
    pub extra: &'a [String],
    /// From the metadata of the authorization server.
    pub known: Option<&'a [String]>,
    /// Whether a refresh token is wanted.
    pub offline: bool,
}

/// The scope that stands for a refresh token. Source: OpenID Connect Core, section 11.
pub(crate) const OFFLINE: &str = "offline_access";

/// All of both, each once, in order.
pub(crate) fn union(first: &[String], second: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::with_capacity(first.len() + second.len());
    for scope in first.iter().chain(second) {
        if !all.contains(scope) {
            all.push(scope.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_challenge_comes_before_the_metadata_and_what_was_asked_before_stays() {
        let (basic, write, listed) = (scopes("basic"), scopes("write basic"), scopes("profile"));
        let known = scopes("basic offline_access");
        let wish = ScopeWish { listed: Some(&listed), ..ScopeWish::default() };
        let cases = [
            (ScopeWish { challenged: Some(&basic), ..wish }, "basic"),
            (wish, "profile"),
            (ScopeWish::default(), ""),
            (ScopeWish { before: &basic, challenged: Some(&write), ..wish }, "basic write"),
            (ScopeWish { extra: &write, ..wish }, "profile write basic"),
            (ScopeWish { offline: true, known: Some(&known), ..wish }, "profile offline_access"),
            (ScopeWish { offline: false, known: Some(&known), ..wish }, "profile"),
            (ScopeWish { offline: true, known: None, ..wish }, "profile"),
        ];
        for (wish, wanted) in cases {
            assert_eq!(choose_scopes(wish), scopes(wanted), "{wish:?}");
        }
    }
}
