//! A simulated disk that keeps only what was synced, and of the rest whatever hurts.
//!
//! A crash keeps of every unsynced write any set of its 512-byte sectors, and of the unsynced creations, renames and
//! removals any subset. The power can be cut before any single operation, room can run out, an fsync can fail, bytes can
//! rot. Everything follows from seeds given by the test.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Disk, DiskFile};

const SECTOR_BYTES: usize = 512;

/// A simulated disk. Clones are the same disk.
#[derive(Clone, Default)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    names: BTreeMap<String, u64>,
    durable_names: BTreeMap<String, u64>,
    unsynced_names: Vec<NameChange>,
    files: HashMap<u64, Content>,
    next_file: u64,
    /// Operations that changed something or asked for it.
    operations: u64,
    cut_at: Option<u64>,
    capacity: Option<u64>,
    syncs_fail: bool,
    /// Counts crashes: handles opened before one are dead.
    life: u64,
}

#[derive(Default)]
struct Content {
    live: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Change>,
}

enum NameChange {
    Create(String, u64),
    Rename(String, String),
    Remove(String),
}

enum Change {
    Write(usize, Vec<u8>),
    Size(usize),
}

impl SimDisk {
    /// An empty disk without bound.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bounds the sum of all files' bytes; `None` takes the bound away.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state().capacity = bytes;
    }

    /// Bytes of all files.
    pub fn used(&self) -> u64 {
        self.state().used()
    }

    /// How many operations there were that change something: each is a place to cut at.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Cuts the power before operation number `operation`: it and everything later fails until [`Self::crash`].
    pub fn cut_at(&self, operation: u64) {
        self.state().cut_at = Some(operation);
    }

    /// Whether the power was cut.
    pub fn is_cut(&self) -> bool {
        let state = self.state();
        state.cut_at.is_some_and(|cut| state.operations >= cut)
    }

    /// From now on every fsync fails, and what it should have covered is lost with the next crash, or not.
    pub fn fail_syncs(&self, fail: bool) {
        self.state().syncs_fail = fail;
    }

    /// Crashes and starts again: all handles die, and `seed` decides what survives of what was not synced.
    pub fn crash(&self, seed: u64) {
        let mut chance = Chance(seed);
        let mut state = self.state();
        let changes = std::mem::take(&mut state.unsynced_names);
        let mode = chance.below(4);
        let mut names = std::mem::take(&mut state.durable_names);
        for change in changes {
            if survives(mode, &mut chance) {
                change.apply(&mut names);
            }
        }
        let mut ids: Vec<u64> = state.files.keys().copied().collect();
        ids.sort_unstable();
        for id in ids {
            if let Some(content) = state.files.get_mut(&id) {
                content.crash(&mut chance);
            }
        }
        state.names = names.clone();
        state.durable_names = names;
        let kept: Vec<u64> = state.names.values().copied().collect();
        state.files.retain(|id, _| kept.contains(id));
        state.cut_at = None;
        state.syncs_fail = false;
        state.life += 1;
    }

    /// Kills the process that uses the disk: all handles die, everything written stays, and what was not synced still is
    /// not.
    pub fn kill(&self) {
        let mut state = self.state();
        state.cut_at = None;
        state.syncs_fail = false;
        state.life += 1;
    }

    /// Inverts bits of the byte at `offset` of `name`, on the disk itself. False if there is no such byte.
    pub fn corrupt(&self, name: &str, offset: u64, bits: u8) -> bool {
        let mut state = self.state();
        let Some(id) = state.names.get(name).copied() else {
            return false;
        };
        let Some(content) = state.files.get_mut(&id) else {
            return false;
        };
        let mut found = false;
        for bytes in [&mut content.live, &mut content.durable] {
            if let Some(byte) = bytes.get_mut(offset as usize) {
                *byte ^= bits;
                found = true;
            }
        }
        found
    }

    /// The bytes of `name`.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state();
        state
            .names
            .get(name)
            .and_then(|id| state.files.get(id))
            .map(|content| content.live.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, id: u64, life: u64) -> Arc<dyn DiskFile> {
        Arc::new(SimFile {
            disk: self.clone(),
            id,
            life,
        })
    }
}

impl State {
    fn used(&self) -> u64 {
        self.names
            .values()
            .filter_map(|id| self.files.get(id))
            .map(|content| content.live.len() as u64)
            .sum()
    }

    fn alive(&self) -> io::Result<()> {
        match self.cut_at.is_some_and(|cut| self.operations >= cut) {
            true => Err(io::Error::other("the power is off")),
            false => Ok(()),
        }
    }

    /// Counts an operation, unless the power is off.
    fn operate(&mut self) -> io::Result<()> {
        self.alive()?;
        self.operations += 1;
        Ok(())
    }

    fn room_for(&self, bytes: u64) -> io::Result<()> {
        match self.capacity {
            Some(capacity) if self.used() + bytes > capacity => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    fn change_names(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.unsynced_names.push(change);
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<String, u64>) {
        match self {
            Self::Create(name, id) => {
                names.insert(name.clone(), *id);
            }
            Self::Rename(from, to) => {
                if let Some(id) = names.remove(from) {
                    names.insert(to.clone(), id);
                }
            }
            Self::Remove(name) => {
                names.remove(name);
            }
        }
    }
}

impl Content {
    fn sync(&mut self) {
        self.durable.clone_from(&self.live);
        self.unsynced.clear();
    }

    fn crash(&mut self, chance: &mut Chance) {
        let mode = chance.below(4);
        for change in std::mem::take(&mut self.unsynced) {
            match change {
                Change::Size(size) if survives(mode, chance) => self.durable.resize(size, 0),
                Change::Size(_) => {}
                Change::Write(offset, bytes) => {
                    for (sector, bytes) in sectors(offset, &bytes) {
                        if survives(mode, chance) {
                            write(&mut self.durable, sector, bytes);
                        }
                    }
                }
            }
        }
        self.live.clone_from(&self.durable);
    }
}

/// 0: nothing survives. 1: everything. Otherwise each piece by itself, mostly or rarely.
fn survives(mode: u64, chance: &mut Chance) -> bool {
    match mode {
        0 => false,
        1 => true,
        2 => chance.below(8) != 0,
        _ => chance.below(2) == 0,
    }
}

fn sectors(offset: usize, bytes: &[u8]) -> Vec<(usize, &[u8])> {
    let mut parts = Vec::new();
    let (mut offset, mut rest) = (offset, bytes);
    while !rest.is_empty() {
        let (part, after) = rest.split_at((SECTOR_BYTES - offset % SECTOR_BYTES).min(rest.len()));
        parts.push((offset, part));
        offset += part.len();
        rest = after;
    }
    parts
}

fn write(to: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if to.len() < end {
        to.resize(end, 0);
    }
    if let Some(place) = to.get_mut(offset..end) {
        place.copy_from_slice(bytes);
    }
}

impl Disk for SimDisk {
    fn names(&self) -> io::Result<Vec<String>> {
        let state = self.state();
        state.alive()?;
        Ok(state.names.keys().cloned().collect())
    }

    fn create(&self, name: &str, bytes: u64) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state();
        state.operate()?;
        state.room_for(bytes)?;
        let id = state.next_file;
        state.next_file += 1;
        let unsynced = vec![Change::Size(bytes as usize)];
        let content = Content {
            live: vec![0; bytes as usize],
            durable: Vec::new(),
            unsynced,
        };
        state.files.insert(id, content);
        state.change_names(NameChange::Create(name.to_owned(), id));
        let life = state.life;
        drop(state);
        Ok(self.file(id, life))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let state = self.state();
        state.alive()?;
        let id = *state.names.get(name).ok_or(io::ErrorKind::NotFound)?;
        let life = state.life;
        drop(state);
        Ok(self.file(id, life))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.state();
        state.operate()?;
        if !state.names.contains_key(from) {
            return Err(io::ErrorKind::NotFound.into());
        }
        state.change_names(NameChange::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.state();
        state.operate()?;
        if !state.names.contains_key(name) {
            return Err(io::ErrorKind::NotFound.into());
        }
        state.change_names(NameChange::Remove(name.to_owned()));
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut state = self.state();
        state.operate()?;
        if state.syncs_fail {
            return Err(io::Error::other("fsync of the directory failed"));
        }
        state.durable_names = state.names.clone();
        state.unsynced_names.clear();
        Ok(())
    }
}

struct SimFile {
    disk: SimDisk,
    id: u64,
    life: u64,
}

impl SimFile {
    fn with<T>(&self, use_it: impl FnOnce(&mut State, u64) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.disk.state();
        if state.life != self.life {
            return Err(io::Error::other("a handle from before the crash"));
        }
        use_it(&mut state, self.id)
    }
}

fn content(state: &mut State, id: u64) -> io::Result<&mut Content> {
    state
        .files
        .get_mut(&id)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

impl DiskFile for SimFile {
    fn size(&self) -> io::Result<u64> {
        self.with(|state, id| {
            state.alive()?;
            Ok(content(state, id)?.live.len() as u64)
        })
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.with(|state, id| {
            state.alive()?;
            let live = &content(state, id)?.live;
            let rest = live.get(offset as usize..).unwrap_or(&[]);
            let bytes = rest.get(..buffer.len()).unwrap_or(rest);
            if let Some(place) = buffer.get_mut(..bytes.len()) {
                place.copy_from_slice(bytes);
            }
            Ok(bytes.len())
        })
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.with(|state, id| {
            state.operate()?;
            let size = content(state, id)?.live.len();
            let grown = (offset as usize + bytes.len()).saturating_sub(size);
            if grown > 0 {
                state.room_for(grown as u64)?;
            }
            let content = content(state, id)?;
            write(&mut content.live, offset as usize, bytes);
            content
                .unsynced
                .push(Change::Write(offset as usize, bytes.to_vec()));
            Ok(())
        })
    }

    fn set_size(&self, bytes: u64) -> io::Result<()> {
        self.with(|state, id| {
            state.operate()?;
            let content = content(state, id)?;
            content.live.resize(bytes as usize, 0);
            content.unsynced.push(Change::Size(bytes as usize));
            Ok(())
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.with(|state, id| {
            state.operate()?;
            if state.syncs_fail {
                return Err(io::Error::other("fsync failed"));
            }
            content(state, id)?.sync();
            Ok(())
        })
    }
}

/// Chance that follows from a seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }
}
