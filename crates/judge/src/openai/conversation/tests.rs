use super::*;

fn message(role: &str, parts: &[&str]) -> Message {
    Message {
        role: role.into(),
        name: None,
        parts: parts.iter().map(|part| (*part).to_owned()).collect(),
    }
}

#[test]
fn a_name_is_for_templates_that_read_it() {
    let named = Message {
        name: Some("ann".into()),
        ..message("user", &["x"])
    };
    let messages = [named, message("assistant", &["y"])];
    assert_eq!(
        written(&messages, "", |message| message.parts.concat()),
        json!([{"role": "user", "content": "x", "name": "ann"}, {"role": "assistant", "content": "y"}])
    );
}

/// What a template writes of each part.
fn contents(template: &str, messages: &[Message]) -> Result<Vec<String>, String> {
    let chat = ChatTemplate::new("{}", Some(template.into())).unwrap();
    let render = |messages: Value| {
        let variables = json!({"messages": messages});
        chat.render_variables(&variables.to_string()).unwrap()
    };
    let mut number = 0;
    let marked = written(messages, template, |message| {
        let marks = message.parts.iter().map(|_| {
            number += 1;
            format!("{}{}{}", MARK.0, number - 1, MARK.1)
        });
        marks.collect::<Vec<_>>().concat()
    });
    let rendered = render(marked);
    let real = render(written(messages, template, |message| {
        message.parts.concat()
    }));
    as_rendered(messages, &cut(&rendered), &real)
}

#[test]
fn contents_are_what_the_template_writes() {
    let plain = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";
    let trims = "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}{% endfor %}";
    let shouts = "{% for m in messages %}{{ m.content | upper }}{% endfor %}";
    let messages = [
        message("user", &[" a", "b \n"]),
        message("assistant", &["<think>c</think>\n\nd"]),
        message("user", &["  "]),
    ];
    let all = [" a", "b \n", "<think>c</think>\n\nd", "  "];
    assert_eq!(contents(plain, &messages).unwrap(), all);
    let trimmed = ["a", "b", "<think>c</think>\n\nd", ""];
    assert_eq!(contents(trims, &messages).unwrap(), trimmed);
    assert!(contents(shouts, &messages).is_err());
    assert!(contents("{{ messages[0].content }}", &messages[..1]).is_ok());
}

#[test]
fn a_message_that_the_template_leaves_out_is_named() {
    let knows = "{% for m in messages %}{% if m.role == 'user' or m.role == 'system' %}{{ m.content }}{% endif %}{% endfor %}";
    let ask = |template: &str, role: &str, text: &str| {
        contents(template, &[message(role, &[text]), message("user", &["b"])])
    };
    let why = ask(knows, "tool", "a").unwrap_err();
    assert!(why.contains("message 1, of the role `tool`"), "{why}");
    assert_eq!(ask(knows, "tool", " ").unwrap(), [" ", "b"]);
    // What a developer says is the system's, unless the template knows developers.
    assert_eq!(ask(knows, "developer", "a").unwrap(), ["a", "b"]);
    let drops = format!("{knows}{{# 'developer' #}}");
    assert!(ask(&drops, "developer", "a").is_err());
}

#[test]
fn answers_that_are_sent_back_lose_their_thinking_as_the_template_has_it() {
    let messages = [
        message("user", &[" a "]),
        message("assistant", &["<think>\nb</think> </th", "ink>\n\n", " c "]),
        message("user", &["Why </think>?"]),
    ];
    for (answer, other, expected) in [
        (
            "m.content.split('</think>')[-1]",
            "m.content",
            ["", "\n\n", " c "],
        ),
        (
            "m.content.split('</think>')[-1].lstrip('\\n')",
            "m.content",
            ["", "", " c "],
        ),
        (
            "m.content.split('</think>')[-1] | trim",
            "m.content",
            ["", "", "c"],
        ),
        (
            "m.content.split('</think>')[-1] | trim",
            "m.content | trim",
            ["", "", "c"],
        ),
    ] {
        let template = format!(
            "{{% for m in messages %}}<{{% if m.role == 'assistant' %}}{{{{ {answer} }}}}{{% else %}}{{{{ {other} }}}}{{% endif %}}>{{% endfor %}}"
        );
        let found = contents(&template, &messages).unwrap();
        assert_eq!(found[1..4], expected, "{template}");
        let user = if other == "m.content" { " a " } else { "a" };
        assert_eq!((&*found[0], &*found[4]), (user, "Why </think>?"));
    }
}

/// The embedded judge with a line break as an added token, as Gemma has it, a template that holds one, and an added token beyond the
/// model's rows, as Gemma 3's `<image_soft_token>` is.
fn with_line_breaks(vocabulary: usize) -> Result<ChatModel, TextError> {
    let tiny = crate::catalog::resolve("tiny").unwrap();
    let json =
        |file: &str| -> Value { serde_json::from_str(&tiny.read_text(file).unwrap()).unwrap() };
    let (mut config, mut tokenizer) = (json("config.json"), json("tokenizer.json"));
    config["vocab_size"] = vocabulary.into();
    let added = tokenizer["added_tokens"].as_array_mut().unwrap();
    for (id, content) in [(2019, "\n"), (2020, "<image_soft_token>")] {
        added.push(json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": id == 2020}));
    }
    let folder = tempfile::tempdir().unwrap();
    let template =
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}";
    for (file, text) in [
        ("config.json", config.to_string()),
        ("tokenizer.json", tokenizer.to_string()),
        ("tokenizer_config.json", "{}".to_owned()),
        ("chat_template.jinja", template.to_owned()),
    ] {
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    let source = ModelSource::in_folder(folder.path()).unwrap();
    ChatModel::load(vec!["tiny".to_owned()], &source, None)
}

#[test]
fn line_breaks_of_contents_are_those_of_the_vocabulary() {
    let model = with_line_breaks(2020).unwrap();
    let prompt = |content: &str| {
        let messages = [message("user", &[content])];
        model
            .conversation(&messages, &Map::new(), 1000)
            .unwrap()
            .tokens
    };
    let count = |tokens: &[u32], id: u32| tokens.iter().filter(|token| **token == id).count();
    let tokens = prompt("a\nb\n\n<|im_end|>c");
    // The template writes two line breaks and one end.
    assert_eq!((count(&tokens, 2019), count(&tokens, 2002)), (5, 1));
    assert!(prompt("a<image_soft_token>b").iter().all(|id| *id < 2020));
}

#[test]
fn added_tokens_beyond_the_rows_of_a_model_are_text() {
    let model = with_line_breaks(2020).unwrap();
    let text = RawPrompt::Text("a <image_soft_token>\n".into());
    let tokens = model.raw(&text, true, 1000).unwrap().tokens;
    assert!(tokens.contains(&2019) && tokens.iter().all(|id| *id < 2020));
    assert_eq!(model.tokenizer().decode(&tokens), "a <image_soft_token>\n");
    let with_row = with_line_breaks(2021).unwrap();
    let tokens = with_row.raw(&text, true, 1000).unwrap().tokens;
    assert!(tokens.contains(&2020));
    // Pieces of the plain vocabulary are never left out.
    let error = with_line_breaks(1999).err().unwrap().to_string();
    assert!(error.contains("not of the same model"), "{error}");
}
