use super::*;

fn finish(out: &Path, content: &str) -> Result<(), OutputError> {
    write_atomically(out, |writer| writer.write_all(content.as_bytes()))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_failure_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("verdicts.jsonl");
    fs::write(&out, "before").unwrap();
    let error = write_atomically(&out, |writer| {
        writer.write_all(b"half of it")?;
        Err(io::Error::from(io::ErrorKind::StorageFull))
    });
    let message = error.unwrap_err().to_string();
    assert!(
        message.starts_with("could not write ") && message.contains("verdicts.jsonl: "),
        "{message}"
    );
    assert_eq!(fs::read_to_string(&out).unwrap(), "before");
    assert_eq!(names(folder.path()), ["verdicts.jsonl"]);
    assert!(
        finish(folder.path(), "")
            .unwrap_err()
            .to_string()
            .contains("is a folder")
    );
    assert!(finish(&folder.path().join("missing/out.jsonl"), "").is_err());
}

#[cfg(unix)]
#[test]
fn modes_links_and_devices_are_kept() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let mode = |name: &str| {
        fs::metadata(folder.path().join(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    fs::write(folder.path().join("usual"), "").unwrap();
    finish(&folder.path().join("new"), "").unwrap();
    assert_eq!(mode("new"), mode("usual"));

    fs::set_permissions(
        folder.path().join("usual"),
        fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    std::os::unix::fs::symlink("usual", folder.path().join("link")).unwrap();
    finish(&folder.path().join("link"), "r0").unwrap();
    assert!(
        fs::symlink_metadata(folder.path().join("link"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(mode("usual"), 0o640);
    assert!(
        fs::read_to_string(folder.path().join("usual"))
            .unwrap()
            .contains("r0")
    );

    finish(Path::new("/dev/null"), "r0").unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

/// Hours may lie between opening a file and writing it.
#[test]
fn a_file_that_somebody_made_meanwhile_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("summary.json");
    let write = |file: &OutputFile| file.write(|writer| writer.write_all(b"ours"));
    let open = |force: bool| Outputs::new(Vec::new(), Vec::new(), force).open(&path, Mark::SUMMARY);
    let file = open(false).unwrap();
    fs::write(&path, "mine").unwrap();
    let error = write(&file).unwrap_err().to_string();
    assert!(error.contains("is there, and would be replaced"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    assert!(open(false).is_err());
    write(&open(true).unwrap()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "ours");
}
