//! Rule modules: WebAssembly components in the publish path.
