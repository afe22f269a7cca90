use super::*;

/// The outputs that `tests/cli/own_files` tries.
const TABLE: &str = include_str!("../../../tests/data/outputs.tsv");

/// Paths that are read. Whoever adds an argument with a path puts it here or into `WRITTEN` and the table.
const READ: [&str; 29] = [
    "files",
    "adapter",
    "join",
    "endpoint_key_file",
    "inputs",
    "input",
    "outputs",
    "prompt",
    "few_shots",
    "rubric",
    "panel",
    "calibration",
    "chat_template",
    "api_key_file",
    "verdicts",
    "labels",
    "compare",
    "summaries",
    "rows",
    "table",
    "responses",
    "data",
    "platinum",
    "exemplars",
    "agreement",
    "merge",
    "adjudicate",
    "folder",
    "cache",
];

/// Calls `each` with every argument that is a path, and the names of its command.
fn paths(command: &clap::Command, name: &str, each: &mut dyn FnMut(&str, &Arg)) {
    for argument in command.get_arguments().filter(|argument| is_path(argument)) {
        each(name, argument);
    }
    for further in command.get_subcommands() {
        let name = format!("{name} {}", further.get_name());
        paths(further, name.trim_start(), each);
    }
}

#[test]
fn every_path_is_read_or_is_an_output_that_is_tried() {
    let tried: Vec<&str> = TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split('\t').next())
        .collect();
    let mut written = 0;
    let mut command = Arguments::command();
    command.build();
    paths(&command, "", &mut |command, argument| {
        let id = argument.get_id().as_str();
        if READ.contains(&id) {
            assert!(!is_one_of(WRITTEN, id), "{command}: {id}");
            return;
        }
        assert!(
            is_one_of(WRITTEN, id),
            "{command}: is {id} read or written?"
        );
        written += 1;
        let short = argument
            .get_short()
            .map(|short| format!("{command} -{short}"));
        let long = argument
            .get_long()
            .map(|long| format!("{command} --{long}"));
        let is_tried = match (&short, &long) {
            (None, None) => tried.contains(&command),
            _ => [&short, &long]
                .into_iter()
                .flatten()
                .any(|name| tried.contains(&name.as_str())),
        };
        assert!(is_tried, "{command}: {id} is not in tests/data/outputs.tsv");
    });
    assert_eq!(written, tried.len());
}

#[test]
fn a_panel_names_files_and_folders_of_models_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in [
        "model/config.json",
        "lora/adapter_config.json",
        "own.txt",
        "note",
    ] {
        std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
        std::fs::write(at(name), "{}").unwrap();
    }
    std::fs::create_dir(at("results")).unwrap();
    let text = "\
        template = \"own.txt\"\n\
        description = \"note\"\n\
        stop = [\"\", \".\", \"/\"]\n\
        [[judges]]\n\
        model = \"model\"\n\
        name = \"results\"\n\
        options = [\"--adapter=lora\", \"--keep=\", \"\", \".\", \"/\", \"results\"]\n";
    std::fs::write(at("panel.toml"), text).unwrap();
    let mut read = Read::default();
    read.add_named_in(&at("panel.toml"));
    read.models.sort();
    assert_eq!(read.models, [at("lora"), at("model")]);
    assert_eq!(read.inputs, [at("own.txt")]);
}
