use std::borrow::Cow;

use crate::{Echo, EchoWhen, IdRule, ParallelFlag, Quirks};

/// A vendor whose endpoint speaks OpenAI's Chat Completions, as data.
#[derive(Clone, Debug)]
pub struct Vendor {
    /// Stands before the `/` of a model's name.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// Other names it goes by.
    pub aliases: &'static [&'static str],
    /// Without a `/` at the end.
    pub base_url: &'static str,
    /// The environment variables that may hold its key, the first one preferred. Empty for servers of one's own.
    pub key_variables: &'static [&'static str],
    /// A piece of the host name that tells its endpoints from others; empty where there is none.
    pub host: &'static str,
    /// What sets it apart.
    pub quirks: Quirks,
}

/// The vendor of this name or alias.
pub fn vendor(name: &str) -> Option<&'static Vendor> {
    VENDORS.iter().find(|vendor| vendor.name == name || vendor.aliases.contains(&name))
}

/// The vendor behind an endpoint, told by its host, so that an endpoint that a person has entered by hand gets the vendor's quirks.
pub fn vendor_of_url(url: &str) -> Option<&'static Vendor> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    VENDORS.iter().find(|vendor| !vendor.host.is_empty() && host.contains(vendor.host))
}

const fn said(key: &'static str) -> Echo {
    Echo { key, when: EchoWhen::Said }
}

/// What an endpoint gets back that is not known better: what it said itself.
const ALL_SAID: &[Echo] =
    &[said("reasoning_content"), said("reasoning"), said("reasoning_details"), said("extra_content")];

impl Quirks {
    /// For an endpoint about which nothing is known.
    pub const UNKNOWN_ENDPOINT: Self = Self { echo: Cow::Borrowed(ALL_SAID), ..Self::DEFAULT };

    /// For OpenAI itself.
    pub const OPENAI: Self = Self { max_tokens_field: "max_completion_tokens", ..Self::DEFAULT };
}

/// Every vendor that is known by name, in the order of the alphabet.
///
/// Source: each vendor's API reference, and what its endpoint was seen to refuse.
pub static VENDORS: &[Vendor] = &[
    Vendor {
        name: "cerebras",
        title: "Cerebras",
        aliases: &[],
        base_url: "https://api.cerebras.ai/v1",
        key_variables: &["CEREBRAS_API_KEY"],
        host: "cerebras.ai",
        quirks: Quirks {
            echo: Cow::Borrowed(&[said("reasoning"), said("reasoning_content")]),
            ..Quirks::DEFAULT
        },
    },
    Vendor {
        name: "deepseek",
        title: "DeepSeek",
        aliases: &[],
        base_url: "https://api.deepseek.com/v1",
        key_variables: &["DEEPSEEK_API_KEY"],
        host: "deepseek.com",
        quirks: Quirks {
            echo: Cow::Borrowed(&[Echo { key: "reasoning_content", when: EchoWhen::Always("") }]),
            parallel_flag: ParallelFlag::Never,
            ..Quirks::DEFAULT
        },
    },
    Vendor {
        name: "fireworks",
        title: "Fireworks",
        aliases: &[],
        base_url: "https://api.fireworks.ai/inference/v1",
        key_variables: &["FIREWORKS_API_KEY"],
        host: "fireworks.ai",
        quirks: Quirks {
            echo: Cow::Borrowed(&[said("reasoning"), said("reasoning_content")]),
            ..Quirks::DEFAULT
        },
    },
    Vendor {
        name: "glm",
        title: "Zhipu GLM",
        aliases: &["zhipu", "zai", "bigmodel"],
        base_url: "https://open.bigmodel.cn/api/paas/v4",
        key_variables: &["ZAI_API_KEY", "ZHIPUAI_API_KEY", "GLM_API_KEY"],
        host: "bigmodel.cn",
        quirks: Quirks {
            echo: Cow::Borrowed(&[said("reasoning_content")]),
            parallel_flag: ParallelFlag::Never,
            stream_usage: false,
            ..Quirks::DEFAULT
        },
    },
    Vendor {
        name: "google-openai",
        title: "Gemini through its OpenAI-compatible endpoint",
        aliases: &[],
        base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        host: "generativelanguage.googleapis.com",
        quirks: Quirks {
            echo: Cow::Borrowed(&[said("extra_content")]),
            parallel_flag: ParallelFlag::Never,
            ..Quirks::DEFAULT
        },
    },
    Vendor {
        name: "groq",
        title: "Groq",
        aliases: &[],
        base_url: "https://api.groq.com/openai/v1",
        key_variables: &["GROQ_API_KEY"],
        host: "groq.com",
        quirks: Quirks { max_tokens_field: "max_completion_tokens", ..Quirks::DEFAULT },
    },
    Vendor {
        name: "kimi",
        title: "Moonshot Kimi",
        aliases: &["moonshot"],
        base_url: "https://api.moonshot.cn/v1",
        key_variables: &["MOONSHOT_API_KEY", "KIMI_API_KEY"],
        host: "moonshot",
        quirks: Quirks {
            echo: Cow::Borrowed(&[Echo { key: "reasoning_content", when: EchoWhen::Calls(" ") }]),
            parallel_flag: ParallelFlag::Never,
            ..Quirks::DEFAULT
        },
    },
    Vendor {
        name: "llamacpp",
        title: "llama.cpp server",
        aliases: &["llama.cpp", "llama-cpp"],
        base_url: "http://127.0.0.1:8080/v1",
        key_variables: &[],
        host: "",
        quirks: Quirks { echo: Cow::Borrowed(&[said("reasoning_content")]), ..Quirks::DEFAULT },
    },
    Vendor {
        name: "lmstudio",
        title: "LM Studio",
        aliases: &["lm-studio"],
        base_url: "http://127.0.0.1:1234/v1",
        key_variables: &[],
        host: "",
        quirks: Quirks {
            echo: Cow::Borrowed(&[said("reasoning_content"), said("reasoning")]),
            empty_content: true,
            parallel_flag: ParallelFlag::Never,
            ..Quirks::DEFAULT
        },
    },
    Vendor {
        name: "minimax",
        title: "MiniMax",
        aliases: &[],
        base_url: "https://api.minimax.io/v1",
        key_variables: &["MINIMAX_API_KEY"],
        host: "minimax",
        quirks: Quirks {
            echo: Cow::Borrowed(&[said("reasoning_details")]),
            parallel_flag: ParallelFlag::Never,
            extra_body: Cow::Borrowed(&[("reasoning_split", "true")]),
            ..Quirks::DEFAULT
        },
    },
    Vendor {
        name: "mistral",
        title: "Mistral",
        aliases: &[],
        base_url: "https://api.mistral.ai/v1",
        key_variables: &["MISTRAL_API_KEY"],
        host: "mistral.ai",
        quirks: Quirks {
            ids: IdRule::NineAlphanumeric,
            stream_usage: false,
            required_word: "any",
            empty_content: true,
            ..Quirks::DEFAULT
        },
    },
    Vendor {
        name: "ollama",
        title: "Ollama",
        aliases: &[],
        base_url: "http://127.0.0.1:11434/v1",
        key_variables: &[],
        host: "",
        quirks: Quirks {
            echo: Cow::Borrowed(&[said("reasoning")]),
            parallel_flag: ParallelFlag::Never,
            ..Quirks::DEFAULT
        },
    },
    Vendor {
        name: "openrouter",
        title: "OpenRouter",
        aliases: &[],
        base_url: "https://openrouter.ai/api/v1",
        key_variables: &["OPENROUTER_API_KEY"],
        host: "openrouter.ai",
        quirks: Quirks {
            echo: Cow::Borrowed(&[said("reasoning_details"), said("reasoning")]),
            ..Quirks::DEFAULT
        },
    },
    Vendor {
        name: "qwen",
        title: "Alibaba Qwen (DashScope)",
        aliases: &["dashscope"],
        base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
        key_variables: &["DASHSCOPE_API_KEY", "QWEN_API_KEY"],
        host: "aliyuncs.com",
        quirks: Quirks {
            echo: Cow::Borrowed(&[said("reasoning_content")]),
            empty_content: true,
            parallel_flag: ParallelFlag::Always,
            ..Quirks::DEFAULT
        },
    },
    Vendor {
        name: "together",
        title: "Together",
        aliases: &[],
        base_url: "https://api.together.xyz/v1",
        key_variables: &["TOGETHER_API_KEY"],
        host: "together.",
        quirks: Quirks {
            echo: Cow::Borrowed(&[said("reasoning"), said("reasoning_content")]),
            ..Quirks::DEFAULT
        },
    },
    Vendor {
        name: "vllm",
        title: "vLLM",
        aliases: &[],
        base_url: "http://127.0.0.1:8000/v1",
        key_variables: &[],
        host: "",
        quirks: Quirks {
            echo: Cow::Borrowed(&[said("reasoning"), said("reasoning_content")]),
            ..Quirks::DEFAULT
        },
    },
    Vendor {
        name: "xai",
        title: "xAI",
        aliases: &["grok"],
        base_url: "https://api.x.ai/v1",
        key_variables: &["XAI_API_KEY"],
        host: "api.x.ai",
        quirks: Quirks { echo: Cow::Borrowed(&[said("reasoning_content")]), ..Quirks::DEFAULT },
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_vendors_share_a_name_and_they_stand_in_order() {
        let mut names: Vec<&str> = VENDORS.iter().map(|vendor| vendor.name).collect();
        assert!(names.is_sorted());
        names.extend(VENDORS.iter().flat_map(|vendor| vendor.aliases));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn an_endpoint_entered_by_hand_is_known_by_its_host() {
        assert_eq!(vendor_of_url("https://api.moonshot.ai/v1").map(|vendor| vendor.name), Some("kimi"));
        assert_eq!(vendor_of_url("https://llm.example/v1/deepseek.com").map(|vendor| vendor.name), None);
    }
}
