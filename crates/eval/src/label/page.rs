//! The queue in a browser, for this machine alone (`juror label --page`).

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::extract::{Form, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Said, Session, Shown};
use crate::report::page::{STYLE, render};
use crate::report::record::{Answers, Article, Judgement, Text};
use crate::view::VIEW_STYLE;
use crate::{EvalError, Result};
use juror_base::threads::lock;
use juror_data::Sample;
use juror_judge::server::{ServerError, asset, serve_pages};

pub(crate) const TEMPLATES: [(&str, &str); 1] = [("label.html", include_str!("label.html"))];

const SCRIPT: &str = include_str!("label.js");

/// The state that all requests share.
struct App {
    state: Mutex<QueueProgress>,
    show_verdict: bool,
    /// A token in the forms of our own pages, which other pages do not know.
    token: String,
}

pub struct QueueProgress {
    session: Session,
    /// The last label, with its sample.
    last: Option<(Sample, Said)>,
}

#[derive(Debug, Deserialize)]
struct Given {
    token: String,
    key: String,
    #[serde(default)]
    note: String,
    /// The number of steps taken when the form was made, so that a form sent twice has no further effect. It also tells which sample the form is for; the
    /// sample's id would not come back unchanged, since browsers change line breaks in a field.
    step: usize,
}

/// Serves the queue until `interrupted` is set. Returns how many samples are then labelled, and how many are asked for.
pub fn serve(
    session: Session,
    show_verdict: bool,
    port: u16,
    interrupted: &AtomicBool,
    listening: &mut dyn FnMut(SocketAddr),
) -> Result<(usize, usize), ServerError> {
    let mut secret = [0; 16];
    SystemRandom::new().fill(&mut secret).map_err(|_| {
        ServerError::Start(std::io::Error::other("the system gives no random numbers"))
    })?;
    let last = None;
    let app = Arc::new(App {
        state: Mutex::new(QueueProgress { session, last }),
        show_verdict,
        token: blake3::hash(&secret).to_hex().to_string(),
    });
    let router = Router::new()
        .route("/", get(ask))
        .route("/", post(take))
        .route("/style.css", asset("text/css", STYLE))
        .route("/view.css", asset("text/css", VIEW_STYLE))
        .route("/label.js", asset("text/javascript", SCRIPT))
        .with_state(Arc::clone(&app));
    serve_pages(port, router, interrupted, listening)?;
    let progress = app.state().session.progress();
    Ok(progress)
}

impl App {
    fn state(&self) -> MutexGuard<'_, QueueProgress> {
        lock(&self.state)
    }
}

/// Runs work that waits for the disk where it blocks no other request.
async fn blocking(work: impl FnOnce() -> Response + Send + 'static) -> Response {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

async fn ask(State(app): State<Arc<App>>) -> Response {
    blocking(move || match page(&app) {
        Ok(page) => Html(page).into_response(),
        Err(why) => (StatusCode::INTERNAL_SERVER_ERROR, why).into_response(),
    })
    .await
}

async fn take(State(app): State<Arc<App>>, Form(given): Form<Given>) -> Response {
    blocking(move || {
        if given.token != app.token {
            let why = "this form is of another page: open the address that was printed\n";
            return (StatusCode::FORBIDDEN, why).into_response();
        }
        match act(&mut app.state(), &given) {
            Ok(true) => Redirect::to("/").into_response(),
            Ok(false) => (StatusCode::BAD_REQUEST, "there is no such key\n").into_response(),
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        }
    })
    .await
}

/// Does what a form asks; `false` for an unknown key.
fn act(progress: &mut QueueProgress, given: &Given) -> Result<bool> {
    let mut letters = given.key.chars();
    let (Some(key), None) = (letters.next(), letters.next()) else {
        return Ok(false);
    };
    let said = Said::of_key(key);
    if said.is_none() && !matches!(key, 's' | 'u') {
        return Ok(false);
    }
    // If the form is outdated, its sample was labelled in another window, or by this form.
    if given.step != progress.session.steps() {
        return Ok(true);
    }
    if key == 'u' {
        progress.session.undo()?;
        progress.last = None;
        return Ok(true);
    }
    let Some(sample) = progress.session.current()? else {
        return Ok(true);
    };
    if let Some(said) = said {
        let note = Some(given.note.clone());
        progress.session.label(&sample, said, note)?;
        progress.last = Some((sample, said));
    } else {
        progress.session.skip();
        progress.last = None;
    }
    Ok(true)
}

fn page(app: &App) -> Result<String, String> {
    let progress = app.state();
    let session = &progress.session;
    let failed = |error: EvalError| error.to_string();
    let sample = session.current().map_err(failed)?;
    let html = |record: Article| record.html().map_err(|error| format!("{error:#}"));
    let asked = sample.as_ref().map(|sample| {
        let shown = app.show_verdict.then(|| session.verdicts(&sample.id));
        let shown = shown.transpose().map_err(failed)?.unwrap_or_default();
        let text = |text: &str| (!text.is_empty()).then(|| Text::whole(text));
        let html = html(Article {
            anchor: "asked".to_owned(),
            folds: true,
            question: text(&sample.question),
            reference: text(&sample.reference_answer),
            response: text(&sample.student_answer),
            ..verdicts(sample, &shown)
        })?;
        Ok::<Value, String>(json!({"article": html}))
    });
    // The verdicts on the last sample, without its texts: those of the next one are to be in sight.
    let last = progress.last.as_ref().map(|(sample, said)| {
        let shown = session.verdicts(&sample.id).map_err(failed)?;
        let html = html(Article {
            anchor: "last".to_owned(),
            label: Some(Answers {
                process: said.process(),
                outcome: Some(said.outcome()),
                overall: Some(said.overall()),
            }),
            ..verdicts(sample, &shown)
        })?;
        let reasons = session.reasons(sample).words().join(", ");
        Ok::<Value, String>(json!({"article": html, "said": said.words(), "reasons": reasons}))
    });
    let (done, all) = session.progress();
    let keys = Said::ALL.map(|said| json!({"key": said.key().to_string(), "words": said.words()}));
    let values = json!({
        "done": done, "all": all, "step": session.steps(), "skipped": session.skipped(), "token": app.token, "keys": keys,
        "asked": asked.transpose()?, "last": last.transpose()?,
    });
    render("label.html", values).map_err(|error| format!("{error:#}"))
}

/// The judges' verdicts on a sample, open.
fn verdicts(sample: &Sample, shown: &[Shown]) -> Article {
    let judgement = |shown: &Shown| {
        let reason = shown.verdict.get("reason").and_then(Value::as_str);
        Judgement {
            reason: reason.filter(|reason| !reason.is_empty()).map(Text::whole),
            ..Judgement::new(&shown.judge, &shown.scored)
        }
    };
    Article {
        id: sample.id.clone(),
        rules: shown.iter().find_map(|shown| shown.scored.rules),
        judgements: shown.iter().map(judgement).collect(),
        open: true,
        ..Article::default()
    }
}
