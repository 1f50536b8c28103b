//! `wasi:random`: what `HashMap::new` and friends need. A stream of SHA-256 blocks over a seed that is an argument, so
//! that a replay sees the same numbers. Does not ask the system for entropy.

use sha2::{Digest, Sha256};
use wasmtime::StoreContextMut;
use wasmtime::component::Linker;

use super::Guest;

/// Most bytes that one call gets.
const BYTES_MAX: u64 = 64 * 1024;

/// Random numbers of one instance.
pub(crate) struct Random {
    seed: [u8; 32],
    counter: u64,
    block: [u8; 32],
    used: usize,
}

impl Random {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Self {
            seed,
            counter: 0,
            block: [0; 32],
            used: 32,
        }
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.used >= self.block.len() {
                let hash = Sha256::new_with_prefix(self.seed).chain_update(self.counter.to_le_bytes());
                self.block = hash.finalize().into();
                self.counter += 1;
                self.used = 0;
            }
            *byte = self.block.get(self.used).copied().unwrap_or_default();
            self.used += 1;
        }
    }

    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

/// Defines the functions of one of the three interfaces, under the full `name` that the component imports.
pub(super) fn define(linker: &mut Linker<Guest>, name: &str, interface: &str) -> wasmtime::Result<()> {
    let mut instance = linker.instance(name)?;
    let (bytes, number) = match interface {
        "wasi:random/random" => ("get-random-bytes", "get-random-u64"),
        "wasi:random/insecure" => ("get-insecure-random-bytes", "get-insecure-random-u64"),
        _ => {
            return instance.func_wrap(
                "insecure-seed",
                |mut store: StoreContextMut<'_, Guest>, (): ()| {
                    let random = &mut store.data_mut().random;
                    Ok(((random.next_u64(), random.next_u64()),))
                },
            );
        }
    };
    instance.func_wrap(
        bytes,
        |mut store: StoreContextMut<'_, Guest>, (length,): (u64,)| {
            if length > BYTES_MAX {
                wasmtime::bail!("{length} random bytes at once are too many; the limit is {BYTES_MAX}");
            }
            let mut bytes = vec![0; usize::try_from(length)?];
            store.data_mut().random.fill(&mut bytes);
            Ok((bytes,))
        },
    )?;
    instance.func_wrap(number, |mut store: StoreContextMut<'_, Guest>, (): ()| {
        Ok((store.data_mut().random.next_u64(),))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_stream_however_it_is_cut() {
        let mut whole = [0; 100];
        Random::new([7; 32]).fill(&mut whole);
        let mut random = Random::new([7; 32]);
        let mut parts = [0; 100];
        let (head, tail) = parts.split_at_mut(33);
        random.fill(head);
        random.fill(tail);
        assert_eq!(whole, parts);
        let mut other = [0; 100];
        Random::new([8; 32]).fill(&mut other);
        assert_ne!(whole, other);
        assert_ne!(whole[..32], whole[32..64]);
    }
}
