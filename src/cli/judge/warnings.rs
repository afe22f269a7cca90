//! What a user must know of a run's verdicts before using them.

use crate::cli::say;
use juror_base::terminal::escaped;
use juror_data::verdict::Status;
use juror_judge::judge::{Session, Share, Summary};

/// Says whether judge and rules are at odds, or the judge says one thing to everything; and unless `quiet`, how many samples are
/// outside the judge's domain, which their verdicts and the exit code say too.
pub(super) fn print(session: &Session, summary: &Summary, quiet: bool) {
    let name = &session.model_name;
    let cache = session.model().and_then(|model| model.cache.as_ref());
    if let (Some(why), Some((folder, _))) = (&summary.cache_failure, cache) {
        say(&format!(
            "answers were not kept in the cache {}: {why}",
            folder.display()
        ));
    }
    let outside = summary.count(Status::OutOfDomain);
    let domain = session.text().and_then(|text| text.judge.domain.as_ref());
    if let (false, 1.., Some(domain)) = (quiet, outside, domain) {
        let (sure, steps) = match summary.not_sure {
            0 => (String::new(), ""),
            some => (
                format!(" ({some} of them where it is not sure)"),
                "; it is surer of a response with its steps, as `1 + 1 = 2. The answer is 2.`, than of an answer alone",
            ),
        };
        say(&format!(
            "{outside} of {} are outside what `{name}` knows{sure} ({}) and have no reward{steps}. Use --model with a larger judge for \
             them, or judge them anyway with --force-domain and another -o",
            summary.verdicts(),
            domain.description
        ));
    }
    if let (false, open @ 1..) = (quiet, summary.open) {
        say(&format!(
            "{open} of {} were not judged, for a fault that can pass: the same command asks them again, and no other",
            summary.verdicts()
        ));
    }
    if let (false, Some(first)) = (quiet, &summary.first_failure) {
        let (failed, all) = (summary.count(Status::Failed), summary.verdicts());
        say(&format!(
            "{failed} of {all} failed; one says: {}",
            escaped(first)
        ));
    }
    if !quiet && summary.rewards.0 > 0 && summary.rewards_only_wrong() {
        say(
            "WARNING: wrong results have the reward 0 and right ones none, as nothing is known of their process. Repeat it with --reward outcome \
             and another -o before you use these rewards",
        );
    }
    let right = |all: bool| if all { "right" } else { "wrong" };
    let one_thing = summary.says_one_thing();
    if summary.is_at_odds_with_rules() {
        let Share { count, known } = summary.agreement;
        let ids: Vec<String> = summary
            .disagreeing
            .iter()
            .map(|id| escaped(id).to_string())
            .collect();
        let one_thing = one_thing.map_or(String::new(), |all| {
            format!(" `{name}` finds every outcome {}.", right(all))
        });
        say(&format!(
            "WARNING: `{name}` and the rules agree on {count} of {known} outcomes only, so many verdicts are wrong, its or \
             theirs.{one_thing} Look at some of the others ({}) before you use these rewards; another --model may do better",
            ids.join(", ")
        ));
    } else if let (Some(all), false) = (one_thing, summary.is_compared_with_rules()) {
        say(&format!(
            "WARNING: `{name}` finds all {} outcomes {}, and the rules could not check that: if some are not, it does not tell them \
             apart. Compare it with labels (`juror eval`) before you use these rewards",
            summary.said.known,
            right(all)
        ));
    }
}
