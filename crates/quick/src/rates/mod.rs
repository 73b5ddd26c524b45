//! How many requests a minute: a sliding window for each owner. All servers count together in Redis; each
//! counts by itself as well, so that a Redis that is away or has forgotten everything never means that
//! nobody counts.
//!
//! * `window`: the counting
//! * `here`: in this process, bounded in memory

mod here;
mod window;

use std::{
    sync::LazyLock,
    time::{SystemTime, UNIX_EPOCH},
};

use redis::Script;
use sha2::{Digest, Sha256};

use crate::{
    Quick,
    link::{Away, Link},
};
pub(crate) use here::Rates;
use window::WINDOW;

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub left: u32,
    pub reset_seconds: u64,
    /// How long to wait, where there were too many.
    pub wait_seconds: Option<u64>,
}

impl Rate {
    /// `used` of the allowance were used before; `into` the window, in seconds.
    fn of(used: u64, allowance: u32, into: u64) -> Self {
        let reset_seconds = WINDOW - into.min(WINDOW - 1);
        let too_many = used >= u64::from(allowance);
        Self {
            left: u64::from(allowance).saturating_sub(used + 1) as u32,
            reset_seconds,
            wait_seconds: too_many.then_some(reset_seconds),
        }
    }

    pub fn is_refused(&self) -> bool {
        self.wait_seconds.is_some()
    }
}

/// The same counting as in `window`, by Redis' clock. One key for each owner, which forgets itself.
static COUNT: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
local time = tonumber(redis.call('TIME')[1])
local window, into = math.floor(time / 60), time % 60
local kept = redis.call('HMGET', KEYS[1], 'window', 'now', 'before')
local last, now, before = tonumber(kept[1]) or -2, tonumber(kept[2]) or 0, tonumber(kept[3]) or 0
if last ~= window then
  if last + 1 == window then before = now else before = 0 end
  now = 0
end
local used = math.floor(before * (60 - into) / 60) + now
if used < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[1], 'window', window, 'now', now + 1, 'before', before)
  redis.call('EXPIRE', KEYS[1], 120)
end
return {used, into}",
    )
});

impl Quick {
    /// Counts a request unless there were too many in the last minute, on all servers together. Never
    /// fails, and never lets more through than the allowance on this server alone.
    pub async fn take(&self, owner: &str, allowance: u32) -> Rate {
        let here = self.0.rates.take(owner, allowance, seconds());
        if here.is_refused() {
            return here;
        }
        let Some(link) = self.link() else { return here };
        match together(link, owner, allowance).await {
            Err(Away) => here,
            Ok(rate) => {
                if rate.is_refused() {
                    self.0.rates.take_back(owner);
                }
                rate
            }
        }
    }
}

async fn together(link: &Link, owner: &str, allowance: u32) -> Result<Rate, Away> {
    // Owners are addresses, too: Redis need not know them.
    let key = link.key(&format!("rate:{}", short_hash(owner)));
    let counted: (u64, u64) = link
        .within(|mut connection| async move {
            let mut call = COUNT.key(key);
            call.arg(allowance).invoke_async(&mut connection).await
        })
        .await?;
    Ok(Rate::of(counted.0, allowance, counted.1))
}

/// 128 bits of SHA-256, as hexadecimal digits.
pub(crate) fn short_hash(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let mut bits = [0; 16];
    bits.copy_from_slice(&hash[..16]);
    format!("{:032x}", u128::from_be_bytes(bits))
}

fn seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}
