//! Tokenizers: that of a file against the tokenizer.json that its metadata was made from.

use juror_engine::text::tokenizer::Tokenizer;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::{checkpoint, convert, letters, repository, sizes};
use crate::gguf_writer::{File, Value, vocabulary};

const TEXTS: [&str; 16] = [
    "",
    " ",
    "Tom has 12345 apples, and buys 6.75 more; it's his 100th.",
    "WE'LL see: I'm sure they'Ve gone. HelloWorld camelCaseÉtude",
    "a  b   c\t\td \n\n  e\r\n\r\nf \n",
    "    indented\n\tfn main() { let x = &mut y[0..=9]; /* ok */ } // https://x.y/z?a=b#c",
    "ünïcödé ÄÖÜ straße ﬁ ligature",
    "日本語のテキスト、中文字符。한국어",
    "العربية עברית ภาษาไทย हिन्दी",
    "😀👩‍👩‍👧‍👦🏳️‍🌈 e\u{301} \u{212b} \u{1e9b}\u{323}",
    "½ ²³ Ⅷ ٣٤٥ 𝟘𝟙",
    "\\boxed{\\frac{1}{2}} $x^2 + 3x - 4 = 0$",
    "<|im_start|>user\nhi<|im_end|>\n<think>hm</think> <outcome>True</outcome>",
    "<s>[INST] nothing </s> <|endoftext|>",
    "\u{a0}\u{2003}\u{3000}\u{feff}\u{0}\u{7f}",
    "the the  the   the",
];

fn tiny() -> Json {
    let text = std::fs::read_to_string(repository("models/tiny/tokenizer.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The tokenizer of a file with this vocabulary; what is wrong with it, if it is refused.
fn read(change: impl FnOnce(&mut File)) -> Result<Tokenizer, String> {
    read_of("Qwen3ForCausalLM", change)
}

/// The same, of a file of this family.
fn read_of(class: &str, change: impl FnOnce(&mut File)) -> Result<Tokenizer, String> {
    let folder = checkpoint(&sizes(class, 32, 32));
    let mut file = convert(folder.path(), |_| candle_core::quantized::GgmlDType::F32);
    letters(&mut file, 83);
    change(&mut file);
    let path = TempDir::new().unwrap();
    let path = path.path().join("model.gguf");
    file.write(&path);
    let source =
        juror_judge::catalog::resolve(path.to_str().unwrap()).map_err(|error| error.to_string())?;
    let json = source.read_text("tokenizer.json").unwrap();
    Tokenizer::from_json(&json).map_err(|error| error.to_string())
}

fn agree(ours: &Tokenizer, json: &Json) {
    let theirs = Tokenizer::from_json(&json.to_string()).unwrap();
    assert_eq!(ours.vocab_size(), theirs.vocab_size());
    let book = std::fs::read_to_string(repository("README.md")).unwrap();
    let code = std::fs::read_to_string(repository("src/lib.rs")).unwrap();
    for text in TEXTS.into_iter().chain([book.as_str(), code.as_str()]) {
        let ids = theirs.encode_trusted(text).unwrap();
        assert_eq!(ours.encode_trusted(text).unwrap(), ids, "{text:?}");
        let plain = theirs.encode_untrusted(text).unwrap();
        assert_eq!(ours.encode_untrusted(text).unwrap(), plain, "{text:?}");
        assert_eq!(ours.decode(&ids), theirs.decode(&ids));
    }
    for id in 0..theirs.vocab_size() as u32 {
        assert_eq!(ours.decode(&[id]), theirs.decode(&[id]), "token {id}");
    }
}

/// Every pattern, with the vocabulary of the embedded judge.
#[test]
fn byte_pairs_are_those_of_tokenizer_json() {
    let digits = |count: &str| {
        format!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{count}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    };
    for (pre, pattern, composes, whole_words) in [
        ("qwen2", digits(""), true, false),
        ("llama-bpe", digits("{1,3}"), false, true),
        ("glm4", digits("{1,3}"), false, true),
        ("chatglm-bpe", digits("{1,3}"), false, false),
        ("smaug-bpe", digits("{1,3}"), false, false),
        ("falcon3", digits("{1,3}"), false, true),
        ("pixtral", digits("{1,3}"), false, true),
        ("deepseek-r1-qwen", digits(""), true, false),
        ("megrez", digits(""), false, false),
    ] {
        let mut json = tiny();
        json["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = pattern.into();
        json["normalizer"] = if composes {
            json!({"type": "NFC"})
        } else {
            Json::Null
        };
        json["model"]["ignore_merges"] = whole_words.into();
        let ours = read(|file| vocabulary(file, &json, pre)).unwrap();
        agree(&ours, &json);
    }
}

/// Where each pattern splits: a pair of letters can only be merged within a piece.
#[test]
fn every_pattern_splits_where_its_models_do() {
    const TEXT: &str = "HelloWorld it's 1234 a//\n";
    const PAIRS: [&str; 4] = ["oW", "t'", "12", "/\u{10a}"];
    for (pre, merged) in [
        ("qwen2", [true, false, false, true]),
        ("llama-bpe", [true, false, true, true]),
        ("dbrx", [true, false, true, true]),
        ("gpt-4o", [false, true, true, true]),
        ("tekken", [false, false, false, true]),
        ("seed-coder", [true, false, false, false]),
        ("smollm", [true, false, false, false]),
        ("refact", [true, false, false, false]),
        ("exaone4", [true, false, true, false]),
        ("hunyuan-dense", [true, false, true, true]),
        ("minimax-m2", [false, true, true, true]),
        ("deepseek-llm", [true, false, false, false]),
        ("deepseek-coder", [true, false, false, false]),
    ] {
        let mut tokens: Vec<String> = TEXT
            .chars()
            .map(|letter| match letter {
                ' ' => "\u{120}".into(),
                '\n' => "\u{10a}".into(),
                letter => letter.to_string(),
            })
            .collect();
        tokens.sort();
        tokens.dedup();
        tokens.extend(PAIRS.map(str::to_owned));
        let merges = PAIRS.map(|pair| {
            let (first, second) = pair.split_at(1);
            format!("{first} {second}")
        });
        let tokenizer = read(|file| {
            file.set("tokenizer.ggml.pre", Value::Text(pre.into()));
            file.set("tokenizer.ggml.tokens", Value::Texts(tokens.clone()));
            file.set("tokenizer.ggml.merges", Value::Texts(merges.to_vec()));
        })
        .unwrap();
        let ids = tokenizer.encode_trusted(TEXT).unwrap();
        assert_eq!(tokenizer.decode(&ids), TEXT);
        let found = PAIRS.map(|pair| ids.iter().any(|id| tokens[*id as usize] == pair));
        assert_eq!(found, merged, "{pre}");
    }
}

/// A list of merges may be written as lines, of which one that begins with `#version` is a heading, and one with two spaces is damaged.
#[test]
fn merges_that_no_line_could_hold_are_read() {
    const WORD: &str = "#versions";
    let mut tokens: Vec<String> = WORD.chars().map(|letter| letter.to_string()).collect();
    tokens.dedup();
    tokens.pop(); // The second "s".
    let letters = tokens.len();
    tokens.extend((2..=WORD.len()).map(|end| WORD[..end].to_owned()));
    let merges = (1..WORD.len()).map(|end| format!("{} {}", &WORD[..end], &WORD[end..=end]));
    let merges: Vec<String> = merges.collect();
    let tokenizer = read(|file| {
        file.set("tokenizer.ggml.tokens", Value::Texts(tokens.clone()));
        file.set("tokenizer.ggml.merges", Value::Texts(merges));
    });
    let whole = (letters + WORD.len() - 2) as u32;
    assert_eq!(tokenizer.unwrap().encode_trusted(WORD).unwrap(), [whole]);

    let pieces = ["<unk>", "x", " y", "x y", "t", "h", "th"].map(str::to_owned);
    let scores = (0..pieces.len()).map(|place| -(place as f32)).collect();
    let tokenizer = read(|file| {
        file.set("tokenizer.ggml.model", Value::Text("llama".into()));
        file.remove("tokenizer.ggml.pre");
        file.remove("tokenizer.ggml.merges");
        file.set("tokenizer.ggml.tokens", Value::Texts(pieces.to_vec()));
        file.set("tokenizer.ggml.scores", Value::F32s(scores));
        file.set(
            "tokenizer.ggml.token_type",
            Value::I32s(vec![2, 1, 1, 1, 1, 1, 1]),
        );
    });
    let ids = tokenizer.unwrap().encode_trusted("th").unwrap();
    assert_eq!(ids.last(), Some(&6));
}

/// As llama.cpp: by the file's flag, else by the pre-tokenizer.
#[test]
fn raw_prompts_begin_as_the_file_says() {
    for (pre, flag, ends, before, behind) in [
        ("qwen2", None, None, &[][..], &[][..]),
        ("qwen2", Some(true), Some(true), &[3], &[5]),
        ("llama-bpe", None, None, &[3], &[]),
        ("llama-bpe", Some(false), None, &[], &[]),
        ("tekken", None, Some(false), &[3], &[]),
        ("glm4", None, None, &[], &[]),
    ] {
        let tokenizer = read(|file| {
            file.set("tokenizer.ggml.pre", Value::Text(pre.into()));
            file.set("tokenizer.ggml.bos_token_id", Value::U32(3));
            file.set("tokenizer.ggml.eos_token_id", Value::U32(5));
            for (key, flag) in [("bos", flag), ("eos", ends)] {
                if let Some(flag) = flag {
                    file.set(
                        &format!("tokenizer.ggml.add_{key}_token"),
                        Value::Bool(flag),
                    );
                }
            }
        });
        assert_eq!(
            tokenizer.unwrap().around(),
            (before, behind),
            "{pre} {flag:?}"
        );
    }
    // Without a token to begin with there is none.
    let tokenizer = read(|file| file.set("tokenizer.ggml.pre", Value::Text("llama-bpe".into())));
    assert_eq!(tokenizer.unwrap().around(), (&[][..], &[][..]));
}

/// Control tokens between the others, as Mistral has them: the numbers stay.
#[test]
fn tokens_keep_their_numbers_wherever_they_are() {
    let mut json = tiny();
    json["normalizer"] = json!({"type": "NFC"});
    let vocab = json["model"]["vocab"].as_object_mut().unwrap();
    for id in vocab.values_mut() {
        *id = (id.as_u64().unwrap() + 30).into();
    }
    let added = json["added_tokens"].as_array_mut().unwrap();
    let mut names = Vec::new();
    for (id, token) in added.iter_mut().enumerate() {
        token["id"] = id.into();
        names.push(token["content"].as_str().unwrap().to_owned());
    }
    assert!(names.len() < 30);
    let ours = read(|file| vocabulary(file, &json, "qwen2")).unwrap();
    for (id, name) in names.iter().enumerate() {
        assert_eq!(ours.encode_trusted(name).unwrap(), [id as u32]);
        assert!(!ours.encode_untrusted(name).unwrap().contains(&(id as u32)));
    }
    let text = "Tom has 3 apples.";
    let original = Tokenizer::from_json(&tiny().to_string()).unwrap();
    let moved: Vec<u32> = original
        .encode_trusted(text)
        .unwrap()
        .iter()
        .map(|id| id + 30)
        .collect();
    assert_eq!(ours.encode_trusted(text).unwrap(), moved);
}

/// `SentencePiece`'s vocabulary: the highest score is merged first, what is not in it goes byte by byte.
#[test]
fn sentence_pieces_are_merged_by_score() {
    const SPACE: &str = "\u{2581}";
    let mut pieces: Vec<(String, f32, i32)> = vec![
        ("<unk>".into(), 0.0, 2),
        ("<s>".into(), 0.0, 3),
        ("</s>".into(), 0.0, 3),
    ];
    pieces.extend((0..=255).map(|byte| (format!("<0x{byte:02X}>"), 0.0, 6)));
    let words = [
        format!("{SPACE}t"),
        "he".into(),
        format!("{SPACE}the"),
        format!("{SPACE}{SPACE}"),
        "in".into(),
        "ing".into(),
        "er".into(),
        format!("{SPACE}th"),
    ];
    pieces.extend(
        words
            .iter()
            .enumerate()
            .map(|(at, word)| (word.clone(), -(at as f32), 1)),
    );
    for (at, letter) in [SPACE, "t", "h", "e", "i", "n", "g", "r", "s", "<", ">"]
        .iter()
        .enumerate()
    {
        pieces.push(((*letter).to_owned(), -100.0 - at as f32, 1));
    }
    let write = |file: &mut File| {
        file.set("tokenizer.ggml.model", Value::Text("llama".into()));
        file.remove("tokenizer.ggml.pre");
        file.remove("tokenizer.ggml.merges");
        let texts = pieces.iter().map(|piece| piece.0.clone()).collect();
        file.set("tokenizer.ggml.tokens", Value::Texts(texts));
        let scores = pieces.iter().map(|piece| piece.1).collect();
        file.set("tokenizer.ggml.scores", Value::F32s(scores));
        let kinds = pieces.iter().map(|piece| piece.2).collect();
        file.set("tokenizer.ggml.token_type", Value::I32s(kinds));
        file.set("tokenizer.ggml.bos_token_id", Value::U32(1));
    };
    let tokenizer = read(write).unwrap();
    assert_eq!(tokenizer.around(), (&[1][..], &[][..]));
    let spell = |text: &str| -> Vec<String> {
        let ids = tokenizer.encode_trusted(text).unwrap();
        assert_eq!(tokenizer.decode(&ids), text);
        ids.iter()
            .map(|id| pieces[*id as usize].0.clone())
            .collect()
    };
    // "▁t" and "he" score above "▁th", which would leave "e" alone; "▁the" joins them.
    assert_eq!(spell("the"), [words[2].clone()]);
    assert_eq!(spell("thing"), [words[7].clone(), "ing".into()]);
    assert_eq!(spell("hé"), [SPACE, "h", "<0xC3>", "<0xA9>"]);
    let control = tokenizer.encode_trusted("<s>the").unwrap();
    assert_eq!(pieces[control[0] as usize].0, "<s>");
    let plain = tokenizer.encode_untrusted("<s>the</s>").unwrap();
    assert!(!plain.contains(&1) && !plain.contains(&2), "{plain:?}");

    // Gemma 4's: such pieces, merged in the order of a list, and no space before a text.
    let listed = read(|file| {
        write(file);
        file.set("tokenizer.ggml.model", Value::Text("gemma4".into()));
        let merges = ["\u{2581} t", "\u{2581}t h", "h e", "i n", "in g"];
        let merges = merges.iter().map(ToString::to_string).collect();
        file.set("tokenizer.ggml.merges", Value::Texts(merges));
    });
    let listed = listed.unwrap();
    assert_eq!(listed.around(), (&[1][..], &[][..]));
    for (text, expected) in [
        (" the", [words[7].as_str(), "e"]),
        ("the", ["t", "he"]),
        (" ting", [words[0].as_str(), "ing"]),
    ] {
        let ids = listed.encode_trusted(text).unwrap();
        assert_eq!(listed.decode(&ids), text);
        let found: Vec<&str> = ids
            .iter()
            .map(|id| pieces[*id as usize].0.as_str())
            .collect();
        assert_eq!(found, expected);
    }

    let refused = read(|file| {
        write(file);
        file.set("tokenizer.ggml.scores", Value::F32s(vec![0.0]));
    });
    assert!(refused.err().unwrap().contains("scores"));
}

/// A file of `SentencePiece`'s pieces with these texts and kinds; no text begins with a space of its own.
fn pieces(file: &mut File, pieces: &[(&str, i32)]) {
    // The converter gives added tokens the lowest score.
    let score = |at: usize, kind: i32| if kind == 4 { -1000.0 } else { -(at as f32) };
    let scores = pieces.iter().enumerate();
    let scores = scores.map(|(at, (_, kind))| score(at, *kind)).collect();
    let texts = pieces.iter().map(|(text, _)| (*text).to_owned()).collect();
    let kinds = pieces.iter().map(|(_, kind)| *kind).collect();
    file.set("tokenizer.ggml.model", Value::Text("llama".into()));
    file.remove("tokenizer.ggml.pre");
    file.remove("tokenizer.ggml.merges");
    file.set("tokenizer.ggml.tokens", Value::Texts(texts));
    file.set("tokenizer.ggml.scores", Value::F32s(scores));
    file.set("tokenizer.ggml.token_type", Value::I32s(kinds));
    file.set("tokenizer.ggml.add_space_prefix", Value::Bool(false));
}

/// Gemma's line breaks and spaces, as its own tokenizer.json has them through its merges ("\n\n" 108, four spaces and "y" 140 236762), and
/// llama.cpp with `parse_special` off; the converter writes spaces for `▁` in them. Tags stay letters in texts under judgement.
#[test]
fn runs_of_white_space_are_one_token_in_texts_under_judgement() {
    const TOKENS: [(&str, i32); 21] = [
        ("<unk>", 2),
        ("<s>", 3),
        ("\n", 4),
        ("\n\n", 4),
        ("\n\n\n", 4),
        ("  ", 4),
        ("   ", 4),
        ("    ", 4),
        ("<h1>", 4),
        ("\u{2581}", 1),
        ("\u{2581}y", 1),
        ("y", 1),
        ("<h", 1),
        ("1>", 1),
        ("<", 1),
        ("h", 1),
        ("1", 1),
        (">", 1),
        ("s", 1),
        ("[unused0]", 5),
        ("<end>", 3),
    ];
    let tokenizer = read(|file| pieces(file, &TOKENS)).unwrap();
    for (text, ids) in [
        ("\n", &[2][..]),
        ("\n\n    y", &[3, 7, 11]),
        ("\n\n\n\n y", &[4, 2, 10]),
        ("  y   s", &[5, 11, 6, 18]),
        ("y y", &[11, 10]),
    ] {
        assert_eq!(tokenizer.encode_untrusted(text).unwrap(), ids, "{text:?}");
        assert_eq!(tokenizer.encode_trusted(text).unwrap(), ids, "{text:?}");
        assert_eq!(tokenizer.decode(ids), text);
    }
    let bytes = tokenizer.token_bytes().unwrap();
    assert_eq!((&*bytes[3], &*bytes[7]), (&b"\n\n"[..], &b"    "[..]));
    assert_eq!(tokenizer.encode_trusted("<h1>").unwrap(), [8]);
    assert_eq!(tokenizer.encode_untrusted("<h1>").unwrap(), [12, 13]);
    assert!(!tokenizer.encode_untrusted("<s><end>").unwrap().contains(&1));
}

/// As the makers' tokenizer.json of Phi-3 and Phi-3.5, and llama.cpp.
#[test]
fn control_tokens_of_phi_3_take_the_space_behind_them() {
    const TOKENS: [(&str, i32); 10] = [
        ("<unk>", 2),
        ("<s>", 3),
        ("</s>", 3),
        ("\n", 1),
        ("a", 1),
        ("\u{2581}", 1),
        ("\u{2581}a", 1),
        ("<|endoftext|>", 3),
        ("<|user|>", 3),
        ("<|end|>", 3),
    ];
    const TEXT: &str = "<s> a<|user|>\na<|end|>\n <|user|> a</s>\n<|endoftext|>\n";
    for (class, ids) in [
        ("Phi3ForCausalLM", &[1, 6, 8, 4, 9, 8, 4, 2, 7, 3][..]),
        (
            "LlamaForCausalLM",
            &[1, 6, 8, 3, 4, 9, 3, 5, 8, 6, 2, 3, 7, 3],
        ),
    ] {
        let tokenizer = read_of(class, |file| pieces(file, &TOKENS)).unwrap();
        assert_eq!(tokenizer.encode_trusted(TEXT).unwrap(), ids, "{class}");
    }
}

#[test]
fn what_is_wrong_with_a_vocabulary_is_named() {
    type Change = fn(&mut File);
    let changes: [(Change, &str); 11] = [
        (
            |file| file.set("tokenizer.ggml.pre", Value::Text("bloom".into())),
            "\"bloom\" is not supported",
        ),
        (
            |file| file.remove("tokenizer.ggml.pre"),
            "tokenizer.ggml.pre",
        ),
        (
            |file| file.set("tokenizer.ggml.model", Value::Text("t5".into())),
            "\"t5\"",
        ),
        (
            |file| file.remove("tokenizer.ggml.tokens"),
            "tokenizer.ggml.tokens",
        ),
        (
            |file| file.remove("tokenizer.ggml.merges"),
            "tokenizer.ggml.merges",
        ),
        (
            |file| file.set("tokenizer.ggml.merges", Value::Texts(vec!["alone".into()])),
            "\"alone\"",
        ),
        (
            |file| {
                file.set(
                    "tokenizer.ggml.merges",
                    Value::Texts(vec!["a b".into(); 1000]),
                );
            },
            "1000 or more merges for 83 tokens",
        ),
        (
            // Every beginning and end of a word is a piece too.
            |file| {
                let pieces = (0..83).map(|length| "a".repeat(length + 1));
                file.set("tokenizer.ggml.tokens", Value::Texts(pieces.collect()));
                file.set("tokenizer.ggml.scores", Value::F32s(vec![0.0; 83]));
                file.set("tokenizer.ggml.model", Value::Text("llama".into()));
            },
            "or more merges for 83 tokens",
        ),
        (
            |file| file.set("tokenizer.ggml.token_type", Value::I32s(vec![1])),
            "types",
        ),
        (
            |file| file.set("tokenizer.ggml.tokens", Value::Texts(vec!["a".into(); 2])),
            "\"a\" twice",
        ),
        (
            |file| file.set("tokenizer.ggml.eos_token_id", Value::U32(9999)),
            "eos_token_id",
        ),
    ];
    for (change, part) in changes {
        let message = read(change).err().unwrap();
        assert!(message.contains(part), "{message}: not {part}");
    }
    // A merge of what is no token is found by the tokenizer.
    let message = read(|file| {
        file.set("tokenizer.ggml.merges", Value::Texts(vec!["x y".into()]));
    });
    assert!(message.err().unwrap().contains("tokenizer.json"));
}
