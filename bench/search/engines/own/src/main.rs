//! Trawl's own model code, compiled from where it is. Instead of a graph it takes `float` or
//! `eight-bit`.

// Here only the half of it is used that embeds.
#[allow(dead_code, unused_imports, unreachable_pub)]
#[path = "../../../../../crates/search/src/embed/local/mod.rs"]
mod local;

use common::Call;

fn main() -> anyhow::Result<()> {
    let call = Call::read()?;
    let precision = if call.graph.as_os_str() == "float" {
        local::Precision::Float
    } else {
        local::Precision::EightBit
    };
    let model = local::LocalModel::load(&call.model, precision)?;
    call.measure_texts(|texts| Ok(model.embed(texts)))
}
