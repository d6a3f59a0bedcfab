//! From a core module to the component, its memory filled, and to machine code.

use super::say;
use crate::config;
use anyhow::{Context, Result, ensure};
use std::{env, fs, path::Path};
use wasi_preview1_component_adapter_provider::{WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER};
use wasm_metadata::{AddMetadata, AddMetadataField, Description, Licenses, Version};
use wasmtime::{Config, Engine, Linker, Module, Store};
use wasmtime_wizer::Wizer;
use wit_bindgen_core::{
    Files,
    wit_parser::{PackageId, Resolve},
};
use wit_component::{ComponentEncoder, StringEncoding, WitPrinter, embed_component_metadata};

/// The contract in `wit/`, and what the build adds to it.
pub struct Wit {
    resolve: Resolve,
    package: PackageId,
    build: PackageId,
}

impl Wit {
    /// Reads the folder and its `deps`.
    pub fn parse(folder: &str) -> Result<Self> {
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_dir(folder).context("reading wit/")?;
        let build = resolve.push_file("guest/build/unprepared.wit")?;
        Ok(Self { resolve, package, build })
    }

    /// The contract as one text, with the packages that it refers to.
    pub fn text(&self) -> Result<String> {
        let mut printer = WitPrinter::default();
        let others: Vec<PackageId> =
            self.resolve.packages.iter().map(|(id, _)| id).filter(|id| ![self.package, self.build].contains(id)).collect();
        printer.print(&self.resolve, self.package, &others)?;
        Ok(printer.output.to_string())
    }

    /// Writes `unprepared.h` and `unprepared.c`, the C side of the contract.
    pub fn write_bindings(&self, out: &Path) -> Result<()> {
        let mut files = Files::default();
        let mut resolve = self.resolve.clone();
        let world = resolve.select_world(&[self.build], Some("unprepared"))?;
        let options = wit_bindgen_c::Opts { no_object_file: true, ..Default::default() };
        options.build().generate(&mut resolve, world, &mut files)?;
        for (name, contents) in files.iter() {
            fs::write(out.join(name), contents)?;
        }
        Ok(())
    }

    /// Wraps the module as a component of the world `sandbox`.
    pub fn encode(&self, mut module: Vec<u8>, luau: &str) -> Result<Vec<u8>> {
        let world = self.resolve.select_world(&[self.package], Some("sandbox"))?;
        embed_component_metadata(&mut module, &self.resolve, world, StringEncoding::UTF8, false)?;
        let component = ComponentEncoder::default().module(&module)?.validate(true).encode().context("encoding the component")?;
        describe(&component, luau)
    }
}

/// Wraps the command's module as a component of the world `wasi:cli/command`.
pub fn encode_command(module: &[u8], luau: &str) -> Result<Vec<u8>> {
    let mut encoder = ComponentEncoder::default();
    encoder.module(module)?.adapter(WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER)?.validate(true);
    describe(&encoder.encode().context("encoding the command")?, luau)
}

/// Writes into a component or module what it is, and whose work is in it.
pub fn describe(component: &[u8], luau: &str) -> Result<Vec<u8>> {
    let mut metadata = AddMetadata::default();
    metadata.name = AddMetadataField::Set("toolscript".into());
    metadata.language = vec![("C++".into(), "17".into()), ("Luau".into(), luau.into())];
    metadata.processed_by = vec![("toolscript".into(), env::var("CARGO_PKG_VERSION")?)];
    metadata.version = AddMetadataField::Set(Version::new(env::var("CARGO_PKG_VERSION")?));
    metadata.description = AddMetadataField::Set(Description::new(env::var("CARGO_PKG_DESCRIPTION")?));
    metadata.licenses = AddMetadataField::Set(Licenses::new(LICENCES).context("the licences of the guest")?);
    metadata.to_wasm(component).context("describing the component")
}

/// What the component is under, and what is in it: Luau and musl (MIT), the C++ runtime (Apache-2.0 with LLVM's exception).
const LICENCES: &str = "(MIT OR Apache-2.0) AND MIT AND Apache-2.0 WITH LLVM-exception";

/// Runs the export `init` and keeps the memory that it leaves, so that a run starts with the VM made and its libraries open.
pub fn pre_initialise(module: &[u8]) -> Result<Vec<u8>> {
    say("pre-initialising the guest");
    let mut settings = Config::new();
    config::codegen(&mut settings);
    config::stacks(&mut settings);
    settings.consume_fuel(false);
    let engine = Engine::new(&settings)?;
    let mut store = Store::new(&engine, ());
    let instantiate = async |store: &mut Store<()>, module: &Module| {
        let mut linker = Linker::new(store.engine());
        // `init` calls no import; if it does, the build stops here.
        linker.define_unknown_imports_as_traps(module)?;
        linker.instantiate_async(store, module).await
    };
    let mut wizer = Wizer::new();
    wizer.init_func("init");
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let ready = runtime.block_on(wizer.run(&mut store, module, instantiate));
    ready.map_err(anyhow::Error::from).context("pre-initialising the guest")
}

/// Compiles for the target's CPU level, which the shipped program checks when it loads the image.
pub fn precompile(component: &[u8]) -> Result<Vec<u8>> {
    println!("cargo::rerun-if-env-changed=TOOLSCRIPT_CPU");
    say("compiling the guest to machine code");
    let mut settings = Config::new();
    config::codegen(&mut settings);
    let level = env::var("TOOLSCRIPT_CPU").unwrap_or_else(|_| "v2".into());
    let target = env::var("TARGET")?;
    if level == "native" {
        ensure!(env::var("HOST")? == target, "TOOLSCRIPT_CPU is native, but the build is for {target}; name a level");
    } else {
        settings.target(&target)?;
        for feature in cpu_features(&level)? {
            // SAFETY: the flags are Cranelift's own names; the engine compares them with the CPU before it loads the image.
            #[expect(unsafe_code, reason = "naming CPU features; see SAFETY")]
            unsafe {
                settings.cranelift_flag_enable(feature)
            };
        }
    }
    Ok(Engine::new(&settings)?.precompile_component(component)?)
}

/// The features that every CPU of a level has. Levels exist on x86-64 only.
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
