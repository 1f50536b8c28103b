//! Test guests: components written as text, with a real allocator and the real interface types.
//!
//! A [`Guest`] is a body for `handle` (and `init`), data in its memory and a manifest; [`Output`] lays a whole answer out
//! in that memory, so that a test can return anything, allowed or not.
#![allow(dead_code, clippy::unwrap_used)] // each test file uses a part; a failure is the test's

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tidegate_codec::{QoS, TopicFilter, TopicName};
use tidegate_rules::{
    Batch, Engine, EngineSettings, Failure, Grants, Instance, InstanceSettings, Level, LogLine, MessageView,
    Outcome, PayloadKind, Projection, RuleError, RuleModule, SinkIndex,
};

/// Where an [`Output`] lies in the guest's memory. The heap begins behind it.
const OUTPUT_AT: u32 = 1024;
const HEAP_AT: u32 = 64 * 1024;

/// A component to be.
#[derive(Clone)]
pub struct Guest {
    pub manifest: String,
    /// Body of `handle(index, words, arena, bytes) -> i32`, the address of a result.
    pub handle: String,
    /// Body of `init() -> i32`, the address of a result.
    pub init: Option<String>,
    /// More core functions.
    pub functions: String,
    /// Component imports, and the core instance `$host` that the core module sees as `host`.
    pub imports: String,
    /// What the core module imports from `host`.
    pub core_imports: String,
    pub data: Vec<(u32, Vec<u8>)>,
}

impl Guest {
    /// A guest with this body for `handle`.
    pub fn new(handle: &str) -> Self {
        Self {
            manifest: "name = \"guest\"\nversion = \"1.0.0\"\nsinks = [\"rows\", \"events\"]\n\
                       publish = [\"alarms/#\"]\n[limits]\nmemory = \"4MiB\"\ndeadline = \"20ms\"\n\
                       [config]\nunit = \"celsius\"\n"
                .to_owned(),
            handle: handle.to_owned(),
            init: None,
            functions: String::new(),
            imports: "(core instance $host)".to_owned(),
            core_imports: String::new(),
            data: Vec::new(),
        }
    }

    /// A guest that answers every call with `output`.
    pub fn answering(output: &Output) -> Self {
        let mut guest = Self::new(&format!("i32.const {OUTPUT_AT}"));
        guest.data.push((OUTPUT_AT, output.lay_out()));
        guest
    }

    /// A guest that does what the first byte of a payload says, and lets all other messages pass.
    pub fn obeying() -> Self {
        let mut guest = Self::new(OBEY);
        guest.functions = FUNCTIONS.to_owned();
        guest.data = vec![(OUTPUT_AT, vec![0; 28]), (2048, b"bad message".to_vec())];
        guest
    }

    /// Zeroes where an answer begins: `ok` with three empty lists.
    pub fn with_answer(mut self) -> Self {
        self.data.push((OUTPUT_AT, vec![0; 28]));
        self
    }

    pub fn text(&self) -> String {
        let data: String = self
            .data
            .iter()
            .map(|(at, bytes)| format!("(data (i32.const {at}) {})\n", quote(bytes)))
            .collect();
        let init = self.init.as_ref().map_or(String::new(), |body| {
            format!("(func (export \"init\") (result i32) {body})")
        });
        let init_export = if self.init.is_some() { INIT_EXPORT } else { "" };
        format!(
            r#"(component
  (@custom "tidegate:manifest" {manifest})
  {LIBC}
  {imports}
  (core module $guest
    (import "libc" "memory" (memory 1))
    (import "libc" "reset" (func $reset))
    {core_imports}
    {data}
    {functions}
    (func (export "post") (param i32) (call $reset))
    (func (export "handle") (param $index i32) (param $words i32) (param $arena i32) (param $bytes i32) (result i32)
      (local $at i32) (local $end i32) (local $byte i32)
      {handle})
    {init})
  (core instance $m (instantiate $guest (with "libc" (instance $libc)) (with "host" (instance $host))))
  {HANDLER_EXPORT}
  {init_export})"#,
            manifest = quote(self.manifest.as_bytes()),
            imports = self.imports,
            core_imports = self.core_imports,
            functions = self.functions,
            handle = self.handle,
        )
    }

    pub fn wasm(&self) -> Vec<u8> {
        let text = self.text();
        wat::parse_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    pub fn load(&self) -> Arc<RuleModule> {
        engine().load(&self.wasm()).unwrap()
    }

    /// An instance with the usual grants.
    pub fn instance(&self) -> Instance {
        Instance::new(&self.load(), settings()).unwrap()
    }
}

/// One engine for all tests of a file: its address space is not small.
pub fn engine() -> &'static Engine {
    static ENGINE: std::sync::OnceLock<Engine> = std::sync::OnceLock::new();
    ENGINE.get_or_init(|| {
        Engine::new(EngineSettings {
            instances_max: 32,
            ..EngineSettings::default()
        })
        .unwrap()
    })
}

/// Rule `clean`, which is granted the sink `events` (not `rows`) and topics one level below `alarms`.
pub fn settings() -> InstanceSettings {
    InstanceSettings {
        rule_name: "clean".to_owned(),
        grants: Grants {
            publish: vec![TopicFilter::new("alarms/+").unwrap()],
            sinks: vec![("events".to_owned(), SinkIndex(7))],
        },
        config: BTreeMap::new(),
        log_level: Level::Debug,
        log: Arc::new(|_| {}),
        seed: [1; 32],
        now_ms: 1_000,
    }
}

/// Settings whose log lines are kept.
pub fn logged_settings() -> (InstanceSettings, Arc<Mutex<Vec<LogLine>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    (
        InstanceSettings {
            log: Arc::new(move |line| sink.lock().unwrap().push(line)),
            ..settings()
        },
        lines,
    )
}

/// A batch of messages to topic `plant/a` with these payloads, received at 2 s.
pub fn batch(payloads: &[&[u8]]) -> Batch {
    let topic = TopicName::new("plant/a").unwrap();
    let mut batch = Batch::new();
    let projection = Projection {
        payload: PayloadKind::Bytes,
        ..Projection::default()
    };
    for (payload, client) in payloads.iter().zip(1..) {
        let view = MessageView {
            topic: &topic,
            payload,
            qos: QoS::AtLeastOnce,
            retain: false,
            client,
            received_ms: 2_000,
            client_id: "meter",
            username: "",
            properties: &[],
        };
        batch.push(&view, &projection).unwrap();
    }
    batch
}

/// What an answering guest makes of `messages` messages.
pub fn answer(output: &Output, messages: usize) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::new();
    let payloads = vec![&b"21.5"[..]; messages];
    Guest::answering(output)
        .instance()
        .handle(&batch(&payloads), &mut outcome)
        .map(|()| outcome)
}

/// Why `guest` does not load.
pub fn load_error(guest: &Guest) -> RuleError {
    engine().load(&guest.wasm()).unwrap_err()
}

/// A whole answer of `handle`.
#[derive(Clone, Default)]
pub struct Output {
    pub codes: Vec<u8>,
    pub effects: Vec<[u32; 12]>,
    pub arena: Vec<u8>,
}

impl Output {
    pub fn codes(codes: &[u8]) -> Self {
        Self {
            codes: codes.to_vec(),
            ..Self::default()
        }
    }

    /// Appends bytes to the arena and tells where they lie.
    pub fn put(&mut self, bytes: &[u8]) -> [u32; 2] {
        let offset = self.arena.len() as u32;
        self.arena.extend_from_slice(bytes);
        [offset, bytes.len() as u32]
    }

    pub fn effect(&mut self, effect: Words) -> &mut Self {
        let Words {
            kind,
            message,
            target,
            flags,
            topic,
            key,
            body,
            headers,
        } = effect;
        let parts = [topic, key, body, headers].concat();
        self.effects.push(
            [kind, message, target, flags]
                .into_iter()
                .chain(parts)
                .collect::<Vec<_>>()
                .try_into()
                .unwrap(),
        );
        self
    }

    /// `result<outcome, failure>::ok` as the canonical ABI has it, and the lists behind it.
    fn lay_out(&self) -> Vec<u8> {
        let words: Vec<u8> = self
            .effects
            .iter()
            .flatten()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let effects_at = OUTPUT_AT + 32;
        let codes_at = effects_at + words.len() as u32;
        let arena_at = codes_at + self.codes.len() as u32;
        let head = [
            0,
            codes_at,
            self.codes.len() as u32,
            effects_at,
            self.effects.len() as u32 * 12,
            arena_at,
            self.arena.len() as u32,
            0,
        ];
        let mut bytes: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(words);
        bytes.extend(&self.codes);
        bytes.extend(&self.arena);
        assert!(bytes.len() < (HEAP_AT - OUTPUT_AT) as usize);
        bytes
    }
}

/// One effect's words.
#[derive(Clone, Copy, Default)]
pub struct Words {
    pub kind: u32,
    pub message: u32,
    pub target: u32,
    pub flags: u32,
    pub topic: [u32; 2],
    pub key: [u32; 2],
    pub body: [u32; 2],
    pub headers: [u32; 2],
}

pub const REWRITE: u32 = 1;
pub const REJECT: u32 = 2;
pub const DEAD_LETTER: u32 = 3;
pub const PUBLISH: u32 = 4;
pub const EMIT: u32 = 5;
pub const BODY_BYTES: u32 = 1 << 5;
pub const BODY_ORIGINAL: u32 = 2 << 5;

/// A string literal of the text format.
pub fn quote(bytes: &[u8]) -> String {
    let escaped: String = bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
    format!("\"{escaped}\"")
}

/// Memory and a bump allocator, which is reset after each call.
const LIBC: &str = r#"(core module $libc_module
    (memory (export "memory") 2)
    (global $heap (mut i32) (i32.const 65536))
    (func (export "reset") (global.set $heap (i32.const 65536)))
    (func (export "realloc") (param i32 i32) (param $align i32) (param $size i32) (result i32) (local $at i32)
      (local.set $at (i32.and
        (i32.add (global.get $heap) (i32.sub (local.get $align) (i32.const 1)))
        (i32.sub (i32.const 0) (local.get $align))))
      (global.set $heap (i32.add (local.get $at) (local.get $size)))
      (if (i32.gt_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536)))
        (then (if (i32.eq (i32.const -1) (memory.grow (i32.add (i32.const 1) (i32.div_u (local.get $size) (i32.const 65536)))))
          (then unreachable))))
      (local.get $at)))
  (core instance $libc (instantiate $libc_module))"#;

const HANDLER_EXPORT: &str = r#"
  (type $outcome (record (field "codes" (list u8)) (field "effects" (list u32)) (field "arena" (list u8))))
  (type $failure (variant (case "invalid" string) (case "fatal" string)))
  (func $handle (param "index" (list u32)) (param "arena" (list u8)) (result (result $outcome (error $failure)))
    (canon lift (core func $m "handle") (memory (core memory $libc "memory")) (realloc (core func $libc "realloc")) (post-return (core func $m "post"))))
  (component $handler
    (type $outcome-def (record (field "codes" (list u8)) (field "effects" (list u32)) (field "arena" (list u8))))
    (type $failure-def (variant (case "invalid" string) (case "fatal" string)))
    (import "outcome" (type $outcome-in (eq $outcome-def)))
    (import "failure" (type $failure-in (eq $failure-def)))
    (import "handle" (func $handle (param "index" (list u32)) (param "arena" (list u8))
      (result (result $outcome-in (error $failure-in)))))
    (export $outcome "outcome" (type $outcome-in))
    (export $failure "failure" (type $failure-in))
    (export "handle" (func $handle) (func (param "index" (list u32)) (param "arena" (list u8))
      (result (result $outcome (error $failure))))))
  (instance $handler-instance (instantiate $handler
    (with "outcome" (type $outcome)) (with "failure" (type $failure)) (with "handle" (func $handle))))
  (export "tidegate:broker/handler@0.1.0" (instance $handler-instance))"#;

const INIT_EXPORT: &str = r#"
  (func $init (result (result (error string)))
    (canon lift (core func $m "init") (memory (core memory $libc "memory"))))
  (instance $lifecycle (export "init" (func $init)))
  (export "tidegate:broker/lifecycle@0.1.0" (instance $lifecycle))"#;

/// T trap, L loop, M memory bomb, R recursion, I invalid, F fatal, G grows and survives being refused.
const OBEY: &str = r#"
      (local.set $at (local.get $index))
      (local.set $end (i32.add (local.get $index) (i32.mul (local.get $words) (i32.const 4))))
      (block $done (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (if (i32.load offset=12 (local.get $at)) (then
          (local.set $byte (i32.load8_u (i32.add (local.get $arena) (i32.load offset=8 (local.get $at)))))
          (if (i32.eq (local.get $byte) (i32.const 84)) (then (call $explode)))
          (if (i32.eq (local.get $byte) (i32.const 76)) (then (loop $forever (br $forever))))
          (if (i32.eq (local.get $byte) (i32.const 77)) (then (call $devour) unreachable))
          (if (i32.eq (local.get $byte) (i32.const 71)) (then (call $devour)))
          (if (i32.eq (local.get $byte) (i32.const 82)) (then (drop (call $recurse (i32.const 0)))))
          (if (i32.eq (local.get $byte) (i32.const 73)) (then (return (call $fail (i32.const 0)))))
          (if (i32.eq (local.get $byte) (i32.const 70)) (then (return (call $fail (i32.const 1)))))))
        (local.set $at (i32.add (local.get $at) (i32.const 56)))
        (br $next)))
      i32.const 1024"#;

const FUNCTIONS: &str = r#"
    (func $explode unreachable)
    (func $devour (block $full (loop $more
      (br_if $full (i32.eq (i32.const -1) (memory.grow (i32.const 1))))
      (br $more))))
    (func $recurse (param i32) (result i32)
      (i32.add (i32.const 1) (call $recurse (i32.add (local.get 0) (i32.const 1)))))
    (func $fail (param $case i32) (result i32)
      (i32.store8 (i32.const 3072) (i32.const 1))
      (i32.store8 (i32.const 3076) (local.get $case))
      (i32.store (i32.const 3080) (i32.const 2048))
      (i32.store (i32.const 3084) (i32.const 11))
      (i32.const 3072))"#;

/// Imports `log` as the core function `$log(level, address, length)`.
pub const LOG_IMPORT: &str = r#"
  (import "tidegate:broker/log@0.1.0" (instance $log
    (type $level-def (enum "trace" "debug" "info" "warn" "error"))
    (export "level" (type $level (eq $level-def)))
    (export "log" (func (param "level" $level) (param "message" string)))))
  (core func $log (canon lower (func $log "log") (memory (core memory $libc "memory"))))
  (core instance $host (export "log" (func $log)))"#;

pub const LOG_CORE_IMPORT: &str = r#"(import "host" "log" (func $log (param i32 i32 i32)))"#;
