use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use surehand_model::Secret;
use surehand_transport::Credentials;
use url::form_urlencoded::byte_serialize;

use crate::metadata::ServerMetadata;

/// The fields of a form, in order.
pub type Form = Vec<(String, Secret<String>)>;

/// Who we are to one authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientIdentity {
    /// Known to everybody.
    pub client_id: String,
    /// Known to the two of us.
    pub secret: Option<Secret<String>>,
    /// How the token endpoint is shown who we are.
    pub method: ClientAuthentication,
}

/// How a client shows the token endpoint who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAuthentication {
    /// By its id alone.
    None,
    /// `client_secret_basic`.
    Basic,
    /// `client_secret_post`.
    Post,
}

impl ClientAuthentication {
    /// The word for it in metadata and registrations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
        }
    }

    /// Reads the word; `None` for methods that take more than a secret.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::None, Self::Basic, Self::Post].into_iter().find(|method| method.as_str() == word)
    }

    /// The method for a client that has a secret or none, by what the authorization server takes. Where it does not say, a secret
    /// goes into the header (RFC 8414, section 2).
    pub fn choose(has_secret: bool, metadata: &ServerMetadata) -> Self {
        let supported = metadata.token_endpoint_auth_methods_supported.as_ref();
        let takes = |method: Self| ServerMetadata::lists(supported, method.as_str(), false);
        match has_secret {
            false => Self::None,
            true if supported.is_none() || takes(Self::Basic) => Self::Basic,
            true if takes(Self::Post) => Self::Post,
            true if takes(Self::None) => Self::None,
            true => Self::Basic,
        }
    }

    /// The method to register for: none where that is taken, since an installed program keeps no secret (RFC 8252, section 8.5).
    pub fn wish(metadata: &ServerMetadata) -> Self {
        let supported = metadata.token_endpoint_auth_methods_supported.as_ref();
        let takes = |method: Self| ServerMetadata::lists(supported, method.as_str(), false);
        match () {
            () if supported.is_none() || takes(Self::None) => Self::None,
            () if takes(Self::Basic) => Self::Basic,
            () if takes(Self::Post) => Self::Post,
            () => Self::None,
        }
    }
}

impl ClientIdentity {
    /// A client without a secret.
    pub fn public(client_id: impl Into<String>) -> Self {
        Self { client_id: client_id.into(), secret: None, method: ClientAuthentication::None }
    }

    /// The same client, showing who it is in a way that the authorization server takes, where it says which.
    pub(crate) fn fit_for(mut self, metadata: &ServerMetadata) -> Self {
        let supported = metadata.token_endpoint_auth_methods_supported.as_ref();
        if !ServerMetadata::lists(supported, self.method.as_str(), true) {
            self.method = ClientAuthentication::choose(self.secret.is_some(), metadata);
        }
        self
    }

    /// What a token request says about who asks: headers, and fields of the form. Source: RFC 6749, section 2.3.1.
    pub fn show(&self) -> (Credentials, Form) {
        let id = ("client_id".to_owned(), Secret::new(self.client_id.clone()));
        let secret = self.secret.as_ref().map_or("", |secret| secret.expose().as_str());
        match self.method {
            ClientAuthentication::None => (Vec::new(), vec![id]),
            ClientAuthentication::Post => {
                let secret = ("client_secret".to_owned(), Secret::new(secret.to_owned()));
                (Vec::new(), vec![id, secret])
            }
            ClientAuthentication::Basic => {
                let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let pair = STANDARD.encode(format!("{}:{}", encoded(&self.client_id), encoded(secret)));
                (vec![("Authorization".to_owned(), Secret::new(format!("Basic {pair}")))], Vec::new())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(methods: Option<&[&str]>) -> ServerMetadata {
        let methods = methods.map(|methods| methods.iter().map(|method| (*method).to_owned()).collect());
        ServerMetadata { token_endpoint_auth_methods_supported: methods, ..ServerMetadata::default() }
    }

    #[test]
    fn the_method_is_one_that_the_authorization_server_takes() {
        use ClientAuthentication::{Basic, None as Nothing, Post};
        let cases: [(Option<&[&str]>, _, _); 6] = [
            (None, Basic, Nothing),
            (Some(&["none"]), Nothing, Nothing),
            (Some(&["client_secret_basic", "client_secret_post"]), Basic, Basic),
            (Some(&["client_secret_post"]), Post, Post),
            (Some(&["client_secret_post", "none"]), Post, Nothing),
            (Some(&["private_key_jwt"]), Basic, Nothing),
        ];
        for (methods, with_secret, wish) in cases {
            let metadata = metadata(methods);
            let chosen = ClientAuthentication::choose(true, &metadata);
            assert_eq!((chosen, ClientAuthentication::wish(&metadata)), (with_secret, wish), "{methods:?}");
            assert_eq!(ClientAuthentication::choose(false, &metadata), Nothing);
        }
    }

    #[test]
    fn a_method_that_is_not_taken_gives_way_to_one_that_is() {
        use ClientAuthentication::{Basic, Post};
        let identity = ClientIdentity {
            client_id: "c".to_owned(),
            secret: Some(Secret::new("s".to_owned())),
            method: Post,
        };
        let fit = |methods: Option<&[&str]>| identity.clone().fit_for(&metadata(methods)).method;
        assert_eq!(fit(None), Post);
        assert_eq!(fit(Some(&["client_secret_basic", "client_secret_post"])), Post);
        assert_eq!(fit(Some(&["client_secret_basic"])), Basic);
    }

    #[test]
    fn id_and_secret_are_encoded_before_they_go_into_the_header() {
        let secret = Some(Secret::new("p w:%".to_owned()));
        let identity =
            |method| ClientIdentity { client_id: "a:b".to_owned(), secret: secret.clone(), method };
        let field = |name: &str, value: &str| (name.to_owned(), Secret::new(value.to_owned()));
        let basic = format!("Basic {}", STANDARD.encode("a%3Ab:p+w%3A%25"));
        assert_eq!(
            identity(ClientAuthentication::Basic).show(),
            (vec![field("Authorization", &basic)], vec![])
        );
        assert_eq!(
            identity(ClientAuthentication::Post).show(),
            (vec![], vec![field("client_id", "a:b"), field("client_secret", "p w:%")])
        );
        assert_eq!(ClientIdentity::public("a:b").show(), (vec![], vec![field("client_id", "a:b")]));
    }
}
