//! Prints the token ids of texts under a model's tokenizer, as `scripts/compare_llama_cpp.py` compares them:
//! `cargo run --example tokens -- MODEL <TEXTS`, a JSON string a line in, a JSON list a line out.

use std::error::Error;
use std::io::BufRead;

use juror_engine::text::tokenizer::Tokenizer;

fn main() -> Result<(), Box<dyn Error>> {
    let model = std::env::args().nth(1).ok_or("name a model")?;
    let source = juror_judge::catalog::resolve(&model)?;
    let tokenizer = Tokenizer::from_json(&source.read_text("tokenizer.json")?)?;
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        // What a text is in the middle of a prompt: nothing put before it.
        println!("{:?}", tokenizer.encode_trusted(&text)?);
    }
    Ok(())
}
