use super::*;

#[test]
fn a_header_is_no_beginning_of_a_binary_file() {
    for header in [
        "orcid,question,response\n",
        "ORCID,question,response\n",
        "fea1,question,response\n",
        "FEA1,question,response\n",
        "Arrow1\tquestion\tresponse\n",
        "gguf;question\n",
    ] {
        assert!(check("a.csv", header.as_bytes()).is_ok(), "{header}");
    }
    let refused: [(&[u8], &str); 6] = [
        (b"ORC\x0a\x06\x0a\x04\x08\x02", "an ORC file"),
        (b"ORC$\0\0\x0a", "an ORC file"),
        (b"FEA1\0\0\0\0", "a Feather file"),
        (b"GGUF\x03\0\0\0", "a model (GGUF)"),
        (b"<!DOCTYPE HTML>", "a web page"),
        (b"%PDF-1.7", "a PDF"),
    ];
    for (head, what) in refused {
        let error = check("a", head).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn every_kind_of_the_table_is_told() {
    assert_eq!(beginning("Obj\\x01"), b"Obj\x01");
    assert_eq!(beginning("\\xff\\xff\\xff\\xff"), STREAM);
    assert_eq!(KINDS.lines().count(), 74);
    for line in KINDS.lines() {
        let [kind, found, advice] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let place = kind.strip_prefix('@').and_then(|kind| kind.split_once(':'));
        let (at, with) = place.unwrap_or(("0", kind));
        let before = vec![b'#'; at.parse().unwrap()];
        let head = [&before[..], &beginning(with), b"\0\x01 more"].concat();
        let error = check(kind, &head).unwrap_err().to_string();
        assert!(error.contains(found) && error.contains(advice), "{error}");
    }
}

#[test]
fn json_is_read_under_any_name() {
    for (name, head) in [
        ("rows.yaml", "{\"question\": \"q\"}\n"),
        ("rows.toml", "[\n {\"question\": \"q\"}]"),
        ("rows.csv", "separator,question\n"),
        ("log.jsonl", "--- run 1 ---\n{\"question\": \"q\"}\n"),
        ("rows.jsonl", "[\n      {\"question\": \"q\"}]"),
    ] {
        assert!(check(name, head.as_bytes()).is_ok(), "{name}");
    }
    for (name, head) in [
        ("rows.yml", "- question: q\n  answer: 4\n"),
        ("rows.toml", "[[rows]]\nquestion = \"q\"\n"),
    ] {
        assert!(check(name, head.as_bytes()).is_err(), "{name}");
    }
}
