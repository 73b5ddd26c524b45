//! Embeds the lines of a file on one thread and says what it cost.
//!
//! `embed_speed MODEL TEXTS float|eight-bit OUTPUT`: the output gets the vectors, one on a line.

use std::{
    error::Error,
    fs,
    io::{BufWriter, Write},
    path::Path,
};

use trawl_search::embed::{LocalModel, Precision};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, texts, precision, output] = arguments.as_slice() else {
        return Err("usage: embed_speed MODEL TEXTS float|eight-bit OUTPUT".into());
    };
    let precision = match precision.as_str() {
        "float" => Precision::Float,
        _ => Precision::EightBit,
    };
    let model = LocalModel::load(Path::new(model), precision)?;
    let text = fs::read_to_string(texts)?;
    let lines: Vec<&str> = text.lines().collect();
    let tokens: usize = lines.iter().map(|line| model.tokens(line)).sum();
    let before = cpu_seconds()?;
    let mut vectors = Vec::new();
    for batch in lines.chunks(256) {
        vectors.extend(model.embed(batch));
    }
    let seconds = cpu_seconds()? - before;
    let mut out = BufWriter::new(fs::File::create(output)?);
    for vector in vectors {
        let numbers: Vec<String> = vector.iter().map(ToString::to_string).collect();
        writeln!(out, "{}", numbers.join(" "))?;
    }
    println!("{tokens} {seconds}");
    Ok(())
}

/// Time this process has had on a processor, in user and kernel mode.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name in parentheses may hold spaces.
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let field = |n: usize| {
        rest.split_whitespace()
            .nth(n)
            .and_then(|text| text.parse::<f64>().ok())
    };
    let ticks = field(11).zip(field(12)).map(|(user, kernel)| user + kernel);
    Ok(ticks.ok_or("no times in /proc/self/stat")? / 100.0)
}
