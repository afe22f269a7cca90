use serde_json::json;

use super::*;

#[test]
fn the_type_of_a_kept_key_holds_all_its_values() {
    let kind = |values: &[Value]| {
        let with = |known, value| Some(CellKind::with(known, value));
        values.iter().fold(None, with).unwrap()
    };
    assert_eq!(kind(&[json!(1), json!(0.5), json!(2)]), CellKind::Number);
    assert_eq!(kind(&[json!(0.5), json!(1)]), CellKind::Number);
    assert_eq!(kind(&[json!(1), json!(2)]), CellKind::Integer);
    assert_eq!(kind(&[json!(1), json!(0.5), json!("x")]), CellKind::Text);
    assert_eq!(kind(&[json!(true), json!(1), json!(0.5)]), CellKind::Text);
    // An integer is written as its number.
    let (folder, columns) = (tempfile::tempdir().unwrap(), ["n".to_owned()]);
    let columns: Vec<Column> = Column::kept(&columns).collect();
    let path = folder.path().join("t.parquet");
    let mut file = File::create(&path).unwrap();
    let fill = |writer: &mut dyn Write| {
        writer.write_all(b"{\"input\":{\"n\":1}}\n{\"input\":{\"n\":0.5}}\n")
    };
    write_parquet(&mut file, &tempfile::tempfile, &columns, fill).unwrap();
    let rows = parquet::file::reader::SerializedFileReader::new(File::open(&path).unwrap());
    let rows: Vec<String> = rows
        .unwrap()
        .into_iter()
        .map(|row| row.unwrap().to_json_value().to_string())
        .collect();
    assert_eq!(rows, ["{\"input.n\":1.0}", "{\"input.n\":0.5}"]);
}
