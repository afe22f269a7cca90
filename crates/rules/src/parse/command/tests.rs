#[test]
fn every_line_is_read() {
    for row in crate::lexicon::rows(crate::lexicon::SYMBOLS) {
        assert!(
            super::meaning(row[0]).is_some() && row.len() == 2,
            "{row:?}"
        );
    }
}
