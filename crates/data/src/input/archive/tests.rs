use super::*;

#[test]
fn a_log_of_too_many_files_is_refused() {
    assert!(check_count(MOST).is_ok());
    let error = check_count(MOST + 1).unwrap_err().to_string();
    assert!(
        error.starts_with("it holds 1000001 files, and at most 1000000 are read"),
        "{error}"
    );
}
