//! What a client of another server shares with the hub's: the certificates that it trusts, addresses, waits that servers ask for.

use std::path::Path;

use ureq::tls::RootCerts;

use crate::HubError;
use crate::client::read_certificates;
pub use crate::retry::retry_after;
pub use crate::url::{host, origin, without_query};

/// Certificates to trust instead of the built-in ones: those of the file that `SSL_CERT_FILE` names.
///
/// # Errors
/// For a file that cannot be read, or holds none.
pub fn certificates() -> Result<Option<RootCerts>, HubError> {
    let file = std::env::var_os("SSL_CERT_FILE").filter(|file| !file.is_empty());
    let roots = file.map(|file| read_certificates(Path::new(&file)));
    Ok(roots.transpose()?)
}
