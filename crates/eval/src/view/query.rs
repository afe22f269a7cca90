//! The query in a page's address, and addresses of pages.

use std::fmt::Write as _;

use crate::browse::{Filter, Kind, Sort, Truth, Within};
use juror_data::verdict::Status;

/// The default number of verdicts on a page.
const SIZE: usize = 20;

const MOST: usize = 100;

/// What a page is asked to show.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Query {
    pub(super) filter: Filter,
    pub(super) sort: Sort,
    pub(super) text: String,
    pub(super) within: Within,
    /// The page's number, from 1; for a search, the number of the page on which its first verdict would be.
    pub(super) page: usize,
    /// The place in the order from which a search continues, from 0.
    pub(super) at: usize,
    pub(super) size: usize,
}

/// Keys of an address, and what may stand there.
impl Query {
    /// Reads an address's keys and values.
    pub(super) fn parse(pairs: &[(String, String)]) -> Result<Self, String> {
        let mut query = Self {
            page: 1,
            size: SIZE,
            ..Self::default()
        };
        let filter = &mut query.filter;
        for (key, value) in pairs {
            let value = value.trim();
            if value.is_empty() {
                continue;
            }
            let wrong = || format!("`{key}` cannot be {value:?}");
            let truth = || Truth::from_name(value).map(Some).ok_or_else(wrong);
            match key.as_str() {
                "q" => value.clone_into(&mut query.text),
                "in" => query.within = Within::from_name(value).ok_or_else(wrong)?,
                "sort" => query.sort = Sort::from_name(value).ok_or_else(wrong)?,
                "status" => filter.status = Some(Status::from_name(value).ok_or_else(wrong)?),
                "process" => filter.process = truth()?,
                "outcome" => filter.outcome = truth()?,
                "overall" => filter.overall = truth()?,
                "rules" => filter.rules = truth()?,
                "subject" => filter.subject = Some(value.to_owned()),
                "kind" => {
                    let found = Kind::all().find(|kind| kind.name() == value);
                    filter.kind = Some(found.ok_or_else(wrong)?);
                }
                "trial" => filter.trial = Some(value.parse().map_err(|_| wrong())?),
                "from" => filter.from = Some(number(value).ok_or_else(wrong)?),
                "to" => filter.to = Some(number(value).ok_or_else(wrong)?),
                "page" => query.page = value.parse::<usize>().map_err(|_| wrong())?.max(1),
                "at" => query.at = value.parse().map_err(|_| wrong())?,
                "size" => query.size = value.parse::<usize>().map_err(|_| wrong())?.clamp(1, MOST),
                _ => return Err(format!("there is no `{key}` to be asked for")),
            }
        }
        Ok(query)
    }

    /// The values of the form's fields, by their names.
    pub(super) fn values(&self) -> Vec<(&'static str, String)> {
        // Named one by one, so that the compiler finds what is missing below.
        let &Filter {
            status,
            process,
            outcome,
            overall,
            rules,
            kind,
            trial,
            from,
            to,
            ref subject,
        } = &self.filter;
        let truth = |truth: Option<Truth>| truth.map(|truth| truth.name().to_owned());
        let number = |number: Option<f32>| number.map(|number| number.to_string());
        let within = (self.within != Within::default()).then(|| self.within.name().to_owned());
        let sort = (self.sort != Sort::default()).then(|| self.sort.name().to_owned());
        let all = [
            ("q", Some(self.text.clone())),
            ("in", within),
            ("status", status.map(|one| one.name().to_owned())),
            ("overall", truth(overall)),
            ("outcome", truth(outcome)),
            ("process", truth(process)),
            ("rules", truth(rules)),
            ("subject", subject.clone()),
            ("kind", kind.map(|kind| kind.name().to_owned())),
            ("trial", trial.map(|trial| trial.to_string())),
            ("from", number(from)),
            ("to", number(to)),
            ("sort", sort),
            ("size", (self.size != SIZE).then(|| self.size.to_string())),
        ];
        let given = all
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        given.filter(|(_, value)| !value.is_empty()).collect()
    }

    /// The address of another page of the same verdicts.
    pub(super) fn address(&self, more: &[(&str, usize)]) -> String {
        let mut address = String::from("/");
        let mut add = |key: &str, value: &str| {
            address.push(if address.contains('?') { '&' } else { '?' });
            address.push_str(key);
            address.push('=');
            for byte in value.bytes() {
                if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
                    address.push(byte as char);
                } else {
                    // Writing to a string does not fail.
                    let _ = write!(address, "%{byte:02X}");
                }
            }
        };
        for (key, value) in self.values() {
            add(key, &value);
        }
        for (key, value) in more {
            add(key, &value.to_string());
        }
        address
    }
}

fn number(text: &str) -> Option<f32> {
    text.parse().ok().filter(|number: &f32| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &[(&str, &str)]) -> Vec<(String, String)> {
        text.iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn addresses_lead_to_what_they_were_made_of() {
        let given = [
            ("q", "1 + \"ü\" & <b>"),
            ("in", "response"),
            ("status", "out_of_domain"),
            ("overall", "true"),
            ("outcome", "false"),
            ("process", "none"),
            ("rules", "true"),
            ("subject", "Math & more"),
            ("kind", "trials_disagree"),
            ("trial", "3"),
            ("from", "0.25"),
            ("to", "1"),
            ("sort", "least_sure"),
            ("size", "5"),
        ];
        let query = Query::parse(&pairs(&given)).unwrap();
        let expected: Vec<(&str, String)> = given
            .iter()
            .map(|(key, value)| (*key, (*value).to_owned()))
            .collect();
        assert_eq!(query.values(), expected);
        let address = query.address(&[("page", 7)]);
        assert!(
            address.starts_with("/?q=1%20%2B%20%22%C3%BC%22%20%26%20%3Cb%3E&in=response&"),
            "{address}"
        );
        assert!(address.ends_with("&size=5&page=7"), "{address}");
        assert_eq!(Query::parse(&[]).unwrap().address(&[]), "/");
    }

    #[test]
    fn what_cannot_be_asked_for_is_named() {
        for (key, value) in [
            ("status", "fine"),
            ("kind", "x"),
            ("trial", "-1"),
            ("from", "NaN"),
            ("page", "x"),
            ("of", "1"),
            ("sort", "SQL"),
        ] {
            let why = Query::parse(&pairs(&[(key, value)])).unwrap_err();
            assert!(why.contains(key), "{why}");
        }
        assert_eq!(
            Query::parse(&pairs(&[("size", "1000000"), ("page", "0")]))
                .unwrap()
                .size,
            MOST
        );
    }
}
