//! URLs: hosts, redirects, joining.

/// Scheme and authority of a URL.
pub fn origin(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let rest = &url[start..];
    &url[..start + rest.find(['/', '?', '#']).unwrap_or(rest.len())]
}

/// Host and port of a URL.
pub fn host(url: &str) -> &str {
    let origin = origin(url);
    let host = origin.find("://").map_or(origin, |at| &origin[at + 3..]);
    host.rsplit_once('@').map_or(host, |(_, host)| host)
}

/// A URL without its query, which may hold a signature.
pub fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url)
}

/// The target of a redirect; `None` if it is invalid or leads from an encrypted connection to a plain one.
pub(crate) fn join(url: &str, location: &str) -> Option<String> {
    let location = location.trim();
    let next = if location.starts_with("https://") || location.starts_with("http://") {
        location.to_owned()
    } else if let Some(rest) = location.strip_prefix("//") {
        format!("{}://{rest}", url.split_once("://")?.0)
    } else if location.starts_with('/') {
        format!("{}{location}", origin(url))
    } else {
        return None;
    };
    (next.starts_with("https://") || url.starts_with("http://")).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_are_followed_to_places_alone() {
        let url = "https://hub.example:8443/org/name?x=1";
        let to = |location: &str| join(url, location);
        assert_eq!(to("/a/b").unwrap(), "https://hub.example:8443/a/b");
        assert_eq!(to("//cdn/x").unwrap(), "https://cdn/x");
        assert_eq!(to("https://cdn/x?sig=1").unwrap(), "https://cdn/x?sig=1");
        for location in ["http://cdn/x", "a/b", "file:///etc/passwd", "", "?x"] {
            assert_eq!(to(location), None, "{location}");
        }
        assert!(join("http://hub/x", "http://cdn/y").is_some());
    }

    #[test]
    fn signatures_and_passwords_are_not_shown() {
        assert_eq!(
            without_query("https://cdn/x?Signature=1#y"),
            "https://cdn/x"
        );
        assert_eq!(origin("https://hub.example/hf/x?y"), "https://hub.example");
        assert_eq!(origin("http://127.0.0.1:80"), "http://127.0.0.1:80");
        assert_eq!(host("https://user:secret@hub:1/x"), "hub:1");
    }
}
