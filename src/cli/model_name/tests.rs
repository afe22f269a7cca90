use super::*;

#[test]
fn the_address_of_a_page_is_the_model_that_it_shows() {
    let base = "https://huggingface.co/Qwen/Qwen3-8B";
    for (text, model) in [
        ("", "Qwen/Qwen3-8B"),
        ("/", "Qwen/Qwen3-8B"),
        ("?library=transformers#usage", "Qwen/Qwen3-8B"),
        ("/tree/main", "Qwen/Qwen3-8B"),
        ("/tree/v1.0/", "Qwen/Qwen3-8B@v1.0"),
        ("/tree/refs%2Fpr%2F3", "Qwen/Qwen3-8B@refs/pr/3"),
        ("/commit/0123abcd", "Qwen/Qwen3-8B@0123abcd"),
        ("/blob/main/config.json", "Qwen/Qwen3-8B"),
        ("/blob/main/q4_k_m.gguf", "Qwen/Qwen3-8B/q4_k_m.gguf"),
        (
            "/resolve/v2/q4_k_m.gguf?download=true",
            "Qwen/Qwen3-8B/q4_k_m.gguf@v2",
        ),
        ("/discussions/4", "Qwen/Qwen3-8B"),
    ] {
        assert_eq!(
            parse(&format!("{base}{text}")).as_deref(),
            Ok(model),
            "{text}"
        );
    }
    for text in [
        "http://huggingface.co/org/name",
        "https://hf.co/org/name/",
        "hf.co/org/name",
        "huggingface.co/org/name/tree/main",
        " https://www.huggingface.co/org/name ",
    ] {
        assert_eq!(parse(text).as_deref(), Ok("org/name"), "{text}");
    }
    // What is none stays as it is.
    for text in [
        "tiny",
        "org/name",
        "http://localhost:8000/v1#m",
        "./model.gguf",
        "",
    ] {
        assert_eq!(parse(text).as_deref(), Ok(text));
    }
}

#[test]
fn pages_without_a_model_are_refused() {
    for (text, why) in [
        ("https://huggingface.co/datasets/openai/gsm8k", "no model's"),
        ("https://huggingface.co/spaces/a/b", "no model's"),
        ("https://huggingface.co/Qwen", "no model's"),
        ("https://huggingface.co/", "no model's"),
        ("hf.co/org/name-GGUF:Q4_K_M", "org/name-GGUF/FILE.gguf"),
        (
            "https://huggingface.co/o/n/blob/main/Q4/m.gguf",
            "in the folder Q4",
        ),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn names_that_only_an_api_has_point_at_it() {
    for (name, address) in [
        ("gpt-4o", "https://api.openai.com/v1 --model gpt-4o`"),
        ("gpt-4o-mini-2024-07-18", "api.openai.com"),
        ("openai/gpt-5", "--model gpt-5`"),
        ("o3-mini", "api.openai.com"),
        ("claude-opus-4-5", "api.anthropic.com"),
        ("openrouter/anthropic/claude-sonnet-4", "api.anthropic.com"),
        ("gemini-2.5-pro", "generativelanguage"),
        ("deepseek-chat", "api.deepseek.com"),
    ] {
        let told = only_an_api(name).unwrap_or_default();
        assert!(told.contains(address), "{name}: {told}");
    }
    for name in [
        "tiny",
        "gpt-oss-20b",
        "openai/gpt-oss-20b",
        "o1js",
        "someone/gpt-4o-judge",
        "deepseek-ai/DeepSeek-V3",
        "xai-org/grok-2",
        "CohereLabs/c4ai-command-r-v01",
    ] {
        assert_eq!(only_an_api(name), None, "{name}");
    }
}
