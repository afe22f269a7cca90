//! `tools`: an answer that is the call of a function, kept to the schema of its parameters.
//!
//! A call is made where `tool_choice` names a function, or is `required`. Whether to call one at all is not left to the model: how it would
//! say so is each model's own.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::form::nothing_more;
use super::request::Message;
use juror_engine::grammar::GrammarSource;

/// Functions one of which is called.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tools {
    functions: Vec<Function>,
    is_named: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Function {
    name: String,
    description: String,
    parameters: Value,
}

/// Takes tools out of a request's body, if a call is asked for.
pub(super) fn tools(body: &mut Map<String, Value>) -> Result<Option<Tools>, String> {
    if body.get("tools").is_none_or(|tools| *tools == json!([])) {
        let choice = body.get("tool_choice");
        let needs = choice.is_some_and(|choice| *choice == "required" || choice.is_object());
        let why = "`tool_choice` needs `tools`, one of which is called (llama-index: is_function_calling_model=True)";
        return if needs { Err(why.to_owned()) } else { Ok(None) };
    }
    let Some(Value::Array(tools)) = body.remove("tools") else {
        return Err("`tools` is no list".to_owned());
    };
    let functions = tools.iter().enumerate().map(|(at, tool)| {
        let function = &tool["function"];
        for (key, holder, known) in [
            (format!("tools[{at}]"), tool, &["type", "function"][..]),
            (
                format!("tools[{at}].function"),
                function,
                &["name", "description", "parameters", "strict"],
            ),
        ] {
            let mut more = holder.as_object().cloned().unwrap_or_default();
            more.retain(|key, value| !known.contains(&key.as_str()) && !value.is_null());
            nothing_more(
                &key,
                &more,
                "the schema of a call stands under `function.parameters`",
            )?;
        }
        let parameters = match &function["parameters"] {
            Value::Null => json!({"type": "object", "properties": {}}),
            schema => schema.clone(),
        };
        match (tool["type"].as_str(), function["name"].as_str()) {
            (Some("function"), Some(name)) if parameters.is_object() => Ok(Function {
                name: name.to_owned(),
                description: function["description"].as_str().unwrap_or("").to_owned(),
                parameters,
            }),
            _ => Err(format!(
                "`tools`: the {}. is no function with a `name` and `parameters`",
                at + 1
            )),
        }
    });
    let mut functions = functions.collect::<Result<Vec<_>, String>>()?;
    let choice = body.remove("tool_choice").unwrap_or(json!("auto"));
    match (choice.as_str(), choice["function"]["name"].as_str()) {
        (Some("none"), _) => return Ok(None),
        (Some("required"), _) => {}
        (None, Some(name)) => {
            functions.retain(|function| function.name == name);
            if functions.is_empty() {
                return Err(format!(
                    "`tool_choice` names {name:?}, which is not among the `tools`"
                ));
            }
        }
        _ => {
            return Err(format!(
                "`tools` with the `tool_choice` {choice}, which leaves it to the model whether it calls one, is not applied here: name a function \
                 in `tool_choice`, or set it to \"required\" (instructor: Mode.TOOLS; LangChain: with_structured_output(…, \
                 method=\"function_calling\")), or ask for a JSON schema in `response_format` (Mode.JSON_SCHEMA; method=\"json_schema\")"
            ));
        }
    }
    Ok(Some(Tools {
        functions,
        is_named: choice.is_object(),
    }))
}

impl Tools {
    /// What an answer must be: the arguments of the function, and of several, its name too.
    pub(super) fn form(&self) -> GrammarSource {
        if let [one] = self.functions.as_slice() {
            return GrammarSource::JsonSchema(one.parameters.to_string());
        }
        let mut definitions = Map::new();
        let calls = self.functions.iter().enumerate().map(|(at, function)| {
            let mut parameters = function.parameters.clone();
            lift(&mut parameters, at, &mut definitions);
            json!({
                "type": "object",
                "properties": {"name": {"const": function.name}, "arguments": parameters},
                "required": ["name", "arguments"],
                "additionalProperties": false,
            })
        });
        let calls: Value = calls.collect();
        GrammarSource::JsonSchema(json!({"anyOf": calls, "$defs": definitions}).to_string())
    }

    /// Tells the model in its last message what it may call: as any content, without control tokens.
    pub(super) fn tell(&self, messages: &mut [Message]) {
        let Some(last) = messages.last_mut() else {
            return;
        };
        let mut text = match self.functions.as_slice() {
            [one] => format!("\n\nAnswer with the arguments of the function `{}`, as JSON.", one.name),
            _ => "\n\nAnswer with a call of one of these functions, as JSON: {\"name\": …, \"arguments\": {…}}.".to_owned(),
        };
        for function in &self.functions {
            let _ = write!(
                text,
                "\n`{}`: {}\nIts parameters as a JSON schema: {}",
                function.name,
                function.description.trim(),
                function.parameters
            );
        }
        last.parts.push(text);
    }

    /// An answer as the call that it is; none where it was cut before that is known.
    pub(super) fn call(&self, content: &str, id: &str) -> Option<Value> {
        let (name, arguments) = if let [one] = self.functions.as_slice() {
            (one.name.clone(), content.to_owned())
        } else {
            let call: Value = serde_json::from_str(content).ok()?;
            let name = call["name"].as_str()?.to_owned();
            (name, call["arguments"].to_string())
        };
        let function = json!({"name": name, "arguments": arguments});
        Some(json!({"id": id, "type": "function", "function": function}))
    }

    /// Why an answer ended that is whole, as OpenAI has it.
    pub(super) fn finish_reason(&self) -> &'static str {
        if self.is_named { "stop" } else { "tool_calls" }
    }
}

/// Moves the definitions of a schema to those of all, under names of its own.
fn lift(schema: &mut Value, at: usize, definitions: &mut Map<String, Value>) {
    for kind in ["$defs", "definitions"] {
        let own = schema.as_object_mut().and_then(|keys| keys.remove(kind));
        for (name, value) in own.iter().filter_map(Value::as_object).flatten() {
            let mut value = value.clone();
            rename(&mut value, at);
            definitions.insert(format!("{at}-{name}"), value);
        }
    }
    rename(schema, at);
}

/// Has references mean the definitions under their new names.
fn rename(schema: &mut Value, at: usize) {
    match schema {
        Value::Object(keys) => {
            for (key, value) in keys {
                let name = value.as_str().filter(|_| key == "$ref");
                let name = name.and_then(|target| {
                    let own = target.strip_prefix("#/$defs/");
                    own.or_else(|| target.strip_prefix("#/definitions/"))
                });
                match name {
                    Some(name) => *value = json!(format!("#/$defs/{at}-{name}")),
                    None => rename(value, at),
                }
            }
        }
        Value::Array(values) => {
            for value in values {
                rename(value, at);
            }
        }
        _ => {}
    }
}

/// What earlier calls of a message say, as text.
pub(super) fn written(calls: &Value) -> Option<String> {
    let calls = calls.as_array()?.iter().map(|call| {
        let (name, arguments) = (&call["function"]["name"], &call["function"]["arguments"]);
        Some(format!("{}({})", name.as_str()?, arguments.as_str()?))
    });
    Some(calls.collect::<Option<Vec<_>>>()?.join("\n"))
}
