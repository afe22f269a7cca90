use super::*;
use crate::runtime::Guided;
use juror_engine::engine::FinishReason;

fn answer(token: u32) -> ModelAnswer {
    ModelAnswer {
        completion: segment::completion(vec![token], Vec::new(), FinishReason::Stop),
        guided: Guided::default(),
        doubts: Some(vec![(1, 0.5)]),
        no_verdict: None,
    }
}

#[test]
fn a_damaged_answer_never_hides_the_one_that_replaced_it() {
    for _ in 0..16 {
        let folder = tempfile::tempdir().unwrap();
        let write = |token| {
            let cache = AnswerCache::open(folder.path(), "model".into(), CACHE_SIZE).unwrap();
            cache.put(&[1; 32], &answer(token));
        };
        write(1);
        let damaged = segments(folder.path()).unwrap().remove(0);
        let text = fs::read_to_string(&damaged).unwrap();
        fs::write(&damaged, text.replace("[1]", "[7]")).unwrap();
        // In the same second.
        write(2);
        let cache = AnswerCache::open(folder.path(), "model".into(), CACHE_SIZE).unwrap();
        assert_eq!(cache.get(&[1; 32]).unwrap().completion.tokens, [2]);
    }
}

#[test]
fn a_segment_that_is_removed_while_it_is_written_loses_nothing_that_follows() {
    let folder = tempfile::tempdir().unwrap();
    let cache = AnswerCache::open(folder.path(), "model".into(), CACHE_SIZE).unwrap();
    cache.put(&[1; 32], &answer(1));
    for path in segments(folder.path()).unwrap() {
        fs::remove_file(path).unwrap();
    }
    cache.put(&[2; 32], &answer(2));
    assert!(cache.get(&[1; 32]).is_none());
    assert_eq!(cache.get(&[2; 32]).unwrap().completion.tokens, [2]);
    cache.sync().unwrap();
    let another = AnswerCache::open(folder.path(), "model".into(), CACHE_SIZE).unwrap();
    assert_eq!(another.get(&[2; 32]).unwrap().completion.tokens, [2]);
}
