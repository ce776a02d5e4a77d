use std::ffi::{OsStr, OsString};

use crate::ChildSpec;

/// Names that tell a child who, where and in which language it is, and how to reach the network. Secrets live elsewhere.
const NAMES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "LD_LIBRARY_PATH",
    "NVM_DIR",
    "NVM_BIN",
    "FNM_DIR",
    "VOLTA_HOME",
    "PNPM_HOME",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "PYENV_ROOT",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
];

const PREFIXES: &[&str] = &["LC_", "XDG_"];

/// Whether a variable of our own environment may be seen by a child.
///
/// Holds for a fixed list: paths of the user and of tool installers, language, terminal, proxies and certificate files. A key
/// or token a server needs is named for that server in its `env`.
pub fn is_passed_on(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
}

/// The whole environment of the child, later entries over earlier ones.
pub(crate) fn environment_of(spec: &ChildSpec) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<(OsString, OsString)> =
        spec.inherit.iter().filter(|(name, _)| is_passed_on(name)).cloned().collect();
    if spec.inherited("PATH").is_none() && !spec.search_path.is_empty() {
        variables.push(("PATH".into(), spec.search_path.clone()));
    }
    variables.extend(spec.env.iter().map(|(name, value)| (name.into(), value.expose().into())));
    variables
}

#[cfg(test)]
mod tests {
    use super::*;
    use surehand_model::Secret;

    #[test]
    fn a_child_sees_listed_names_and_its_own_settings_over_them() {
        let pairs =
            [("HOME", "/h"), ("LC_ALL", "C"), ("OPENAI_API_KEY", "k"), ("LANG", "C"), ("LD_PRELOAD", "x.so")];
        let spec = ChildSpec {
            env: vec![
                ("LANG".into(), Secret::new("zh_CN.UTF-8".into())),
                ("TOKEN".into(), Secret::new("t".into())),
            ],
            search_path: "/bin".into(),
            inherit: pairs.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            ..ChildSpec::default()
        };
        let seen: Vec<(String, String)> = environment_of(&spec)
            .into_iter()
            .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
            .collect();
        let expected = [
            ("HOME", "/h"),
            ("LC_ALL", "C"),
            ("LANG", "C"),
            ("PATH", "/bin"),
            ("LANG", "zh_CN.UTF-8"),
            ("TOKEN", "t"),
        ];
        assert_eq!(seen, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
