use super::*;

#[test]
fn a_snapshot_says_where_it_came_from() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let place = format!("/cache/hub/models--org--name/snapshots/{commit}");
    assert_eq!(
        origin(Path::new(&place)),
        Some(format!("org/name@{commit}"))
    );
    for folder in [
        "/models/mine",
        "/cache/hub/models--org--name/snapshots/main",
        "/",
        "",
    ] {
        assert_eq!(origin(Path::new(folder)), None, "{folder}");
    }
    let elsewhere = format!("/cache/hub/models--org--name/blobs/{commit}");
    assert_eq!(origin(Path::new(&elsewhere)), None);
}

#[test]
fn sizes_are_written_for_people() {
    for (count, text) in [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_960, "1.0 MB"),
        (16_381_470_720, "16.4 GB"),
        (u64::MAX, "18446744.1 TB"),
    ] {
        assert_eq!(bytes(count), text);
    }
}
