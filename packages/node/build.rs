//! Sets the linker arguments of an addon, and the directory for its types.

#![expect(clippy::disallowed_methods, reason = "a build script creates directories")]

use std::{env, error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    napi_build::setup();
    // Beside the addon, where `pack` finds them: OUT_DIR is build/PACKAGE-HASH/out in the directory of the profile.
    let output = env::var("OUT_DIR")?;
    let profile = Path::new(&output).ancestors().nth(3).ok_or("OUT_DIR is not in the directory of a profile")?;
    let types = profile.join("napi-types");
    fs::create_dir_all(&types)?;
    println!("cargo:rustc-env=NAPI_TYPE_DEF_TMP_FOLDER={}", types.display());
    Ok(())
}
