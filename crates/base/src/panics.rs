//! Panics become messages. There should be none; if there is one, only the work that it happened in fails, with a message of
//! one line.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

thread_local! {
    /// The place of the thread's last panic.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Stops panics from being written to standard error as crashes, since [`guarded`] reports them. With `JUROR_PANICS` in the
/// environment they are written nevertheless, for finding the cause.
pub fn silence() {
    let loud = std::env::var_os("JUROR_PANICS").is_some();
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic: &PanicHookInfo| {
        let place = panic
            .location()
            .map(|place| format!("{}:{}", without_registry(place.file()), place.line()));
        // While a thread ends, its thread-local variables may be gone already.
        let _ = PLACE.try_with(|slot| *slot.borrow_mut() = place);
        if loud {
            usual(panic);
        }
    }));
}

/// For a file of another crate, the crate and the file, without the path of cargo's registry.
fn without_registry(file: &str) -> &str {
    let kept = file.split_once("/registry/src/");
    kept.and_then(|(_, rest)| rest.split_once('/'))
        .map_or(file, |(_, rest)| rest)
}

/// Runs `work`; a panic becomes its message, with the place in the code if that is known. Values that `work` changed must
/// not be used after a panic, which may have left them half changed.
///
/// # Errors
/// The panic's message.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let _ = PLACE.try_with(|slot| slot.borrow_mut().take());
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let what = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        let place = PLACE.try_with(|slot| slot.borrow_mut().take());
        // The place of a panic in a thread of the pool is known only in that thread.
        match place.ok().flatten() {
            Some(place) => format!("{what}, at {place}"),
            None => what.to_owned(),
        }
    })
}
