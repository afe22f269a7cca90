use super::*;

fn bar(name: &str, length: f64, note: &str) -> Bar {
    Bar {
        name: name.into(),
        length,
        note: note.into(),
    }
}

#[test]
fn bars_fit_their_columns() {
    let bars = [
        bar("0.05", 0.0, "none"),
        bar("0.5", 0.5, "half of 12"),
        bar("1", 1.0, "all"),
    ];
    assert_eq!(
        lines(&bars, 28),
        [
            "  0.05            none",
            "   0.5  ████      half of 12",
            "     1  ████████  all"
        ]
    );
    for columns in 0..120 {
        for line in lines(&bars, columns) {
            assert!(width_of(&line) <= columns, "{line}");
        }
    }
    assert!(lines(&bars, 27).is_empty());
    assert!(lines(&[], 80).is_empty());
    // An eighth of a block is drawn as one.
    assert_eq!(lines(&[bar("a", 1.0 / 64.0, "")], 15), ["  a  ▏         "]);
    assert_eq!(lines(&[bar("a", 2.0, "")], 15), ["  a  ████████  "]);
}
