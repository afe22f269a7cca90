use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// A compiler for the built-in judge's vocabulary, its tokenizer and its end-of-sequence token.
fn compiler() -> (GrammarCompiler, Arc<Tokenizer>, u32) {
    let tokenizer = Arc::new(
        Tokenizer::from_json(include_str!("../../../../models/tiny/tokenizer.json")).unwrap(),
    );
    let end = tokenizer.token_id("<|im_end|>").unwrap();
    (
        GrammarCompiler::new(&tokenizer, &[end]).unwrap(),
        tokenizer,
        end,
    )
}

/// An answer in which `pick` decides each choice, given the number of allowed tokens.
fn written(
    grammar: &Grammar,
    end: u32,
    most: usize,
    mut pick: impl FnMut(usize) -> usize,
) -> (Vec<u32>, bool) {
    let mut run = grammar.begin();
    let (mut tokens, mut next) = (Vec::new(), run.next(Vec::new()));
    loop {
        tokens.extend(next.append);
        let Then::OneOf {
            tokens: allowed, ..
        } = next.then
        else {
            return (tokens, true);
        };
        let allowed: Vec<u32> = allowed.tokens().iter().collect();
        let token = allowed[pick(allowed.len())];
        if token == end {
            return (tokens, true);
        }
        if tokens.len() >= most {
            return (tokens, false);
        }
        tokens.push(token);
        run.push(token);
        next = run.next(Vec::new());
    }
}

#[test]
fn what_is_forced_is_appended_and_the_rest_is_chosen() {
    let (compiler, tokenizer, end) = compiler();
    let words = ["A: yes", "A: no", "A: never"].map(str::to_owned);
    let grammar = compiler
        .compile(&GrammarSource::OneOf(words.to_vec()))
        .unwrap();
    let mut run = grammar.begin();
    let next = run.next(vec![7]);
    assert_eq!(tokenizer.decode(&next.append[1..]).trim_end(), "A:");
    let mut found = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let mut state = seed;
        let (tokens, whole) = written(&grammar, end, 100, |count| {
            state = state * 31 + 7;
            state % count
        });
        assert!(whole);
        found.insert(tokenizer.decode(&tokens));
    }
    assert_eq!(found, words.into_iter().collect());
}

#[test]
fn sources_that_are_none_are_refused() {
    for source in [
        GrammarSource::JsonSchema("{\"type\": \"nothing\"}".into()),
        GrammarSource::JsonSchema("\"text\"".into()),
        GrammarSource::JsonSchema("{".into()),
        GrammarSource::JsonSchema("{\"$ref\": \"https://example.org/schema.json\"}".into()),
        GrammarSource::Lark("begin: \"a\"".into()),
        GrammarSource::Lark("start: \"a".into()),
        GrammarSource::Regex("(".into()),
        GrammarSource::OneOf(vec![]),
        GrammarSource::OneOf(vec![String::new()]),
    ] {
        let Err(refused) = source.check() else {
            panic!("{source:?}")
        };
        let refused = refused.to_string();
        assert!(
            !refused.is_empty() && !refused.contains('\n'),
            "{source:?}: {refused}"
        );
    }
}

#[test]
fn a_cache_keeps_no_refused_source_and_few_bytes() {
    let (compiler, tokenizer, end) = compiler();
    drop(compiler);
    let grammars = Grammars::new(&tokenizer, &Arc::from([end]));
    let kept = || lock(&grammars.made).len();
    assert!(grammars.get(&GrammarSource::Regex("(a".into())).is_err());
    assert_eq!(kept(), 0);
    for letter in ["a", "b", "c"] {
        let schema = json!({"type": "integer", "description": letter.repeat(400_000)});
        let source = GrammarSource::JsonSchema(schema.to_string());
        let [one, same] = [(); 2].map(|()| grammars.get(&source).unwrap());
        assert!(Arc::ptr_eq(&one, &same));
    }
    // The third leaves no room for the others.
    assert_eq!(kept(), 1);
}

#[test]
fn definitions_are_looked_up_not_searched_for() {
    let definition = |at: usize| (format!("d{at}"), json!({"not": {}}));
    let mut schema = json!({"properties": {"x": {"$ref": "#/$defs/used"}}});
    schema["$defs"] = Value::Object((0..80_000).map(definition).collect());
    schema["$defs"]["used"] = json!({"type": "integer"});
    let started = std::time::Instant::now();
    json_schema::prepare(&mut schema.clone()).unwrap();
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    // What is used is read, whatever the text around the reference.
    for target in ["#/$defs/d7", "https://example.com/a#/$defs/d7"] {
        schema["properties"]["x"]["$ref"] = json!(target);
        let why = json_schema::prepare(&mut schema.clone()).unwrap_err();
        assert!(why.contains("`not` at #/$defs/d7"), "{why}");
    }
}

#[test]
fn one_of_many_texts_is_chosen() {
    let (compiler, tokenizer, end) = compiler();
    let texts: Vec<String> = (0..3000).map(|at| format!("{at} of them")).collect();
    let grammar = compiler
        .compile(&GrammarSource::OneOf(texts.clone()))
        .unwrap();
    for seed in 0..5 {
        let mut state = seed;
        let (tokens, whole) = written(&grammar, end, 100, |count| {
            state = state * 31 + 7;
            state % count
        });
        assert!(whole && texts.contains(&tokenizer.decode(&tokens)));
    }
}

#[test]
fn an_error_of_one_answer_is_no_other_ones() {
    let (compiler, tokenizer, _) = compiler();
    let grammar = compiler
        .compile(&GrammarSource::Regex("a{3}b".into()))
        .unwrap();
    let mut wrong = grammar.begin();
    for token in tokenizer.encode_untrusted("zz").unwrap() {
        wrong.push(token);
    }
    assert!(matches!(wrong.next(Vec::new()).then, Then::End));
    assert!(wrong.error().unwrap().starts_with("the form of the answer"));
    let mut right = grammar.begin();
    let next = right.next(Vec::new());
    assert!(right.error().is_none() && tokenizer.decode(&next.append).starts_with("aa"));
}

#[test]
fn text_that_a_normaliser_would_change_is_forced_as_it_is() {
    let mut document: Value =
        serde_json::from_str(include_str!("../../../../models/tiny/tokenizer.json")).unwrap();
    document["normalizer"] = json!({"type": "NFC"});
    let tokenizer = Arc::new(Tokenizer::from_json(&document.to_string()).unwrap());
    let end = tokenizer.token_id("<|im_end|>").unwrap();
    let compiler = GrammarCompiler::new(&tokenizer, &[end]).unwrap();
    let texts = ["10 \u{2126}", "10 \u{2126} net"].map(str::to_owned);
    let grammar = compiler
        .compile(&GrammarSource::OneOf(texts.to_vec()))
        .unwrap();
    for seed in 0..8 {
        let (tokens, whole) = written(&grammar, end, 100, |count| seed % count);
        assert!(whole && texts.contains(&tokenizer.decode(&tokens)));
    }
}

#[test]
fn an_answer_is_closed_only_where_it_may_end() {
    let (compiler, tokenizer, _) = compiler();
    let schema = json!({"type": "object", "properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "string"}},
        "required": ["a"], "additionalProperties": false});
    let grammar = compiler
        .compile(&GrammarSource::JsonSchema(schema.to_string()))
        .unwrap();
    let close = tokenizer.encode_untrusted("\"}").unwrap();
    let at = |text: &str| {
        let mut run = grammar.begin();
        for token in tokenizer.encode_untrusted(text).unwrap() {
            run.push(token);
        }
        run
    };
    assert!(at("{\"a\": \"x\", \"b\": \"some").close(&close));
    assert!(at("{\"a\": \"x").close(&close));
    assert!(!at("{\"a\": \"").close(&close));
    assert!(!at("{\"a\": \"x\", \"b\": \"some\\").close(&close));
    assert!(!at("{\"a\": \"x\", \"").close(&close));

    let inner = json!({"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": false});
    let schema = json!({"type": "object", "properties": {"a": inner}, "required": ["a"], "additionalProperties": false});
    let grammar = compiler
        .compile(&GrammarSource::JsonSchema(schema.to_string()))
        .unwrap();
    let mut run = grammar.begin();
    for token in tokenizer
        .encode_untrusted("{\"a\": {\"b\": \"some")
        .unwrap()
    {
        run.push(token);
    }
    assert!(!run.close(&close));
    // Nothing of it was taken.
    let more = tokenizer.encode_untrusted(" text\"}}").unwrap();
    for token in more {
        run.push(token);
    }
    assert!(run.error().is_none() && matches!(run.next(Vec::new()).then, Then::End));
}

/// Whether a whole text is allowed by a schema.
fn allows(schema: &Value, text: &str) -> bool {
    let (compiler, tokenizer, _) = compiler();
    let grammar = compiler
        .compile(&GrammarSource::JsonSchema(schema.to_string()))
        .unwrap();
    let tokens = tokenizer.encode_untrusted(text).unwrap();
    grammar.begin().close(&tokens)
}

#[test]
fn objects_have_no_keys_but_their_own() {
    let a =
        || json!({"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]});
    let b =
        || json!({"type": "object", "properties": {"b": {"type": "boolean"}}, "required": ["b"]});
    let (own, more) = ("{\"a\": true}", "{\"a\": true, \"b\": true}");
    let in_list = |text: &str| format!("[{text}]");
    let in_object = |text: &str| format!("{{\"x\": {text}}}");
    let defined = json!({"$ref": "#/$defs/a", "$defs": {"a": a()}});
    for (schema, own, more) in [
        (a(), own.to_owned(), more.to_owned()),
        (
            json!({"type": "array", "items": a()}),
            in_list(own),
            in_list(more),
        ),
        (
            json!({"type": "object", "properties": {"x": a()}, "required": ["x"]}),
            in_object(own),
            in_object(more),
        ),
        (
            json!({"type": "object", "additionalProperties": a()}),
            in_object(own),
            in_object(more),
        ),
        (
            json!({"anyOf": [a(), {"type": "null"}]}),
            own.to_owned(),
            more.to_owned(),
        ),
        (defined, own.to_owned(), more.to_owned()),
        (
            json!({"allOf": [{"$ref": "#/definitions/a"}], "definitions": {"a": a()}}),
            own.to_owned(),
            more.to_owned(),
        ),
    ] {
        assert!(allows(&schema, &own), "{schema}: {own}");
        assert!(!allows(&schema, &more), "{schema}: {more}");
    }
    // Not closed: where other keys are asked for, where no property is named, and where several schemas name some.
    let mut asked = a();
    asked["additionalProperties"] = true.into();
    let mut both = a();
    both["allOf"] = json!([b()]);
    for schema in [
        asked,
        json!({"type": "object"}),
        json!({"allOf": [a(), b()]}),
        both,
        json!({"allOf": [{"$ref": "#/$defs/a"}, b()], "$defs": {"a": a()}}),
    ] {
        assert!(allows(&schema, more), "{schema}");
    }
    // Data that looks like a schema is none.
    let data = json!({"enum": [{"properties": {}}, 1]});
    assert!(allows(&data, "{\"properties\": {}}"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_is_chosen_the_answer_is_of_the_schema(seed in any::<u64>()) {
        let (compiler, tokenizer, end) = compiler();
        let schema = json!({
            "type": "object",
            "properties": {
                "verdict": {"enum": ["correct", "incorrect"]},
                "score": {"type": "integer", "minimum": 0, "maximum": 10},
                "parts": {"type": "array", "items": {"type": "boolean"}, "maxItems": 3},
                "why": {"type": "string", "maxLength": 30}
            },
            "required": ["verdict", "score", "parts"],
            "additionalProperties": false
        });
        let grammar = compiler.compile(&GrammarSource::JsonSchema(schema.to_string())).unwrap();
        let mut state = seed;
        let (tokens, whole) = written(&grammar, end, 400, |count| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % count
        });
        let text = tokenizer.decode(&tokens);
        prop_assert!(whole, "{text}");
        let value: Value = serde_json::from_str(&text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
        prop_assert!(["correct", "incorrect"].contains(&value["verdict"].as_str().unwrap()));
        prop_assert!(value["score"].as_u64().unwrap() <= 10);
        prop_assert!(value["parts"].as_array().unwrap().len() <= 3);
    }
}

#[test]
fn what_pydantic_writes_is_kept_or_said_otherwise() {
    let cat = json!({"type": "object", "properties": {"kind": {"const": "cat"}, "more": {"$ref": "#/$defs/Pet"}}, "required": ["kind"]});
    let dog = json!({"type": "object", "properties": {"kind": {"enum": ["dog", "wolf"]}}, "required": ["kind"]});
    let pets = |more: &str, value: Value| {
        let mut pet = json!({"oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]});
        pet[more] = value;
        json!({"$ref": "#/$defs/Pet", "$defs": {"Cat": cat, "Dog": dog, "Pet": pet}})
    };
    let cats = r#"{"kind": "cat", "more": {"kind": "wolf"}}"#;
    let names = |names: Value| json!({"type": "object", "propertyNames": names, "additionalProperties": {"type": "integer"}});
    for (schema, allowed, refused) in [
        // A format that says nothing of the text is an annotation, and so is a keyword that nobody knows.
        (
            json!({"type": "string", "format": "password", "writeOnly": true, "deprecated": true}),
            vec![r#""a""#],
            vec!["1"],
        ),
        (
            json!({"type": "string", "format": "uuid4", "x-order": 3}),
            vec![r#""a""#],
            vec![],
        ),
        (
            json!({"type": "string", "format": "date"}),
            vec![r#""2024-01-02""#],
            vec![r#""a""#],
        ),
        (
            json!({"type": "object", "properties": {"format": {"type": "string", "format": "base64"}}}),
            vec![r#"{"format": "eA=="}"#],
            vec![],
        ),
        (
            json!({"const": 1.0}),
            vec!["1", "1.0"],
            vec!["1.5", "2", "1.25"],
        ),
        (
            json!({"const": -2.0, "type": "number"}),
            vec!["-2", "-2.0"],
            vec!["-2.5", "2"],
        ),
        (json!({"const": 1}), vec!["1"], vec!["1.0"]),
        (
            json!({"enum": [0.0, 0.5, 1.0, "none"], "type": ["number", "string"]}),
            vec!["0", "0.0", "0.5", "1", "1.0", r#""none""#],
            vec!["2", "0.25"],
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": false}),
            vec!["[1, 1]"],
            vec![],
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true, "maxItems": 1}),
            vec!["[1]"],
            vec!["[1, 2]"],
        ),
        (
            names(json!({"enum": ["a", "b"]})),
            vec![r#"{"b": 1}"#, "{}"],
            vec![r#"{"c": 1}"#, r#"{"a": "x"}"#],
        ),
        (
            names(json!({"pattern": "^[a-z]$", "title": "T"})),
            vec![r#"{"b": 1}"#],
            vec![r#"{"bb": 1}"#],
        ),
        (
            names(json!({"minLength": 2, "maxLength": 3})),
            vec![r#"{"abc": 1}"#],
            vec![r#"{"a": 1}"#, r#"{"abcd": 1}"#],
        ),
        (
            names(json!({"format": "color", "type": "string"})),
            vec![r#"{"x": 1}"#],
            vec![r#"{"x": "1"}"#],
        ),
        (
            pets("discriminator", json!({"propertyName": "kind"})),
            vec![cats],
            vec![r#"{"kind": "cow"}"#],
        ),
        (
            pets("title", json!("Pet")),
            vec![cats],
            vec![r#"{"kind": "cow"}"#],
        ),
        (
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
            vec!["1", r#""a""#, "null"],
            vec!["1.5"],
        ),
        (
            json!({"oneOf": [{"const": 1}, {"const": 2}], "anyOf": [{"const": 2}, {"const": 3}]}),
            vec!["2"],
            vec!["1", "3"],
        ),
        // A decimal number of pydantic's, which begins with a look-ahead.
        (
            json!({"type": "string", "pattern": r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"}),
            vec![r#""-1.5""#, r#"".5""#],
            vec![r#""-.""#, r#""""#, r#""a""#],
        ),
        // Classes of all signs but some.
        (
            json!({"type": "string", "pattern": r#"^[^\n"]+$"#}),
            vec![r#""It is 18 \\ 2.""#],
            vec![r#""a \"b\"""#, r#""a\nb""#],
        ),
        (
            json!({"type": "string", "pattern": r"^[\[^a]1[^\\]+$"}),
            vec![r#""^1 / \" 2""#],
            vec![r#""[1\\2""#, r#""\u00001 2""#],
        ),
        (
            json!({"type": "string", "pattern": r"^\[[^-\x22]*$"}),
            vec![r#""[12""#],
            vec![r#""[1-2""#, r#""[\"""#],
        ),
        (
            names(json!({"pattern": "^[^\"]+$"})),
            vec![r#"{"b": 1}"#],
            vec![r#"{"\"": 1}"#],
        ),
        (
            json!({"type": "integer", "$defs": {"Unused": {"not": {"const": 1}}}}),
            vec!["1"],
            vec![],
        ),
    ] {
        for text in allowed {
            assert!(allows(&schema, text), "{schema}: {text}");
        }
        for text in refused {
            assert!(!allows(&schema, text), "{schema}: {text}");
        }
    }
    let closed = |key: &str| json!({"type": "object", "properties": {key: {"type": "integer"}}, "required": [key], "additionalProperties": false});
    assert!(allows(
        &json!({"oneOf": [closed("a"), closed("b")]}),
        r#"{"b": 1}"#
    ));
    let open = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let many: Value = (0..400)
        .map(|_| json!({"enum": (0..400).collect::<Vec<_>>()}))
        .collect();
    for (schema, why) in [
        (
            json!({"properties": {"f": {"type": "array", "uniqueItems": true}}}),
            "`uniqueItems` at #/properties/f cannot be kept",
        ),
        (
            json!({"items": {"not": {"const": 1}}}),
            "`not` at #/items cannot",
        ),
        (names(json!({"format": "uuid"})), "`propertyNames` at #"),
        (
            json!({"anyOf": [{"oneOf": [{"type": "integer"}, {"type": "null"}, {"type": "number"}]}]}),
            "`oneOf` at #/anyOf/0: its alternatives 1 and 3",
        ),
        (
            json!({"oneOf": [open, closed("a")]}),
            "alternatives 1 and 2",
        ),
        (
            json!({"oneOf": [{"const": 1}, {"const": 1.0}]}),
            "alternatives 1 and 2",
        ),
        (json!({"oneOf": many}), "use `anyOf`"),
        (
            json!({"type": "string", "pattern": "^(?=.*a)b"}),
            "^(?=.*a)b; error: look-around",
        ),
        (
            json!({"type": "string", "pattern": "(a"}),
            "(a; error: unclosed group",
        ),
    ] {
        let refused = GrammarSource::JsonSchema(schema.to_string())
            .check()
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains(why) && !refused.contains('\n') && !refused.contains("coerce_one_of"),
            "{refused}"
        );
    }
}

#[test]
fn a_form_that_nothing_fits_is_said_in_words() {
    let (compiler, ..) = compiler();
    let forms = [
        GrammarSource::Regex("a[^\\s\\S]".into()),
        GrammarSource::Lark("start: /a/ /[^\\s\\S]/".into()),
        GrammarSource::Lark("start: \"a\" (/b/ & /c/)".into()),
    ];
    let told = |source: &GrammarSource| {
        let mut run = compiler.compile(source).ok()?.begin();
        let mut next = run.next(Vec::new());
        while let (None, Then::OneOf { tokens, .. }) = (run.error(), &next.then) {
            run.push(tokens.tokens().iter().next()?);
            next = run.next(Vec::new());
        }
        run.error()
    };
    let told: Vec<String> = forms.iter().filter_map(told).collect();
    // The others are refused before anything is asked.
    assert_eq!(told.len(), 1, "{told:?}");
    for why in told {
        assert_eq!(
            why,
            "the form of the answer could not be followed: no text fits this form"
        );
    }
}
