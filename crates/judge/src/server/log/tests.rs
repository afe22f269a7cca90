use std::sync::mpsc::channel;

use super::*;

#[test]
fn who_tells_never_waits_and_lost_lines_are_counted() {
    let (told, said) = channel();
    let (opens, closed) = channel::<()>();
    let write = move |line: &str| {
        // Stands still until it is opened.
        let _ = closed.recv();
        let _ = told.send(line.to_owned());
    };
    let log = RequestLog::start(write).unwrap();
    log.tell("first".to_owned());
    for at in 0..MOST_LINES + 10 {
        log.tell(at.to_string());
    }
    drop(opens);
    assert_eq!(said.recv().unwrap(), "first");
    let told = said.recv().unwrap();
    let lost: usize = told.split(' ').next().unwrap().parse().unwrap();
    // The first is taken at once or a little later.
    assert!((10..=11).contains(&lost), "{told}");
    let kept = MOST_LINES + 10 - lost;
    assert_eq!(said.iter().take(kept).count(), kept);
    log.tell("last".to_owned());
    assert_eq!(said.recv().unwrap(), "last");
}
