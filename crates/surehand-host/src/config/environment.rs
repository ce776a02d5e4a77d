//! The process environment, read once at the start. Nothing else in the product looks at it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use surehand_model::Secret;

use super::settings::{ChildEnvironment, Paths, ProviderSettings, ProxySettings, Scope};

/// Which variables hold a provider's key and its base address: name, key variables, address variables; first set wins.
const PROVIDERS: &[(&str, &[&str], &[&str])] = &[
    ("openai", &["OPENAI_API_KEY"], &["OPENAI_BASE_URL", "OPENAI_API_BASE"]),
    ("anthropic", &["ANTHROPIC_API_KEY"], &["ANTHROPIC_BASE_URL"]),
    ("gemini", &["GEMINI_API_KEY", "GOOGLE_API_KEY"], &["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"]),
    ("ollama", &["OLLAMA_API_KEY"], &["OLLAMA_BASE_URL", "OLLAMA_HOST"]),
    ("deepseek", &["DEEPSEEK_API_KEY"], &["DEEPSEEK_BASE_URL"]),
    ("mistral", &["MISTRAL_API_KEY"], &["MISTRAL_BASE_URL"]),
    ("openrouter", &["OPENROUTER_API_KEY"], &["OPENROUTER_BASE_URL"]),
    ("groq", &["GROQ_API_KEY"], &["GROQ_BASE_URL"]),
    ("xai", &["XAI_API_KEY"], &["XAI_BASE_URL"]),
    ("together", &["TOGETHER_API_KEY"], &["TOGETHER_BASE_URL"]),
    ("fireworks", &["FIREWORKS_API_KEY"], &["FIREWORKS_BASE_URL"]),
    ("cerebras", &["CEREBRAS_API_KEY"], &["CEREBRAS_BASE_URL"]),
    ("moonshot", &["MOONSHOT_API_KEY", "KIMI_API_KEY"], &["MOONSHOT_BASE_URL", "KIMI_BASE_URL"]),
    ("dashscope", &["DASHSCOPE_API_KEY", "QWEN_API_KEY"], &["DASHSCOPE_BASE_URL", "QWEN_BASE_URL"]),
    ("zai", &["ZAI_API_KEY", "ZHIPUAI_API_KEY", "GLM_API_KEY"], &["ZAI_BASE_URL", "GLM_BASE_URL"]),
    ("minimax", &["MINIMAX_API_KEY"], &["MINIMAX_BASE_URL"]),
    ("vllm", &["VLLM_API_KEY"], &["VLLM_BASE_URL"]),
    ("llamacpp", &["LLAMA_API_KEY"], &["LLAMA_BASE_URL"]),
    ("lmstudio", &["LMSTUDIO_API_KEY"], &["LMSTUDIO_BASE_URL"]),
];

/// A copy of an environment. `Debug` shows names only.
#[derive(Clone, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    home: Option<PathBuf>,
}

impl Environment {
    /// The environment of this process.
    pub fn from_process() -> Self {
        Self { variables: std::env::vars_os().collect(), home: std::env::home_dir() }
    }

    /// An environment of these variables only, for tests and for callers that bring their own.
    pub fn from_pairs<K: Into<OsString>, V: Into<OsString>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        let variables: BTreeMap<OsString, OsString> =
            pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { variables, home: None }
    }

    /// The variable as it is, empty or not, UTF-8 or not.
    pub fn get_os(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// The variable where it is set to readable text; an empty one counts as set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_os(name)?.to_str()
    }

    /// The variable where it is set to readable text that is not empty, for those where empty means unset.
    pub fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// The home directory: `HOME`, on Windows `USERPROFILE`, else what the system's user table says.
    pub fn home(&self) -> Option<PathBuf> {
        ["HOME", "USERPROFILE"]
            .iter()
            .filter_map(|name| self.get_os(name))
            .map(PathBuf::from)
            .find(|path| path.is_absolute())
            .or_else(|| self.home.clone().filter(|path| path.is_absolute()))
    }

    /// Where things live; `cwd` is the folder in which we run. `None` where no home directory is known.
    ///
    /// A relative path in an XDG variable is passed over, as that specification asks. The project's file is looked for
    /// by [`load`](super::load); here it is where a new one would belong.
    ///
    /// Source: XDG Base Directory Specification 0.8.
    pub fn paths(&self, cwd: &Path) -> Option<Paths> {
        let home = self.home()?;
        let base = |variable: &str, beneath: &[&str]| {
            let named = self.get_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            named.unwrap_or_else(|| beneath.iter().fold(home.clone(), |path, part| path.join(part)))
        };
        let config = base("XDG_CONFIG_HOME", &[".config"]).join("surehand");
        Some(Paths {
            state: base("XDG_STATE_HOME", &[".local", "state"]).join("surehand"),
            cache: base("XDG_CACHE_HOME", &[".cache"]).join("surehand"),
            user_file: config.join("surehand.json"),
            project_file: cwd.join(".mcp.json"),
            cwd: cwd.to_owned(),
            config,
            home,
        })
    }

    /// Whether output must stay without colour: `NO_COLOR` set to anything but nothing.
    ///
    /// Source: <https://no-color.org>
    pub fn no_color(&self) -> bool {
        self.get_os("NO_COLOR").is_some_and(|value| !value.is_empty())
    }

    /// What child processes are given.
    pub fn children(&self) -> ChildEnvironment {
        let search_path =
            self.get_os("PATH").unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin")).to_owned();
        let inherit = self.variables.iter().filter(|(name, value)| is_inherited(name, value));
        ChildEnvironment {
            search_path,
            inherit: inherit.map(|(name, value)| (name.clone(), value.clone())).collect(),
        }
    }

    /// The proxies in force. Lower-case names win; `HTTP_PROXY` in capitals is passed over where we run as a CGI program,
    /// since a request's header could set it there.
    pub fn proxy(&self) -> ProxySettings {
        let either = |lower: &str, upper: &str| self.filled(lower).or_else(|| self.filled(upper));
        let is_cgi = self.get_os("REQUEST_METHOD").is_some();
        let http = if is_cgi { self.filled("http_proxy") } else { either("http_proxy", "HTTP_PROXY") };
        let secret = |value: &str| Secret::new(value.to_owned());
        ProxySettings {
            http: http.map(secret),
            https: either("https_proxy", "HTTPS_PROXY").map(secret),
            all: either("all_proxy", "ALL_PROXY").map(secret),
            no_proxy: either("no_proxy", "NO_PROXY").unwrap_or_default().to_owned(),
        }
    }

    /// The providers for which a usual variable holds a key or an address, in a fixed order.
    pub fn providers(&self) -> Vec<ProviderSettings> {
        PROVIDERS.iter().filter_map(|(name, ..)| self.provider(name)).collect()
    }

    /// What the usual variables say about this provider; `None` where they say nothing.
    pub fn provider(&self, name: &str) -> Option<ProviderSettings> {
        let (name, keys, addresses) = PROVIDERS.iter().find(|(known, ..)| *known == name)?;
        let key = keys.iter().find_map(|variable| Some((*variable, self.filled(variable)?.trim())));
        let base_url = addresses.iter().find_map(|variable| Some(base_url(variable, self.filled(variable)?)));
        if key.is_none() && base_url.is_none() {
            return None;
        }
        Some(ProviderSettings {
            name: (*name).to_owned(),
            base_url,
            key: key.map(|(_, value)| Secret::new(value.to_owned())),
            key_source: key.map(|(variable, _)| variable.to_owned()),
            dialect: None,
            headers: Vec::new(),
            scope: Scope::Bundled,
            problem: None,
        })
    }

    /// The variables that may hold a key of this provider, for hints; empty for an unknown one.
    pub fn key_variables(provider: &str) -> &'static [&'static str] {
        PROVIDERS.iter().find(|(known, ..)| *known == provider).map_or(&[], |(_, keys, _)| keys)
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

/// Whether a child may inherit this. Beyond the sandbox's list: a value that begins like a shell function would be run by some
/// shells, and a proxy's password is no business of a child's.
fn is_inherited(name: &OsStr, value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    let is_proxy = name.to_string_lossy().to_ascii_lowercase().ends_with("_proxy");
    surehand_sandbox::is_passed_on(name) && !value.starts_with("()") && !(is_proxy && value.contains('@'))
}

/// A base address without its closing slash. `OLLAMA_HOST` may be a bare host and port, and names what a server listens on,
/// so that "every address" stands for this machine.
fn base_url(variable: &str, value: &str) -> String {
    let value = value.trim().trim_end_matches('/');
    if variable != "OLLAMA_HOST" {
        return value.to_owned();
    }
    let (scheme, rest) = value.split_once("://").unwrap_or(("http", value));
    let rest = rest.replacen("0.0.0.0", "127.0.0.1", 1).replacen("[::]", "[::1]", 1);
    let rest = if rest.starts_with(':') { format!("127.0.0.1{rest}") } else { rest };
    let (authority, path) =
        rest.split_once('/').map_or((rest.as_str(), String::new()), |(a, p)| (a, format!("/{p}")));
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if has_port || scheme == "https" { "" } else { ":11434" };
    format!("{scheme}://{authority}{port}{path}")
}

#[cfg(test)]
mod tests;
