//! The graph of plain operators, optimised once for any batch.

use common::Call;
use tract_onnx::prelude::*;

fn main() -> anyhow::Result<()> {
    let call = Call::read()?;
    let model = tract_onnx::onnx()
        .model_for_path(&call.graph)?
        .into_optimized()?
        .into_runnable()?;
    call.measure(|batch| {
        let (rows, longest) = (batch.rows, batch.longest);
        let ids = Tensor::from_shape(&[rows, longest], &batch.ids)?;
        let places = Tensor::from_shape(&[longest], &batch.places())?;
        let bias = Tensor::from_shape(&[rows, 1, 1, longest], &batch.bias())?;
        let outputs = model.run(tvec!(ids.into(), places.into(), bias.into()))?;
        Ok(outputs[0].view().as_slice::<f32>()?.to_vec())
    })
}
