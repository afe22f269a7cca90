//! The hub's environment variables: endpoint, cache folder, token, as its Python library reads them.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::Fault;

/// The hub's public address.
pub(crate) const PUBLIC_ENDPOINT: &str = "https://huggingface.co";
/// How long a connection may stay silent.
const PATIENCE: Duration = Duration::from_secs(30);

/// Settings of the hub and its cache.
#[derive(Clone)]
pub(crate) struct Settings {
    /// The hub's address without a slash at its end, `HF_ENDPOINT`.
    pub(crate) endpoint: String,
    /// The cache's folder, `HF_HUB_CACHE`, else `hub` in `HF_HOME`.
    pub(crate) cache: PathBuf,
    /// The access token, `HF_TOKEN` or from the token file that `hf auth login` writes.
    pub(crate) token: Option<String>,
    /// Whether nothing may be fetched, `HF_HUB_OFFLINE`.
    pub(crate) offline: bool,
    /// How long a connection may stay silent, `HF_HUB_DOWNLOAD_TIMEOUT` in seconds.
    pub(crate) patience: Duration,
    /// Certificates to trust instead of the built-in ones, `SSL_CERT_FILE`.
    pub(crate) certificates: Option<PathBuf>,
}

impl Settings {
    /// Reads environment variables. An empty one counts as unset.
    pub(crate) fn read(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, Fault> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| variable(name).and_then(|value| value.into_string().ok());
        let user = variable("HOME").map_or_else(std::env::home_dir, |home| Some(home.into()));
        let path = |name: &str| {
            let given = PathBuf::from(variable(name)?);
            Some(match (given.strip_prefix("~"), &user) {
                (Ok(rest), Some(user)) => user.join(rest),
                _ => given,
            })
        };
        let home = path("HF_HOME").or_else(|| {
            let caches = path("XDG_CACHE_HOME").or_else(|| Some(user.as_ref()?.join(".cache")))?;
            Some(caches.join("huggingface"))
        });
        let in_home = |name: &str| home.as_ref().map(|home| home.join(name));
        let cache = path("HF_HUB_CACHE")
            .or_else(|| path("HUGGINGFACE_HUB_CACHE"))
            .or_else(|| in_home("hub"))
            .ok_or(Fault::NoHome)?;
        let is_on = |name: &str| text(name).is_some_and(|text| is_true(&text));
        let mut token = text("HF_TOKEN").or_else(|| text("HUGGING_FACE_HUB_TOKEN"));
        let file = path("HF_TOKEN_PATH").or_else(|| in_home("token"));
        if let Some(file) = file.filter(|file| file.is_file())
            && token.is_none()
            && !is_on("HF_HUB_DISABLE_IMPLICIT_TOKEN")
        {
            let read = std::fs::read_to_string(&file);
            token = Some(read.map_err(|source| Fault::io(&file, source))?);
        }
        let token = token.map(|token| token.trim().to_owned());
        let offline = text("HF_HUB_OFFLINE").or_else(|| text("TRANSFORMERS_OFFLINE"));
        Ok(Self {
            endpoint: text("HF_ENDPOINT").map_or_else(
                || PUBLIC_ENDPOINT.into(),
                |url| url.trim().trim_end_matches('/').into(),
            ),
            cache,
            token: token.filter(|token| !token.is_empty()),
            offline: offline.is_some_and(|text| is_true(&text)),
            patience: text("HF_HUB_DOWNLOAD_TIMEOUT")
                .and_then(|seconds| seconds.trim().parse().ok())
                .filter(|seconds| *seconds > 0)
                .map_or(PATIENCE, Duration::from_secs),
            certificates: path("SSL_CERT_FILE"),
        })
    }
}

/// Hides the token, which must never reach a log.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("endpoint", &self.endpoint)
            .field("cache", &self.cache)
            .field("token", &self.token.as_ref().map(|_| "(hidden)"))
            .field("offline", &self.offline)
            .field("patience", &self.patience)
            .field("certificates", &self.certificates)
            .finish_non_exhaustive()
    }
}

/// Whether the hub's Python library takes the text as true.
fn is_true(text: &str) -> bool {
    ["1", "on", "yes", "true"]
        .iter()
        .any(|yes| text.trim().eq_ignore_ascii_case(yes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Settings {
        Settings::read(&|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        })
        .unwrap()
    }

    #[test]
    fn the_cache_is_where_other_programs_have_it() {
        let (home, old) = (("HF_HOME", "/f"), ("HUGGINGFACE_HUB_CACHE", "/old"));
        for (variables, cache) in [
            (&[("HOME", "/h")][..], "/h/.cache/huggingface/hub"),
            (
                &[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")],
                "/x/huggingface/hub",
            ),
            (&[("HOME", "/h"), ("HF_HOME", "~/f")], "/h/f/hub"),
            (&[home, old], "/old"),
            (&[("HF_HUB_CACHE", "/new"), home, old], "/new"),
            (&[("HF_HUB_CACHE", ""), home], "/f/hub"),
        ] {
            assert_eq!(read(variables).cache, PathBuf::from(cache));
        }
    }

    #[test]
    fn tokens_come_from_the_environment_or_a_file_and_are_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap();
        std::fs::write(folder.path().join("token"), "hf_of_file\n").unwrap();
        assert_eq!(read(&[("HF_HOME", home)]).token.unwrap(), "hf_of_file");
        let settings = read(&[("HF_HOME", home), ("HF_TOKEN", " hf_given ")]);
        assert_eq!(settings.token.as_deref(), Some("hf_given"));
        assert!(!format!("{settings:?}").contains("hf_given"));
        let refused = [("HF_HOME", home), ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")];
        assert_eq!(read(&refused).token, None);
        let elsewhere = folder.path().join("other");
        std::fs::write(&elsewhere, "hf_other").unwrap();
        let elsewhere = [
            ("HF_HOME", home),
            ("HF_TOKEN_PATH", elsewhere.to_str().unwrap()),
        ];
        assert_eq!(read(&elsewhere).token.unwrap(), "hf_other");
    }

    #[test]
    fn switches_and_addresses() {
        let home = ("HF_HOME", "/f");
        for (value, offline) in [
            ("1", true),
            ("on", true),
            ("TRUE", true),
            ("0", false),
            ("", false),
            ("no", false),
        ] {
            let read = read(&[home, ("HF_HUB_OFFLINE", value)]);
            assert_eq!(read.offline, offline, "{value}");
        }
        assert!(read(&[home, ("TRANSFORMERS_OFFLINE", "yes")]).offline);
        assert_eq!(read(&[home]).endpoint, PUBLIC_ENDPOINT);
        let other = [
            home,
            ("HF_ENDPOINT", "https://mirror/hf/"),
            ("HF_HUB_DOWNLOAD_TIMEOUT", "5"),
        ];
        assert_eq!(read(&other).endpoint, "https://mirror/hf");
        assert_eq!(read(&other).patience, Duration::from_secs(5));
    }
}
