//! A model's template is a program of strangers. Before it is compiled and rendered in this process, a child of the same program
//! compiles and renders it, within limits that the operating system holds. What ends the child is refused here.
//!
//! On Linux and macOS the child limits its own processor time, and on Linux its memory too (macOS does not hold such a limit); on Windows nothing but the wait
//! ends it. Fuel bounds what is rendered after that. A library that is part of another program has fuel alone.

use std::env;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{ChatOptions, ChatTemplate, on_a_stack_of_its_own};
use crate::text::TextError;

/// The argument that makes the program such a child; its limits follow.
const ARGUMENT: &str = "--render-chat-template";

/// Processor time of a child, in seconds; published templates take milliseconds.
const SECONDS: u64 = 3;

/// The child's address space, in bytes.
const MEMORY: u64 = 4 << 30;

/// How long a child is waited for.
const WAIT: Duration = Duration::from_mins(1);

/// Whether this program's `main` begins with [`child`].
static HAS_CHILDREN: AtomicBool = AtomicBool::new(false);

/// To be called first in `main`: where the program was started to try a template this does so, and returns how it ends.
pub fn child() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != ARGUMENT) {
        HAS_CHILDREN.store(true, Ordering::Relaxed);
        return None;
    }
    let mut number = || arguments.next()?.to_str()?.parse().ok();
    let (Some(seconds), Some(memory)) = (number(), number()) else {
        return Some(ExitCode::FAILURE);
    };
    limit(seconds, memory);
    if on_a_stack_of_its_own(|| ()).is_err() {
        return Some(ExitCode::FAILURE);
    }
    let mut source = String::new();
    if std::io::stdin().read_to_string(&mut source).is_ok()
        && let Ok(chat) = ChatTemplate::new("{}", Some(source))
    {
        // What it says, and whether it fails, is for the process that renders it.
        let system = ChatOptions {
            system_prompt: Some("Be kind.".into()),
            ..ChatOptions::default()
        };
        for options in [ChatOptions::default(), system] {
            let _ = chat.render("What is 2 + 2?", &options);
            let _ = chat.render_without_generation_prompt("What is 2 + 2?", &options);
        }
        for thinking in [true, false] {
            let options = ChatOptions {
                thinking: Some(thinking),
                ..ChatOptions::default()
            };
            let _ = chat.render("What is 2 + 2?", &options);
        }
        let user = json!({"role": "user", "content": "What is 2 + 2?"});
        let answer = json!({"role": "assistant", "content": "4"});
        let tool = json!({"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {}}}});
        for variables in [
            json!({"messages": [user, answer]}),
            json!({"messages": [user, answer, user]}),
            json!({"messages": [user], "tools": [tool]}),
        ] {
            let _ = chat.render_variables(&variables.to_string());
        }
    }
    Some(ExitCode::SUCCESS)
}

#[cfg(unix)]
fn limit(seconds: u64, memory: u64) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    for (resource, most) in [
        (Resource::Core, 0),
        (Resource::Cpu, seconds),
        (Resource::As, memory),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        // A system that has no such limit is waited for.
        let _ = setrlimit(resource, limit);
    }
}

#[cfg(not(unix))]
fn limit(_seconds: u64, _memory: u64) {}

/// Tries a template in a child, where the program can be one.
/// Errors: [`TextError::ChatTemplate`] for a template that ends it.
pub(super) fn check(source: &str) -> Result<(), TextError> {
    let program = env::current_exe().ok();
    let Some(program) = program.filter(|_| HAS_CHILDREN.load(Ordering::Relaxed)) else {
        return Ok(());
    };
    let mut child = Command::new(program);
    child.args([ARGUMENT, &SECONDS.to_string(), &MEMORY.to_string()]);
    check_in(child, source, WAIT)
}

fn check_in(mut command: Command, source: &str, wait: Duration) -> Result<(), TextError> {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // A program that was replaced while it runs starts no children.
    let Ok(mut child) = command.spawn() else {
        return Ok(());
    };
    if let Some(mut input) = child.stdin.take() {
        // A child that has ended reads nothing, which its status shows.
        let _ = input.write_all(source.as_bytes());
    }
    if ends_well(&mut child, wait) {
        return Ok(());
    }
    Err(TextError::ChatTemplate(format!(
        "rendering it takes more than {SECONDS} seconds or {} GiB, or breaks off, so it is not used; give another with --chat-template",
        MEMORY >> 30
    )))
}

/// Whether a child ends with success in this time; else it is ended.
fn ends_well(child: &mut Child, wait: Duration) -> bool {
    let until = Instant::now() + wait;
    let mut pause = Duration::from_millis(1);
    while Instant::now() < until {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => thread::sleep(pause),
            Err(_) => break,
        }
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    // It may have ended by now.
    let _ = child.kill();
    let _ = child.wait();
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_refused_whose_child_fails_or_does_not_end() {
        let check = |program: &str, argument: &str, milliseconds| {
            let mut command = Command::new(program);
            command.arg(argument);
            check_in(
                command,
                "{{ messages }}",
                Duration::from_millis(milliseconds),
            )
            .is_ok()
        };
        assert!(check("true", "", 30_000));
        assert!(!check("false", "", 30_000));
        assert!(!check("sleep", "60", 20));
        // Without such a program fuel has to do.
        assert!(check("no-such-program-anywhere", "", 20));
    }
}
