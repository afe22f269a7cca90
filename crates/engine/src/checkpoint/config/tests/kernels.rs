//! What our CUDA kernels know of a model: everything that can make two decoders differ.

const SOURCES: [&str; 4] = [
    include_str!("../mod.rs"),
    include_str!("../rope.rs"),
    include_str!("../recurrent.rs"),
    include_str!("../../families/mod.rs"),
];

/// The fields or variants of a type, as its source names them.
fn names(head: &str) -> Vec<&'static str> {
    let head = format!("{head} {{\n");
    let mut found = SOURCES.iter().filter_map(|source| source.split_once(&head));
    let (_, after) = found.next().unwrap();
    let (body, _) = after.split_once("\n}").unwrap();
    let names = body.lines().map(|line| {
        let line = line.trim().trim_start_matches("pub(crate) ");
        let line = line.trim_start_matches("pub ");
        line.split(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .unwrap()
    });
    names.filter(|name| !name.is_empty()).collect()
}

/// A new field or variant is not taken for something that the kernels ignore: whoever adds one says here that they compute it, that it
/// is a size or is folded into the weights, or has `ModelConfig::beyond_kernels` refuse it.
#[test]
fn nothing_new_is_passed_over_by_the_kernels() {
    for line in include_str!("known_to_kernels.txt").lines() {
        let (head, known) = line.split_once(": ").unwrap();
        assert_eq!(names(head), known.split(' ').collect::<Vec<_>>(), "{head}");
    }
}
