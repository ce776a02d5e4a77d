use surehand_model::{Message, ModelRequest, Role, Secret};
use surehand_provider::{ProviderEndpoint, ProviderEnvironment, resolve};

use crate::fake::{Fake, Reply, environment, quick};

fn refusal(id: &str, endpoints: Vec<ProviderEndpoint>) -> String {
    let environment = ProviderEnvironment { endpoints, ..environment() };
    match resolve(id, &environment) {
        Ok(provider) => panic!("{} was found", provider.id()),
        Err(error) => error.to_string(),
    }
}

fn endpoint(name: &str) -> ProviderEndpoint {
    ProviderEndpoint { name: name.to_owned(), ..ProviderEndpoint::default() }
}

#[test]
fn a_name_that_leads_nowhere_is_told_with_what_was_meant() {
    assert_eq!(
        refusal("claude-sonnet-5", vec![]),
        "`claude-sonnet-5` is no name of a model: write `provider/model`, for example `anthropic/claude-sonnet-5`"
    );
    assert_eq!(refusal("thing", vec![]), "`thing` is no name of a model: write `provider/model`");
    assert_eq!(refusal("openai/", vec![]), "`openai/` is no name of a model: write `provider/model`");
    assert_eq!(refusal("antropic/x", vec![]), "there is no provider `antropic`; did you mean `anthropic`?");
    assert!(refusal("zzzzzz/x", vec![endpoint("mine")]).contains("`lmstudio`, `mine`, `minimax`"));
    assert!(refusal("compatible/mine/x", vec![]).starts_with("there is no provider `mine`"));
}

#[test]
fn a_missing_key_names_the_variables_before_anything_is_asked() {
    assert_eq!(refusal("openai/x", vec![]), "openai needs a key: set OPENAI_API_KEY");
    assert_eq!(refusal("gemini/x", vec![]), "gemini needs a key: set GEMINI_API_KEY or GOOGLE_API_KEY");
    assert_eq!(refusal("moonshot/x", vec![]), "moonshot needs a key: set MOONSHOT_API_KEY or KIMI_API_KEY");
}

#[test]
fn what_cannot_be_used_says_why() {
    let broken =
        ProviderEndpoint { problem: Some("`${WORK_KEY}` is not set".to_owned()), ..endpoint("work") };
    assert_eq!(
        refusal("work/x", vec![broken]),
        "the provider `work` cannot be used: `${WORK_KEY}` is not set"
    );
    assert_eq!(
        refusal("work/x", vec![endpoint("work")]),
        "the provider `work` cannot be used: it has no address; give it a `base_url`"
    );
    let odd = ProviderEndpoint { base_url: Some("ftp://x".to_owned()), ..endpoint("work") };
    assert!(refusal("work/x", vec![odd]).contains("its address `ftp://x` is wrong"));
    let odd = ProviderEndpoint { dialect: Some("cobol".to_owned()), ..endpoint("work") };
    assert!(refusal("work/x", vec![odd]).contains("its dialect `cobol` is not known"));
}

#[test]
fn servers_of_ones_own_need_no_key_and_aliases_share_what_is_known() {
    for id in ["ollama/qwen3:8b", "lmstudio/x", "vllm/org/model", "llamacpp/x"] {
        assert_eq!(resolve(id, &environment()).map(|provider| provider.id().to_owned()).unwrap(), id);
    }
    let entry = ProviderEndpoint { key: Some(Secret::new("k".to_owned())), ..endpoint("moonshot") };
    let environment = ProviderEnvironment { endpoints: vec![entry], ..environment() };
    assert!(resolve("kimi/kimi-k3", &environment).is_ok());
}

#[test]
fn a_script_is_read_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("turns.jsonl");
    std::fs::write(&file, "{\"text\":\"hi\"}\n").unwrap();
    let id = format!("script:{}", file.display());
    assert_eq!(resolve(&id, &environment()).map(|provider| provider.id().to_owned()).unwrap(), id);
    assert!(refusal("script:/no/such/file", vec![]).contains("cannot read the script `/no/such/file`"));
}

#[tokio::test]
async fn addresses_are_understood_as_people_write_them() {
    let end = "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\n";
    for (written, path) in [
        ("HOST", "/v1/chat/completions"),
        ("HOST/", "/v1/chat/completions"),
        ("HOST/v1", "/v1/chat/completions"),
        ("HOST/api/v3/", "/api/v3/chat/completions"),
        ("HOST/v1/chat/completions", "/v1/chat/completions"),
    ] {
        let fake = Fake::start(vec![Reply::stream(end)]).await;
        let base_url = Some(written.replace("HOST", &fake.address));
        let headers = vec![("x-team".to_owned(), Secret::new("blue".to_owned()))];
        let mine = ProviderEndpoint { base_url, headers, ..endpoint("mine") };
        let environment = ProviderEnvironment { endpoints: vec![mine], retry: quick(), ..environment() };
        let provider = resolve("compatible/mine/org/model", &environment).unwrap();
        let request = ModelRequest::new("", vec![Message::text(Role::User, "hi")], vec![]);
        let turn = provider.answer(&request, &mut |_| {}).await.unwrap();
        assert_eq!(turn.to_message().joined_text(), "ok");
        let seen = &fake.requests()[0];
        assert!(seen.head.starts_with(&format!("post {path} ")), "{written}: {}", seen.head);
        assert!(seen.head.contains("x-team: blue"));
        assert!(seen.body.starts_with(r#"{"model":"org/model""#), "{}", seen.body);
    }
}
