//! What takes longest of the inputs that nobody should write: to be run in a release build on a quiet core.
//!
//! ```sh
//! cargo run --release -p juror-rules --example hostile_inputs -- 50
//! ```
//!
//! Prints each verification that takes at least so many milliseconds of processor time as the first argument says (50 without one), the
//! least of three runs, then how many there were and the longest. A second argument names a profile (strict, compat, both), a third a
//! part of the names of the inputs to try. Where `/proc` does not tell the processor time of a thread it is an error.

use std::error::Error;

use juror_rules::{Config, Profile, Verifier};

#[path = "../tests/common/hostile.rs"]
mod hostile;

/// The processor time of this thread in milliseconds: other processes do not count.
fn processor_time() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds: f64 = text.split(' ').next().unwrap_or("").parse()?;
    Ok(nanoseconds / 1e6)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let limit: f64 = arguments.next().as_deref().unwrap_or("50").parse()?;
    let profiles = match arguments.next().as_deref() {
        None | Some("both") => vec![Profile::Strict, Profile::Compat],
        Some("strict") => vec![Profile::Strict],
        Some("compat") => vec![Profile::Compat],
        Some(other) => return Err(format!("no profile `{other}`: strict, compat or both").into()),
    };
    let part = arguments.next().unwrap_or_default();
    let all = hostile::inputs()
        .into_iter()
        .chain(hostile::numbers())
        .chain(hostile::derivations());
    let (mut tried, mut over, mut longest) = (0, 0, 0.0_f64);
    for (name, text) in all.filter(|(name, _)| name.contains(&part)) {
        let pairs = [
            ("itself", text.as_str(), text.clone()),
            ("as a gold", text.as_str(), "5".to_owned()),
            ("as a response", "5", text.clone()),
            ("announced", "5", format!("The final answer is {text}")),
            ("boxed", text.as_str(), format!(r"\boxed{{{text}}}")),
            ("less one", text.as_str(), format!("{text}1")),
        ];
        for profile in &profiles {
            let verifier = Verifier::new(*profile, Config::default());
            for (how, gold, pred) in &pairs {
                let mut least = f64::MAX;
                for _ in 0..3 {
                    let from = processor_time()?;
                    verifier.verify(gold, pred);
                    least = least.min(processor_time()? - from);
                    if least < limit {
                        break;
                    }
                }
                tried += 1;
                longest = longest.max(least);
                if least >= limit {
                    over += 1;
                    println!("{least:7.1} ms  {profile:?}  {how}  {name}");
                }
            }
        }
    }
    println!(
        "{over} of {tried} verifications take {limit} ms or more, the longest {longest:.1} ms"
    );
    Ok(())
}
