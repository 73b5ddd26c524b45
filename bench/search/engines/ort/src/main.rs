//! The graph of fused operators. `ORT_DYLIB_PATH` says where the library of onnxruntime is.

use common::Call;
use ort::{session::Session, value::Tensor};

fn main() -> anyhow::Result<()> {
    let call = Call::read()?;
    let environment = ort::init_from(std::env::var("ORT_DYLIB_PATH")?)?.build()?;
    let mut session = Session::builder(&environment)?
        .with_intra_threads(1)
        .map_err(|error| anyhow::anyhow!("{error}"))?
        .commit_from_file(&call.graph)?;
    call.measure(|batch| {
        let shape = [batch.rows, batch.longest];
        let mask: Vec<i32> = batch.mask.iter().map(|mask| *mask as i32).collect();
        let outputs = session.run(ort::inputs![
            "ids" => Tensor::from_array((shape, batch.ids.clone()))?,
            "at" => Tensor::from_array(([batch.longest], batch.places()))?,
            "mask" => Tensor::from_array((shape, mask))?,
        ])?;
        let (_, states) = outputs[0].try_extract_tensor::<f32>()?;
        Ok(states.to_vec())
    })
}
