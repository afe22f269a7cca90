//! `juror correlate`.

use serde_json::Value;

use crate::common::Folder;

/// Figure 5's kind of table: judges, their accuracy, what training with them gave.
const SCORES: &str = "judge,overall accuracy,aime24,aime25,comment\n\
    a,65.9,10.0,8.5,rules\n\
    b,73.1,14.5,12.0,\n\
    c,77.3,17.0,,\n\
    <d>,81.4,18.5,15.5,\n\
    e,88.6,23.0,19.5,closed\n";

#[test]
fn lines_are_fitted_to_each_column_of_scores() {
    let folder = Folder::new();
    folder.write("scores.csv", SCORES);
    let ran = folder.run_words("correlate scores.csv --json fit.json --svg fit.svg");
    ran.expect(0, &["aime25: 1 row is left out, without a number"]);
    let report: Value = serde_json::from_str(&folder.read("fit.json")).unwrap();
    let fits = &report["fits"];
    // By hand (and scipy.stats.linregress).
    let near = |value: &Value, expected: f64| {
        let value = value.as_f64().unwrap();
        assert!((value - expected).abs() < 1e-9, "{value} and {expected}");
    };
    assert_eq!(fits[0]["x"], "overall accuracy");
    assert_eq!(fits[0]["y"], "aime24");
    assert_eq!(fits[0]["count"], 5);
    near(&fits[0]["slope"]["value"], AIME24[0]);
    near(&fits[0]["r_squared"]["value"], AIME24[1]);
    near(&fits[0]["p"], AIME24[2]);
    assert_eq!(fits[1]["count"], 4);
    // The plots have the points and the line, and a name is text.
    let svg = folder.read("fit.svg");
    assert_eq!(svg.matches("<circle").count(), 5 + 4);
    assert_eq!(svg.matches("class=\"ideal\"").count(), 2);
    assert!(svg.contains("&lt;d&gt;") && !svg.contains("<d>"), "{svg}");
    assert!(ran.stdout.contains("aime25 against overall accuracy"));
    assert!(ran.stdout.matches('o').count() > 5 && ran.stdout.contains('·'));
}

/// Slope, R² and p-value of aime24.
const AIME24: [f64; 3] = [
    0.562_048_943_483_560_3,
    0.995_378_371_647_207_1,
    0.000_133_531_772_140_814_9,
];

#[test]
fn tables_that_cannot_be_fitted_are_refused() {
    let folder = Folder::new();
    folder.write("scores.csv", SCORES);
    folder.write("mixed.csv", "judge,accuracy,score\na,1,2\nb,2,high\n");
    folder.write("scales.csv", "accuracy,score\n85%,1\n0.9,2\n");
    folder.write("one.csv", "judge,accuracy\na,1\nb,2\n");
    folder.write("flat.csv", "accuracy,score\n1,2\n1,3\n");
    for (arguments, parts) in [
        (vec!["mixed.csv"], vec!["mixed.csv:3", "score", "high"]),
        (vec!["scales.csv"], vec!["scales.csv:3", "accuracy", "%"]),
        (
            vec!["scores.csv", "--json", "./scores.csv"],
            vec!["is an input", "name another"],
        ),
        (
            vec!["scores.csv", "--json", "out", "--svg", "./out"],
            vec!["named for two outputs"],
        ),
        (vec!["one.csv"], vec!["no two columns of numbers"]),
        (vec!["flat.csv"], vec!["no line through 2 points"]),
        (
            vec!["scores.csv", "-y", "amc"],
            vec!["no column \"amc\"", "aime24"],
        ),
        (vec!["nowhere.csv"], vec!["nowhere.csv"]),
    ] {
        folder
            .run(&[&["correlate"], arguments.as_slice()].concat())
            .expect(2, &parts);
    }
    assert_eq!(folder.read("scores.csv"), SCORES);
}
