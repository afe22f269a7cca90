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
        written(&messages, |message| message.parts.concat()),
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
    let marked = written(messages, |message| {
        let marks = message.parts.iter().map(|_| {
            number += 1;
            format!("{}{}{}", MARK.0, number - 1, MARK.1)
        });
        marks.collect::<Vec<_>>().concat()
    });
    let rendered = render(marked);
    let real = render(written(messages, |message| message.parts.concat()));
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
    // A message that the template drops.
    assert!(contents("{{ messages[1].content }}", &messages[..2]).is_ok());
}
