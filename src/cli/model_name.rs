//! Models as people name them: the address of a page on the hub is the model that it shows, and names that only an API knows are told.

const HOSTS: [&str; 3] = ["huggingface.co", "www.huggingface.co", "hf.co"];

/// What follows a model's name in the address of a page of one of its revisions.
const OF_REVISION: &str = "tree blob resolve raw commit commits";

/// First parts of addresses that no organisation has.
const NO_MODELS: &str =
    "datasets spaces models docs papers collections blog settings organizations posts";

/// Models that have no weights to load: the beginning of the name, the providers that routers put before it, and the API that has it.
const ONLY_APIS: &str = include_str!("api_only.tsv");

/// Whether a word is one of several with spaces between them.
pub(super) fn is_one_of(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

/// A model's name, where the user may give the address of its page: `org/name`, `org/name/FILE.gguf`, with `@revision`.
///
/// # Errors
/// Why the address of a page on the hub is no model's.
pub(super) fn parse(text: &str) -> Result<String, String> {
    let text = text.trim();
    let bare = text.strip_prefix("https://");
    let bare = bare.or(text.strip_prefix("http://"));
    let page = bare.unwrap_or(text).split_once('/');
    let Some((_, path)) =
        page.filter(|(host, _)| HOSTS.contains(&host.to_ascii_lowercase().as_str()))
    else {
        return Ok(text.to_owned());
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let parts = path.split('/').filter(|part| !part.is_empty());
    let parts: Vec<String> = parts
        .map(|part| part.replace("%2F", "/").replace("%2f", "/"))
        .collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let (organisation, name, rest) = match parts.as_slice() {
        [first, name, rest @ ..] if !is_one_of(NO_MODELS, first) => (first, name, rest),
        _ => {
            let why = "an address on the hub that is no model's: a model's page is https://huggingface.co/ORG/NAME";
            return Err(why.to_owned());
        }
    };
    // As Ollama and llama.cpp write it.
    if let Some((name, kind)) = name.split_once(':') {
        return Err(format!(
            "which file is {kind}? Name it, as {organisation}/{name}/FILE.gguf"
        ));
    }
    let model = format!("{organisation}/{name}");
    let (revision, file) = match rest {
        [kind, revision, file @ ..] if is_one_of(OF_REVISION, kind) => (*revision, file),
        // Its discussions and the like.
        _ => ("", &[][..]),
    };
    let at = match revision {
        "" | "main" => String::new(),
        revision => format!("@{revision}"),
    };
    let is_gguf = |file: &str| file.to_ascii_lowercase().ends_with(".gguf");
    match file.split_last() {
        Some((file, [])) if is_gguf(file) => Ok(format!("{model}/{file}{at}")),
        Some((file, folders)) if is_gguf(file) => Err(format!(
            "{file} lies in the folder {} of {model}, which no name of a model can say: download it, and name the file here",
            folders.join("/")
        )),
        _ => Ok(format!("{model}{at}")),
    }
}

/// What to do with the name of a model that only an API has; `None` for other names.
pub(super) fn only_an_api(name: &str) -> Option<String> {
    let (provider, model) = name.rsplit_once('/').unwrap_or(("", name));
    let provider = provider.rsplit('/').next().unwrap_or_default();
    let model_lower = model.to_ascii_lowercase();
    let mut rows = ONLY_APIS.lines().filter(|line| !line.starts_with('#'));
    let address = rows.find_map(|line| {
        let (beginning, rest) = line.split_once('\t')?;
        let (providers, address) = rest.split_once('\t')?;
        let is_known = provider.is_empty() || is_one_of(providers, provider);
        let rest = model_lower.strip_prefix(beginning)?;
        let ends = !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
        (is_known && ends).then_some(address)
    })?;
    Some(format!(
        "`{name}` has no weights that could run here: its maker's API answers for it. Ask that with `--endpoint {address} --model {model}`, \
         and its key in JUROR_ENDPOINT_KEY or --endpoint-key-file"
    ))
}

#[cfg(test)]
mod tests;
