use super::*;

const CHATML: &str = "{%- for message in messages %}\n    {{- '<|im_start|>' + message.role + '\\n' + \
    message.content.strip() + '<|im_end|>' + '\\n' }}\n{%- endfor %}\n{%- if add_generation_prompt %}\n    \
    {{- '<|im_start|>assistant\\n' }}\n{%- endif %}\n";

fn config(template: &Json) -> String {
    serde_json::json!({ "bos_token": {"content": "<s>"}, "eos_token": "</s>", "pad_token": null, "chat_template": template })
        .to_string()
}

fn template(source: &str) -> ChatTemplate {
    ChatTemplate::new(&config(&source.into()), None).unwrap()
}

fn plain(source: &str) -> Result<String, String> {
    ChatTemplate::new(&config(&source.into()), None)
        .and_then(|template| template.render("x", &ChatOptions::default()))
        .map_err(|error| error.to_string())
}

#[test]
fn writes_a_conversation_with_python_methods_and_stripped_blocks() {
    assert_eq!(
        template(CHATML)
            .render(" hello ", &ChatOptions::default())
            .unwrap(),
        "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n"
    );
}

/// As Jinja2 3.1 does.
#[test]
fn ends_of_lines_are_newlines_whatever_the_file_has() {
    let source = "{% for m in messages %}\r\n<{{ m.role }}>\r\n{{ 'a\r\nb' }}\r{{ 'c\\r' }}\r\n{% endfor %}\r\nend\r\n";
    assert_eq!(plain(source).unwrap(), "<user>\na\nb\nc\r\nend");
    // A message's own stay.
    let chat = template("{{ messages[0].content }}\r\n");
    let said = chat.render("a\r\nb", &ChatOptions::default());
    assert_eq!(said.unwrap(), "a\r\nb");
}

#[test]
fn knows_named_templates_separate_files_and_tokens() {
    let named = serde_json::json!([{"name": "tool_use", "template": "T"}, {"name": "default", "template": "{{ bos_token }}D"}]);
    let chat = ChatTemplate::new(&config(&named), None).unwrap();
    assert_eq!(chat.render("x", &ChatOptions::default()).unwrap(), "<s>D");
    let separate = Some(
        "{{ messages[0]['content'] }}{{ eos_token }}{{ pad_token }}{{ pad_token is defined }}"
            .to_owned(),
    );
    let chat = ChatTemplate::new(&config(&CHATML.into()), separate).unwrap();
    assert_eq!(
        chat.render("x", &ChatOptions::default()).unwrap(),
        "x</s>False"
    );
}

#[test]
fn says_what_is_wrong() {
    let message = |template: Json| match ChatTemplate::new(&config(&template), None) {
        Ok(template) => template
            .render("x", &ChatOptions::default())
            .unwrap_err()
            .to_string(),
        Err(error) => error.to_string(),
    };
    assert!(message(Json::Null).contains("no chat template"));
    assert!(message(serde_json::json!([{"name": "rag", "template": "T"}])).contains("rag"));
    assert!(message("{% if %}".into()).contains("compile"));
    assert!(
        message("{{ raise_exception('roles must alternate') }}".into())
            .contains("roles must alternate")
    );
}

#[test]
fn marked_turns_keep_their_variables_and_an_empty_list_reverses() {
    let source =
        "{% set a = 1 %}{%- generation -%} {% set a = 2 %}{{ a }} {%- endgeneration %}{{ a }}";
    assert_eq!(plain(source).unwrap(), "21");
    assert_eq!(
        plain("{{ ([][::-1])|length }}{{ 'abc'[::-1] }}{{ [1, 2][::-1][0] }}").unwrap(),
        "0cba2"
    );
    assert_eq!(plain("a[::-1]").unwrap(), "a[::-1]");
}

#[test]
fn an_option_that_changes_nothing_is_refused() {
    let chat = template(
        "{{ messages[0].content }}{% if enable_thinking is defined and enable_thinking is false %}<think></think>{% endif %}",
    );
    let with = |thinking, effort, system: Option<&str>| {
        chat.render(
            "x",
            &ChatOptions {
                thinking,
                reasoning_effort: effort,
                system_prompt: system.map(str::to_owned),
                ..ChatOptions::default()
            },
        )
        .map_err(|error| error.to_string())
    };
    assert_eq!(with(Some(true), None, None).unwrap(), "x");
    assert_eq!(with(Some(false), None, None).unwrap(), "x<think></think>");
    assert_eq!(with(None, None, Some("be kind")).unwrap(), "be kind");
    assert!(
        with(None, Some(ReasoningEffort::Low), None)
            .unwrap_err()
            .contains("--reasoning-effort")
    );
    let deaf = template("{{ messages[-1].content }}");
    let options = ChatOptions {
        thinking: Some(true),
        ..ChatOptions::default()
    };
    assert!(
        deaf.render("x", &options)
            .unwrap_err()
            .to_string()
            .contains("--thinking")
    );
    let options = ChatOptions {
        system_prompt: Some("be kind".into()),
        ..ChatOptions::default()
    };
    assert!(
        deaf.render("x", &options)
            .unwrap_err()
            .to_string()
            .contains("--system-prompt")
    );
    let other_name = template("{% if thinking %}<think>{% endif %}");
    let options = ChatOptions {
        thinking: Some(true),
        ..ChatOptions::default()
    };
    assert_eq!(other_name.render("x", &options).unwrap(), "<think>");
}

#[test]
fn the_date_is_one_for_all_renderings() {
    let chat = template("{{ strftime_now('%d %B %Y') }}");
    assert_eq!(chat.clock().used(), None);
    chat.clock().set("2026-02-03".parse().unwrap());
    assert_eq!(
        chat.render("x", &ChatOptions::default()).unwrap(),
        "03 February 2026"
    );
    assert_eq!(chat.clock().used().unwrap(), "2026-02-03");
}

#[test]
fn variables_are_json_or_text_and_refused_where_nothing_reads_them() {
    let chat = template("{{ budget is defined and budget + 1 }}|{{ name }}|{{ deep.a[1] }}");
    let with = |variables: &[&str]| {
        let options = ChatOptions {
            variables: variables.iter().map(|one| one.parse().unwrap()).collect(),
            ..ChatOptions::default()
        };
        chat.render("x", &options)
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        with(&["budget=512", "name=a=b", r#"deep={"a": [1, "q"]}"#]).unwrap(),
        "513|a=b|q"
    );
    assert_eq!(
        with(&["name=[", "deep={\"a\": [1, 2]}"]).unwrap(),
        "False|[|2"
    );
    let refused = with(&["deep={\"a\": [1, 2]}", "nme=1"]).unwrap_err();
    assert!(refused.contains("--template-variable nme"), "{refused}");
    let twice = with(&["name=1", "name=2"]).unwrap_err();
    assert!(twice.contains("set twice"), "{twice}");
    for wrong in ["name", "=1", "a b=1", "1a=1", "messages=[]", "a.b=1"] {
        assert!(wrong.parse::<TemplateVariable>().is_err(), "{wrong}");
    }
    // A variable that the template sets itself before it reads it has no effect.
    let own = template("{% set budget = 1 %}{{ budget }}{{ messages[0].content }}");
    let options = ChatOptions {
        variables: vec!["budget=2".parse().unwrap()],
        ..ChatOptions::default()
    };
    assert!(own.render("x", &options).is_err());
}

#[test]
fn what_the_thinking_switch_does_is_known() {
    let switch = |source: &str| template(source).thinking_switch("x", &ChatOptions::default());
    for (source, does) in [
        ("{{ messages[0].content }}<think>", ThinkingSwitch::None),
        ("{# enable_thinking #}x", ThinkingSwitch::None),
        (
            "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}",
            ThinkingSwitch::On,
        ),
        ("{% if thinking %}<think>{% endif %}", ThinkingSwitch::Off),
        ("{{ enable_thinking }}", ThinkingSwitch::Neither),
        // The other name in plain text is no use of it.
        (
            "thinking{% if enable_thinking %}<think>{% endif %}enable",
            ThinkingSwitch::Off,
        ),
        (
            "enable_thinking{% if thinking %}<think>{% endif %}",
            ThinkingSwitch::Off,
        ),
    ] {
        assert_eq!(switch(source), does, "{source}");
    }
}

#[test]
fn a_variable_of_json_that_is_too_deep_is_no_text() {
    let text = format!("a={}{}", "[".repeat(1000), "]".repeat(1000));
    let options = |text: &str| ChatOptions {
        variables: vec![text.parse().unwrap()],
        ..ChatOptions::default()
    };
    let chat = template("{{ a }}");
    let error = chat.render("x", &options(&text)).unwrap_err().to_string();
    assert!(error.contains("variable `a`"), "{error}");
    assert_eq!(chat.render("x", &options("a=[[")).unwrap(), "[[");
    assert_eq!(chat.render("x", &options("a=[1]")).unwrap(), "[1]");
}

/// What a template that is refused for its work says.
fn refused(source: &str) -> String {
    plain(source).expect_err(source)
}

/// Fuel ends what loops or grows: here against what a small conversation may cost.
#[test]
fn what_takes_too_long_or_grows_too_large_is_refused() {
    let loops =
        "{% for i in range(100000) %}{% for j in range(100) %}{{ j }}{% endfor %}{% endfor %}";
    assert!(refused(loops).contains("more work or memory"));
    for grown in [
        "a ~ a",
        "a + a",
        "a * 2",
        "a.replace('x', 'xx')",
        "a.join([a, a])",
        "[a, a] | join",
        "a | tojson",
    ] {
        let source = format!(
            "{{% set ns = namespace(a='x\"') %}}{{% for i in range(40) %}}{{% set a = ns.a %}}{{% set ns.a = {grown} %}}{{% endfor %}}{{{{ ns.a | length }}}}"
        );
        let error = refused(&source);
        assert!(error.contains("more work or memory"), "{grown}: {error}");
    }
    assert!(refused("{{ raise_exception('x' * 100000) }}").len() < 1100);
}

/// What clients write costs in proportion: twice the text, or twice the turns, at most about twice the work.
#[test]
fn conversations_cost_in_proportion_under_templates_like_the_published() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/chat_templates");
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let chat = ChatTemplate::new("{}", Some(std::fs::read_to_string(&path).unwrap())).unwrap();
        let cost = |turns: usize, length: usize| {
            let text = "<think>a & \"b\" </think>\n".repeat(length);
            let messages: Vec<Json> = (0..=2 * turns)
                .map(|at| json!({"role": if at % 2 == 0 { "user" } else { "assistant" }, "content": text}))
                .collect();
            let bytes = json!({ "messages": messages }).to_string().len();
            let given = vec![
                ("messages".to_owned(), Value::from(Serde(messages))),
                ("bos_token".to_owned(), Value::from("<s>")),
                ("eos_token".to_owned(), Value::from("</s>")),
            ];
            chat.render_all(given, bytes)
                .map(|rendered| rendered.spent)
                .ok()
        };
        for (once, twice) in [((40, 10), (80, 10)), ((4, 500), (4, 1000))] {
            let (Some(once), Some(twice)) = (cost(once.0, once.1), cost(twice.0, twice.1)) else {
                // Its roles do not take turns so.
                continue;
            };
            assert!(
                twice as f64 <= 2.2 * once as f64,
                "{}: {once} and {twice}",
                path.display()
            );
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn tojson_is_bounded_in_depth_and_in_what_stands_between_entries() {
    let nested = |depth: usize| {
        format!(
            "{{% set ns = namespace(v=1) %}}{{% for _ in range({depth}) %}}{{% set ns.v = [ns.v] %}}{{% endfor %}}{{{{ ns.v|tojson }}}}"
        )
    };
    assert!(plain(&nested(100)).unwrap().starts_with("[[[["));
    let error = plain(&nested(200)).unwrap_err();
    assert!(error.contains("more than 128 deep"), "{error}");
    let error = plain("{{ [1, 2]|tojson(indent='-' * 65) }}").unwrap_err();
    assert!(error.contains("indent"), "{error}");
    let error = plain("{{ [1, 2]|tojson(separators=['-' * 65, ':']) }}").unwrap_err();
    assert!(error.contains("short texts"), "{error}");
    assert_eq!(
        plain("{{ [1, 2]|tojson(indent=1) }}").unwrap(),
        "[\n 1,\n 2\n]"
    );
}
