//! What a user must know of a run's verdicts before using them.

use crate::cli::say;
use crate::judge::{Session, Share, Summary};
use crate::terminal::escaped;
use crate::verdict::Status;

/// Says how many samples are outside the judge's domain, and whether judge and rules are at odds.
pub(super) fn print(session: &Session, summary: &Summary) {
    let name = &session.model_name;
    if let (Some(why), Some((folder, _))) = (&summary.cache_failure, &session.cache) {
        say(&format!(
            "answers were not kept in the cache {}: {why}",
            folder.display()
        ));
    }
    let outside = summary.count(Status::OutOfDomain);
    let domain = session
        .judge
        .as_ref()
        .and_then(|(_, text)| text.domain.as_ref());
    if let (1.., Some(domain)) = (outside, domain) {
        say(&format!(
            "{outside} of {} are outside what `{name}` knows ({}) and have no reward; use --model with a larger judge for them, \
             or judge them anyway with --force-domain and another -o",
            summary.verdicts(),
            domain.description
        ));
    }
    if summary.is_at_odds_with_rules() {
        let Share { count, known } = summary.agreement;
        let ids: Vec<String> = summary
            .disagreeing
            .iter()
            .map(|id| escaped(id).to_string())
            .collect();
        say(&format!(
            "WARNING: `{name}` and the rules agree on {count} of {known} outcomes only, so many verdicts are wrong, its or theirs. \
             Look at some of the others ({}) before you use these rewards; another --model may do better",
            ids.join(", ")
        ));
    }
}
