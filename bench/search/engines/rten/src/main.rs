//! The graph of plain operators, with weights packed at start and one thread.

use std::sync::Arc;

use anyhow::Context;
use common::Call;
use rten::{ModelOptions, RunOptions, ThreadPool};
use rten_tensor::{NdTensor, prelude::*};

fn main() -> anyhow::Result<()> {
    let call = Call::read()?;
    let mut options = ModelOptions::with_all_ops();
    options.prepack_weights(true);
    let model = options.load_file(&call.graph)?;
    let one = Arc::new(ThreadPool::with_num_threads(1));
    let inputs = ["ids", "at", "bias"].map(|name| model.node_id(name));
    let [ids, at, bias] = inputs;
    let (ids, at, bias) = (ids?, at?, bias?);
    let output = *model.output_ids().first().context("no output")?;
    call.measure(|batch| {
        let (rows, longest) = (batch.rows, batch.longest);
        // Whole numbers have 32 bits here.
        let narrow = |numbers: &[i64]| -> Vec<i32> { numbers.iter().map(|n| *n as i32).collect() };
        let tokens = NdTensor::from_data([rows, longest], narrow(&batch.ids));
        let places = NdTensor::from_data([longest], narrow(&batch.places()));
        let added = NdTensor::from_data([rows, 1, 1, longest], batch.bias());
        let inputs = vec![
            (ids, tokens.view().into()),
            (at, places.view().into()),
            (bias, added.view().into()),
        ];
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&one)));
        let [states] = model.run_n(inputs, [output], Some(options))?;
        let states: NdTensor<f32, 3> = states.try_into()?;
        Ok(states.to_vec())
    })
}
