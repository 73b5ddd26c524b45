//! The BERT model that candle's makers wrote, from the same weights. The graph is not used.

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use common::Call;

fn main() -> anyhow::Result<()> {
    let call = Call::read()?;
    let device = Device::Cpu;
    let config: Config = serde_json::from_slice(&std::fs::read(call.model.join("config.json"))?)?;
    let weights = common::weights(&call.model)?;
    let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &device)?;
    let model = BertModel::load(weights, &config)?;
    call.measure(|batch| {
        let shape = (batch.rows, batch.longest);
        let ids = Tensor::from_slice(&batch.ids, shape, &device)?;
        let mask = Tensor::from_slice(&batch.mask, shape, &device)?;
        let states = model.forward(&ids, &ids.zeros_like()?, Some(&mask))?;
        Ok(states.flatten_all()?.to_vec1::<f32>()?)
    })
}
