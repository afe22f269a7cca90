//! Accepts connections. A client has to send its request and to take its answer without long pauses, and may be idle between two
//! requests for a while; while it waits for an answer nothing is asked of it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt as _;

/// How long a client may take for the head of a request, and be idle before it.
const HEAD: Duration = Duration::from_secs(75);

/// How long a client may take nothing of its answer.
const STALLED: Duration = Duration::from_mins(1);

/// Connections at a time; more wait to be accepted.
const MOST_CONNECTIONS: usize = 16_384;

/// A pause where the system has no descriptor for one more connection.
const NO_DESCRIPTOR: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) SocketAddr);

pub(super) struct Connections {
    accepting: JoinHandle<GracefulShutdown>,
    close: watch::Sender<bool>,
}

impl Connections {
    pub(super) fn accept(listener: TcpListener, router: Router) -> Self {
        let (close, mut closed) = watch::channel(false);
        let accepting = tokio::spawn(async move {
            let graceful = GracefulShutdown::new();
            let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
            loop {
                let accepted = tokio::select! {
                    accepted = async {
                        let place = Arc::clone(&places).acquire_owned().await;
                        (place, listener.accept().await)
                    } => accepted,
                    _ = closed.changed() => break,
                };
                match accepted {
                    (Ok(place), Ok((stream, peer))) => {
                        let connection = graceful.watcher();
                        let router = router.clone();
                        tokio::spawn(async move {
                            serve(stream, peer, router, connection).await;
                            drop(place);
                        });
                    }
                    // Its client has gone already, or there is no descriptor left.
                    _ => tokio::time::sleep(NO_DESCRIPTOR).await,
                }
            }
            graceful
        });
        Self { accepting, close }
    }

    /// Accepts no more, and gives clients so long to take the answers that are there.
    pub(super) async fn close(self, patience: Duration) {
        let _ = self.close.send(true);
        if let Ok(graceful) = self.accepting.await {
            let _ = tokio::time::timeout(patience, graceful.shutdown()).await;
        }
    }
}

async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    connection: hyper_util::server::graceful::Watcher,
) {
    // A small answer goes out at once.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(STALLED));
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(Peer(peer));
        router.clone().oneshot(request)
    });
    let http = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    // A connection that breaks is the client's to open again.
    let _ = connection.watch(http).await;
}

/// Lets the process have as many open files, and so connections, as the system allows it.
pub(super) fn raise_open_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        // Where it is refused, the limit stays as it is.
        let _ = setrlimit(
            Resource::Nofile,
            Rlimit {
                current: limit.maximum,
                maximum: limit.maximum,
            },
        );
    }
}
