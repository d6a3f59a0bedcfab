//! Initializes a core module, turns it into a component and compiles it to machine code.

use super::{
    hostile_guest::{self, HostileGuest},
    metering, report_progress,
};
use crate::config;
use anyhow::{Context, Result, ensure};
use std::{env, fs, path::Path};
use wasi_preview1_component_adapter_provider::{WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER};
use wasm_metadata::{AddMetadata, AddMetadataField, Description, Licenses, Version};
use wasmtime::{Config, Engine, Instance, Linker, Module, Store, Val};
use wasmtime_wizer::{InstanceState, SnapshotVal, ValType, Wizer};
use wit_bindgen_core::{
    Files,
    wit_parser::{PackageId, Resolve, WorldId},
};
use wit_component::{ComponentEncoder, StringEncoding, WitPrinter, embed_component_metadata};

/// A contract, and the world that the build adds to it.
pub struct Wit {
    resolve: Resolve,
    package: PackageId,
    /// The name of the world of the component.
    world: &'static str,
    build: PackageId,
    /// The name of the world of the module before initialization.
    build_world: &'static str,
}

impl Wit {
    /// Parses the contract of the sandbox.
    pub fn sandbox() -> Result<Self> {
        Self::parse("wit", "sandbox", "guest/build/guest.wit", "guest")
    }

    /// Parses the contract of the checker.
    pub fn checker() -> Result<Self> {
        Self::parse("wit/checker", "checker", "guest/build/checker.wit", "checker-guest")
    }

    /// Parses a directory and its `deps`, and the file with the world of the build.
    fn parse(directory: &str, world: &'static str, build: &str, build_world: &'static str) -> Result<Self> {
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_dir(directory).with_context(|| format!("reading {directory}"))?;
        let build = resolve.push_file(build)?;
        Ok(Self { resolve, package, world, build, build_world })
    }

    /// Returns the contract and the packages that it refers to as one text.
    pub fn text(&self) -> Result<String> {
        let mut printer = WitPrinter::default();
        let others: Vec<PackageId> =
            self.resolve.packages.iter().map(|(id, _)| id).filter(|id| ![self.package, self.build].contains(id)).collect();
        printer.print(&self.resolve, self.package, &others)?;
        Ok(printer.output.to_string())
    }

    /// Writes the C bindings: a header and a source file, named after the world of the build.
    pub fn write_bindings(&self, out: &Path) -> Result<()> {
        let mut files = Files::default();
        let mut resolve = self.resolve.clone();
        let world = resolve.select_world(&[self.build], Some(self.build_world))?;
        let options = wit_bindgen_c::Opts { no_object_file: true, ..Default::default() };
        options.build().generate(&mut resolve, world, &mut files)?;
        for (name, contents) in files.iter() {
            fs::write(out.join(name), contents)?;
        }
        Ok(())
    }

    /// Wraps the module as a component.
    pub fn encode(&self, mut module: Vec<u8>) -> Result<Vec<u8>> {
        embed_component_metadata(&mut module, &self.resolve, self.world()?, StringEncoding::UTF8)?;
        ComponentEncoder::default().module(&module)?.validate(true).encode().context("encoding the component")
    }

    /// Returns the guest for tests of the engine.
    pub fn hostile_guest(&self) -> Result<HostileGuest> {
        hostile_guest::generate(&self.resolve, self.world()?)
    }

    fn world(&self) -> Result<WorldId> {
        self.resolve.select_world(&[self.package], Some(self.world))
    }
}

/// Wraps the module of the WASI command as a component of the world `wasi:cli/command`.
pub fn encode_command(module: &[u8], luau: &str) -> Result<Vec<u8>> {
    let adapter = (WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER);
    let mut encoder = ComponentEncoder::default().module(module)?.adapter(adapter.0, adapter.1)?.validate(true);
    add_metadata(&encoder.encode().context("encoding the WASI command")?, luau)
}

/// Adds metadata to a component or module: name, version, languages and licences.
pub fn add_metadata(component: &[u8], luau: &str) -> Result<Vec<u8>> {
    let mut metadata = AddMetadata::default();
    metadata.name = AddMetadataField::Set("toolscript".into());
    metadata.language = vec![("C++".into(), "17".into()), ("Luau".into(), luau.into())];
    metadata.processed_by = vec![("toolscript".into(), env::var("CARGO_PKG_VERSION")?)];
    metadata.version = AddMetadataField::Set(Version::new(env::var("CARGO_PKG_VERSION")?));
    metadata.description = AddMetadataField::Set(Description::new(env::var("CARGO_PKG_DESCRIPTION")?));
    metadata.licenses = AddMetadataField::Set(Licenses::new(LICENCES).context("parsing the licences of the guest")?);
    metadata.to_wasm(component).context("adding metadata to the component")
}

/// The licences of this project, of Luau and musl (MIT), and of the C++ runtime (Apache-2.0 with the LLVM exception).
const LICENCES: &str = "(MIT OR Apache-2.0) AND MIT AND Apache-2.0 WITH LLVM-exception";

/// Runs the export `init` and stores the resulting memory in the module, so that a run starts with a VM and open libraries.
pub fn pre_initialize(module: &[u8]) -> Result<Vec<u8>> {
    report_progress("pre-initializing the guest");
    let mut settings = Config::new();
    config::codegen(&mut settings);
    config::stacks(&mut settings);
    settings.consume_fuel(false);
    let engine = Engine::new(&settings)?;
    let mut wizer = Wizer::new();
    wizer.init_func("init");
    let (context, instrumented) = wizer.instrument(module)?;
    let module = Module::new(&engine, &instrumented)?;
    let mut linker = Linker::new(&engine);
    // `init` calls no imports. If it does, the trap fails the build.
    linker.define_unknown_imports_as_traps(&module)?;
    let mut store = Store::new(&engine, ());
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let instance = linker.instantiate_async(&mut store, &module).await?;
        for function in ["_initialize", "init"] {
            instance.get_typed_func::<(), ()>(&mut store, function)?.call_async(&mut store, ()).await?;
        }
        Ok(wizer.snapshot(&context, &mut Initialized { store, instance }).await?)
    })
}

/// The instance whose state becomes the module.
struct Initialized {
    store: Store<()>,
    instance: Instance,
}

#[expect(clippy::panic, reason = "the trait has no errors, and a panic fails the build")]
impl InstanceState for Initialized {
    async fn global_get(&mut self, name: &str, _: ValType) -> SnapshotVal {
        match self.instance.get_global(&mut self.store, name).map(|global| global.get(&mut self.store)) {
            Some(Val::I32(value)) => SnapshotVal::I32(value),
            Some(Val::I64(value)) => SnapshotVal::I64(value),
            Some(Val::F32(value)) => SnapshotVal::F32(value),
            Some(Val::F64(value)) => SnapshotVal::F64(value),
            other => panic!("the guest has a global that can't be stored: {name}, {other:?}"),
        }
    }

    async fn memory_contents(&mut self, name: &str, contents: impl FnOnce(&[u8]) + Send) {
        match self.instance.get_memory(&mut self.store, name) {
            Some(memory) => contents(memory.data(&self.store)),
            None => panic!("the guest has no memory {name}"),
        }
    }
}

/// Marks the loops of the component and compiles it for a CPU level. The program checks the level when it loads the image.
pub fn precompile(component: &[u8]) -> Result<Vec<u8>> {
    println!("cargo::rerun-if-env-changed=TOOLSCRIPT_CPU");
    report_progress("compiling the guest to machine code");
    let mut settings = Config::new();
    config::codegen(&mut settings);
    let level = env::var("TOOLSCRIPT_CPU").unwrap_or_else(|_| "v2".into());
    let target = env::var("TARGET")?;
    if level == "native" {
        ensure!(env::var("HOST")? == target, "TOOLSCRIPT_CPU is native, but the target is {target}; set it to v1, v2 or v3");
    } else {
        settings.target(&target)?;
        for feature in cpu_features(&level)? {
            // SAFETY: the flags are names that Cranelift defines. The engine compares them with the CPU before it loads the image.
            #[expect(unsafe_code, reason = "enables CPU features; see SAFETY")]
            unsafe {
                settings.cranelift_flag_enable(feature)
            };
        }
    }
    Ok(Engine::new(&settings)?.precompile_component(&metering::mark_loops(component)?)?)
}

/// Returns the features of a CPU level. Levels exist on x86-64 only.
fn cpu_features(level: &str) -> Result<&'static [&'static str]> {
    const V3: &[&str] = &[
        "has_sse3",
        "has_ssse3",
        "has_sse41",
        "has_sse42",
        "has_popcnt",
        "has_avx",
        "has_avx2",
        "has_bmi1",
        "has_bmi2",
        "has_fma",
        "has_lzcnt",
    ];
    match (env::var("CARGO_CFG_TARGET_ARCH")?.as_str(), level) {
        ("x86_64", "v3") => Ok(V3),
        ("x86_64", "v2") => Ok(&V3[..5]),
        (_, "v1" | "v2" | "v3") => Ok(&[]),
        _ => anyhow::bail!("TOOLSCRIPT_CPU is {level:?}; it must be v1, v2, v3 or native"),
    }
}
