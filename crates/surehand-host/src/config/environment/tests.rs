use super::*;

fn environment(pairs: &[(&str, &str)]) -> Environment {
    Environment::from_pairs(pairs.iter().copied())
}

#[test]
fn directories_follow_the_xdg_variables_and_relative_ones_are_passed_over() {
    let cwd = Path::new("/w");
    let paths =
        environment(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "state")]).paths(cwd);
    assert_eq!(
        paths,
        Some(Paths {
            home: "/h".into(),
            config: "/c/surehand".into(),
            state: "/h/.local/state/surehand".into(),
            cache: "/h/.cache/surehand".into(),
            user_file: "/c/surehand/surehand.json".into(),
            project_file: "/w/.mcp.json".into(),
            cwd: "/w".into(),
        })
    );
    assert_eq!(environment(&[("HOME", "relative")]).paths(cwd), None);
}

#[test]
fn children_inherit_no_key_no_shell_function_and_no_proxy_password() {
    let children = environment(&[
        ("PATH", "/bin"),
        ("HOME", "/h"),
        ("OPENAI_API_KEY", "k"),
        ("AWS_SECRET_ACCESS_KEY", "k"),
        ("LANG", "() { :; }; x"),
        ("HTTPS_PROXY", "http://me:pw@p:1"),
        ("HTTP_PROXY", "http://p:1"),
    ])
    .children();
    let names: Vec<_> = children.inherit.iter().map(|(name, _)| name.to_str().unwrap()).collect();
    assert_eq!(names, ["HOME", "HTTP_PROXY", "PATH"]);
    assert_eq!(children.search_path, "/bin");
}

#[test]
fn providers_are_found_by_their_usual_variables() {
    let environment = environment(&[
        ("OPENAI_API_KEY", " sk-1\n"),
        ("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1/"),
        ("GOOGLE_API_KEY", "g"),
        ("ANTHROPIC_API_KEY", ""),
        ("OLLAMA_HOST", "0.0.0.0"),
    ]);
    let found: Vec<_> = environment
        .providers()
        .into_iter()
        .map(|p| (p.name, p.base_url, p.key.map(|key| key.expose().clone()), p.key_source))
        .collect();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        found,
        [
            ("openai".to_owned(), text("http://127.0.0.1:8080/v1"), text("sk-1"), text("OPENAI_API_KEY")),
            ("gemini".to_owned(), None, text("g"), text("GOOGLE_API_KEY")),
            ("ollama".to_owned(), text("http://127.0.0.1:11434"), None, None),
        ]
    );
    assert!(!format!("{environment:?} {:?}", environment.providers()).contains("sk-1"));
}

#[test]
fn an_ollama_host_is_read_as_its_own_tools_read_it() {
    let read = |host: &str| base_url("OLLAMA_HOST", host);
    assert_eq!(read("gpu.local"), "http://gpu.local:11434");
    assert_eq!(read(":9999"), "http://127.0.0.1:9999");
    assert_eq!(read("0.0.0.0:9999"), "http://127.0.0.1:9999");
    assert_eq!(read("https://ollama.example/base/"), "https://ollama.example/base");
    assert_eq!(read("[::1]:1234"), "http://[::1]:1234");
}

#[test]
fn a_proxy_that_a_request_could_have_set_is_passed_over() {
    let proxy = |pairs: &[(&str, &str)]| environment(pairs).proxy().http.map(|proxy| proxy.expose().clone());
    assert_eq!(proxy(&[("HTTP_PROXY", "http://p")]).as_deref(), Some("http://p"));
    assert_eq!(proxy(&[("HTTP_PROXY", "http://p"), ("REQUEST_METHOD", "GET")]), None);
}

#[test]
fn colour_goes_with_any_no_color_but_an_empty_one() {
    assert!(environment(&[("NO_COLOR", "1")]).no_color());
    assert!(!environment(&[("NO_COLOR", "")]).no_color());
}
