//! The model's own way of writing a conversation: the Jinja template of `tokenizer_config.json`.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, context};
use serde_json::Value;

use super::ModelError;

/// A compiled chat template.
pub struct ChatTemplate {
    environment: Environment<'static>,
    bos_token: Option<String>,
    eos_token: Option<String>,
}

impl ChatTemplate {
    /// Reads the template from `tokenizer_config.json`'s text, or takes `separate`, the text of `chat_template.jinja`,
    /// where newer checkpoints keep it.
    ///
    /// # Errors
    /// [`ModelError::ChatTemplate`] when there is none or it does not compile.
    pub fn new(tokenizer_config: &str, separate: Option<String>) -> Result<Self, ModelError> {
        let config: Value = serde_json::from_str(tokenizer_config)
            .map_err(|error| ModelError::ChatTemplate(format!("tokenizer_config.json: {error}")))?;
        let source = separate.or_else(|| template_of(&config)).ok_or_else(|| {
            ModelError::ChatTemplate(
                "the model has no chat template (neither `chat_template` in tokenizer_config.json nor \
                 chat_template.jinja): use an instruction-tuned model"
                    .into(),
            )
        })?;
        let mut environment = Environment::new();
        // The settings under which transformers renders these templates.
        let syntax = SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .build()
            .map_err(|error| ModelError::ChatTemplate(error.to_string()))?;
        environment.set_syntax(syntax);
        environment
            .set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function(
            "raise_exception",
            |message: String| -> Result<String, Error> {
                Err(Error::new(ErrorKind::InvalidOperation, message))
            },
        );
        environment
            .add_template_owned("chat", source)
            .map_err(|error| ModelError::ChatTemplate(format!("it does not compile: {error:#}")))?;
        Ok(Self {
            environment,
            bos_token: token(&config, "bos_token"),
            eos_token: token(&config, "eos_token"),
        })
    }

    /// The text of a conversation in which the user says `content` and the model is to answer.
    ///
    /// # Errors
    /// [`ModelError::ChatTemplate`] when the template refuses the conversation or fails.
    pub fn render(&self, content: &str) -> Result<String, ModelError> {
        let failed = |error: Error| ModelError::ChatTemplate(format!("it failed: {error:#}"));
        let template = self.environment.get_template("chat").map_err(failed)?;
        template
            .render(context! {
                messages => [context! { role => "user", content => content }],
                add_generation_prompt => true,
                bos_token => self.bos_token.as_deref(),
                eos_token => self.eos_token.as_deref(),
            })
            .map_err(failed)
    }
}

/// `chat_template` is a text, or a list of named ones of which `default` is meant.
fn template_of(config: &Value) -> Option<String> {
    match config.get("chat_template")? {
        Value::String(text) => Some(text.clone()),
        Value::Array(named) => named
            .iter()
            .find(|entry| entry.get("name").and_then(Value::as_str) == Some("default"))
            .or_else(|| named.first())
            .and_then(|entry| entry.get("template")?.as_str().map(str::to_owned)),
        _ => None,
    }
}

/// A token is written as its text, or as an object that holds it.
fn token(config: &Value, key: &str) -> Option<String> {
    let value = config.get(key)?;
    value
        .as_str()
        .or_else(|| value.get("content")?.as_str())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHATML: &str = "{%- for message in messages %}\n    {{- '<|im_start|>' + message.role + '\\n' + \
        message.content.strip() + '<|im_end|>' + '\\n' }}\n{%- endfor %}\n{%- if add_generation_prompt %}\n    \
        {{- '<|im_start|>assistant\\n' }}\n{%- endif %}\n";

    fn config(template: &Value) -> String {
        serde_json::json!({ "bos_token": {"content": "<s>"}, "eos_token": "</s>", "chat_template": template }).to_string()
    }

    #[test]
    fn writes_a_conversation_with_python_methods_and_stripped_blocks() {
        let template = ChatTemplate::new(&config(&CHATML.into()), None).unwrap();
        assert_eq!(
            template.render(" hello ").unwrap(),
            "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n"
        );
    }

    #[test]
    fn knows_named_templates_separate_files_and_tokens() {
        let named = serde_json::json!([{"name": "tool", "template": "T"}, {"name": "default", "template": "{{ bos_token }}D"}]);
        assert_eq!(
            ChatTemplate::new(&config(&named), None)
                .unwrap()
                .render("x")
                .unwrap(),
            "<s>D"
        );
        let separate = Some("{{ messages[0]['content'] }}{{ eos_token }}".to_owned());
        assert_eq!(
            ChatTemplate::new(&config(&CHATML.into()), separate)
                .unwrap()
                .render("x")
                .unwrap(),
            "x</s>"
        );
    }

    #[test]
    fn says_what_is_wrong() {
        let message = |template: Value| match ChatTemplate::new(&config(&template), None) {
            Ok(template) => template.render("x").unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(message(Value::Null).contains("no chat template"));
        assert!(message("{% if %}".into()).contains("compile"));
        assert!(
            message("{{ raise_exception('roles must alternate') }}".into())
                .contains("roles must alternate")
        );
    }
}
