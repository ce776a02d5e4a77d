//! Who would answer.

use expect_test::{Expect, expect};

use crate::home::Home;

fn check(arguments: &[&str], variables: &[(&str, &str)], expected: Expect) {
    expected.assert_eq(&Home::new().run_with(arguments, "", variables).to_string());
}

#[test]
fn a_key_alone_decides_who_answers() {
    check(
        &["models", "show"],
        &[("OPENAI_API_KEY", "secret-key")],
        expect![[r#"
            exit 0
            --- stdout
            openai/gpt-5-mini: not asked, key from OPENAI_API_KEY
        "#]],
    );
    let both = [("ANTHROPIC_API_KEY", "secret-key"), ("OPENAI_API_KEY", "secret-key")];
    check(
        &["models", "show", "--output", "json"],
        &both,
        expect![[r#"
            exit 0
            --- stdout
            {"id":"anthropic/claude-sonnet-5","usable":true,"why":"not asked, key from ANTHROPIC_API_KEY"}
        "#]],
    );
}

#[test]
fn providers_are_listed_with_where_their_key_comes_from_and_never_the_key() {
    let variables = [
        ("GEMINI_API_KEY", "secret-key"),
        ("OPENAI_API_KEY", "secret-key"),
        ("OPENAI_BASE_URL", "http://me:secret-key@127.0.0.1:1/v1"),
    ];
    let ran = Home::new().run_with(&["models", "list"], "", &variables);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stdout.contains("gemini/…") && ran.stdout.contains("key from GEMINI_API_KEY"), "{ran}");
    assert!(ran.stdout.contains("at http://127.0.0.1:1/v1") && !ran.stdout.contains("secret-key"), "{ran}");
}

#[cfg(feature = "local")]
#[test]
fn embedded_models_are_known_before_they_are_fetched() {
    check(
        &["models", "list"],
        &[],
        expect![[r#"
            exit 0
            --- stdout
            local/qwen2.5-coder-1.5b  not fetched yet, 1.1 GB, Apache-2.0; fetched when first asked
            local/qwen2.5-coder-0.5b  not fetched yet, 491 MB, Apache-2.0; fetched when first asked
            local/needle-3            not fetched yet, 35 MB, Apache-2.0; fetched when first asked
        "#]],
    );
    check(
        &["models", "show", "local/qwen2.5-coder-0.5b", "--output", "json"],
        &[],
        expect![[r#"
            exit 0
            --- stdout
            {"id":"local/qwen2.5-coder-0.5b","usable":true,"why":"not fetched yet, 491 MB, Apache-2.0; fetched when first asked"}
        "#]],
    );
    check(
        &["models", "show", "local/nothing"],
        &[],
        expect![[r#"
            exit 2
            --- stderr
            error: there is no embedded model `nothing`
            hint: There are local/qwen2.5-coder-1.5b, local/qwen2.5-coder-0.5b, local/needle-3, and any GGUF file as local/PATH.gguf.
        "#]],
    );
    check(
        &["models", "show", "local/nothing.gguf"],
        &[],
        expect![[r#"
            exit 2
            --- stderr
            error: there is no file ~/work/nothing.gguf
        "#]],
    );
}

#[cfg(not(feature = "local"))]
#[test]
fn without_a_key_and_without_an_embedded_model_it_is_said_what_to_do() {
    check(
        &["ask", "hello"],
        &[],
        expect![[r#"
        exit 2
        --- stderr
        error: there is no model to ask: none is named and no key is set
        hint: --model PROVIDER/MODEL names one; ANTHROPIC_API_KEY, OPENAI_API_KEY and the like bring a key.
        hint: This program was built without the embedded model.
    "#]],
    );
    check(
        &["models", "pull", "qwen2.5-coder-0.5b"],
        &[],
        expect![[r#"
        exit 2
        --- stderr
        error: there is no embedded model `qwen2.5-coder-0.5b` in this program
        hint: It was built without the feature `local`.
    "#]],
    );
}
