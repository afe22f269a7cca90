use super::*;

#[test]
fn every_line_is_read() {
    for row in rows(UNITS) {
        assert!(entry(&row).is_some(), "{row:?}");
    }
}
