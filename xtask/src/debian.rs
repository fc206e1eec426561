//! Gets the two Debian packages that the standard library is built from, without changing anything of the system's apt.
//!
//! The mirror's address comes from the machine's own sources. Lists and cache are private. What is downloaded is checked twice:
//! by apt against the signed index, and against the checksums below.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::problem::{Problem, Result};
use crate::process::{self, say};
use crate::rustup::BY_HAND;

const SUITE: &str = "trixie-backports";
const KEYRINGS: [&str; 2] = [
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];
const TOOLS: [&str; 5] = ["apt-get", "apt-cache", "dpkg-deb", "tar", "sha256sum"];
const CHECK_NETWORK: &str = "check the network and this machine's apt sources (`apt-get update` must work), then run this again";

/// A package version that was tried, with the checksum it had then.
struct Pin {
    version: &'static str,
    sha256: &'static str,
}

/// Sources of the standard library, per compiler release.
const RUST_SRC: [(&str, Pin); 1] = [(
    "1.95.0",
    Pin {
        version: "1.95.0+dfsg1-2~bpo13+1",
        sha256: "7b76db5b880a77f9e52975d2baa6209d2f76d2c9c2789515c3088cb960e2c83b",
    },
)];

/// Start objects and libc; they serve every compiler release.
const WASI_LIBC: Pin = Pin {
    version: "0.0~git20260423.161b319-2~bpo13+1",
    sha256: "578dd9d29188bfc3ebd9554fdd8b238324a4faac8c169bf0f882956e3fe187de",
};

/// Whether a package version that is not in the table above may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// No.
    Required,
    /// Yes: apt's signed index vouches for it.
    ApprovedByAptAlone,
}

/// Two downloaded and checked files.
pub struct Packages {
    /// Holds `usr/src/rustc-RELEASE/library`.
    pub rust_src: PathBuf,
    /// Holds `usr/lib/wasm32-wasip2`.
    pub wasi_libc: PathBuf,
    /// File names and checksums, for the record.
    pub origin: String,
}

/// Downloads both packages for this compiler release into the work folder.
pub fn fetch(work: &Path, release: &str, pinning: Pinning) -> Result<Packages> {
    let rust_src_pin = RUST_SRC
        .iter()
        .find(|(known, _)| *known == release)
        .map(|(_, pin)| pin);
    if rust_src_pin.is_none() && pinning == Pinning::Required {
        let known: Vec<&str> = RUST_SRC.iter().map(|(known, _)| *known).collect();
        let what = format!(
            "no checksum is known for the sources of rustc {release}, only for {}",
            known.join(", ")
        );
        return Err(Problem::new(
            what,
            format!("use the toolchain that rust-toolchain.toml names, or {BY_HAND}"),
        ));
    }
    for tool in TOOLS {
        if !process::exists(tool) {
            let what =
                format!("there is no {tool}, so Debian's packages cannot be had (is this Debian?)");
            return Err(Problem::new(what, BY_HAND));
        }
    }
    let apt = Apt::with_private_state(work)?;
    let release_prefix = format!("{release}+");
    let rust_src = apt.choose("rust-src", rust_src_pin, &release_prefix, pinning)?;
    let wasi_libc = apt.choose("wasi-libc", Some(&WASI_LIBC), "", pinning)?;
    say(&format!(
        "downloading rust-src {rust_src} and wasi-libc {wasi_libc} (46 MB)"
    ));
    apt.download(&[("rust-src", &rust_src), ("wasi-libc", &wasi_libc)])?;
    let (rust_src, first) = apt.verified("rust-src", &rust_src, rust_src_pin)?;
    let (wasi_libc, second) = apt.verified("wasi-libc", &wasi_libc, Some(&WASI_LIBC))?;
    Ok(Packages {
        rust_src,
        wasi_libc,
        origin: format!("{first}{second}"),
    })
}

/// apt with sources, lists and cache below the work folder.
struct Apt {
    root: PathBuf,
}

impl Apt {
    /// Tries the machine's mirrors until one has the suite, signed by Debian.
    fn with_private_state(work: &Path) -> Result<Apt> {
        let uris = process::output(
            Command::new("apt-get").args(["--print-uris", "update"]),
            CHECK_NETWORK,
        )?;
        let mirrors = mirrors(&uris);
        if mirrors.is_empty() {
            return Err(Problem::new(
                "this machine's apt sources name no mirror",
                BY_HAND,
            ));
        }
        let Some(keyring) = KEYRINGS.iter().find(|path| Path::new(path).exists()) else {
            let what =
                "the keys that Debian's packages are signed with are missing (is this Debian?)";
            return Err(Problem::new(
                what,
                format!("install the package debian-archive-keyring, or {BY_HAND}"),
            ));
        };
        let apt = Apt {
            root: work.join("apt"),
        };
        for folder in ["lists/partial", "cache/archives/partial", "packages"] {
            let path = apt.root.join(folder);
            std::fs::create_dir_all(&path)
                .map_err(|error| Problem::file("create", &path, &error))?;
        }
        // The likeliest mirror's refusal is the one to tell.
        let mut refusal = None;
        for mirror in &mirrors {
            say(&format!("reading the index of {SUITE}"));
            match apt.read_index(mirror, keyring) {
                Ok(()) => return Ok(apt),
                Err(problem) => refusal = refusal.or(Some(problem)),
            }
        }
        Err(refusal.unwrap_or_else(|| Problem::new("no mirror answered", CHECK_NETWORK)))
    }

    fn read_index(&self, mirror: &str, keyring: &str) -> Result<()> {
        let sources = self.root.join("sources.list");
        std::fs::write(
            &sources,
            format!("deb [signed-by={keyring}] {mirror} {SUITE} main\n"),
        )
        .map_err(|error| Problem::file("write", &sources, &error))?;
        let mut update = self.command("apt-get");
        update.args(["-o", "APT::Update::Error-Mode=any", "update"]);
        process::output(&mut update, CHECK_NETWORK).map(|_| ())
    }

    fn command(&self, program: &str) -> Command {
        let root = self.root.display();
        let mut command = Command::new(program);
        command.arg("-q").env("LC_ALL", "C");
        for option in [
            format!("Dir::Etc::SourceList={root}/sources.list"),
            "Dir::Etc::SourceParts=/dev/null".to_owned(),
            "Dir::Etc::Preferences=/dev/null".to_owned(),
            "Dir::Etc::PreferencesParts=/dev/null".to_owned(),
            format!("Dir::State::Lists={root}/lists"),
            format!("Dir::Cache={root}/cache"),
            "Acquire::Languages=none".to_owned(),
            "Acquire::Retries=3".to_owned(),
            "Acquire::http::Timeout=60".to_owned(),
            // The download user cannot enter a folder of ours; what it fetches is checked anyway.
            "APT::Sandbox::User=root".to_owned(),
        ] {
            command.arg("-o").arg(option);
        }
        command
    }

    fn choose(
        &self,
        package: &str,
        pin: Option<&Pin>,
        prefix: &str,
        pinning: Pinning,
    ) -> Result<String> {
        let listed = process::output(
            self.command("apt-cache").args(["madison", package]),
            CHECK_NETWORK,
        )?;
        let offered = versions(&listed);
        if let Some(pin) = pin.filter(|pin| offered.contains(&pin.version)) {
            return Ok(pin.version.to_owned());
        }
        let other = offered.iter().find(|version| version.starts_with(prefix));
        match (other, pinning) {
            (Some(version), Pinning::ApprovedByAptAlone) => {
                say(&format!(
                    "{package} {version} is vouched for by apt's signed index alone"
                ));
                Ok((*version).to_owned())
            }
            _ => {
                let what = format!(
                    "{SUITE} offers {package} {}, none with a known checksum",
                    list(&offered)
                );
                let remedy = format!(
                    "{BY_HAND}; or accept what apt's signed index vouches for: `cargo xtask setup --allow-unpinned`"
                );
                Err(Problem::new(what, remedy))
            }
        }
    }

    fn download(&self, packages: &[(&str, &str)]) -> Result<()> {
        let mut command = self.command("apt-get");
        command
            .current_dir(self.root.join("packages"))
            .arg("download");
        command.args(
            packages
                .iter()
                .map(|(name, version)| format!("{name}={version}")),
        );
        process::output(&mut command, CHECK_NETWORK).map(|_| ())
    }

    /// The downloaded file, and a line for the record.
    fn verified(
        &self,
        package: &str,
        version: &str,
        pin: Option<&Pin>,
    ) -> Result<(PathBuf, String)> {
        // apt writes the colon of an epoch as %3a; neither package has one.
        let name = format!("{package}_{version}_all.deb");
        let path = self.root.join("packages").join(&name);
        let printed = process::output(Command::new("sha256sum").arg(&path), CHECK_NETWORK)?;
        let sum = printed
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned();
        match pin.filter(|pin| pin.version == version) {
            Some(pin) if pin.sha256 != sum => {
                let what = format!("{name} has the checksum {sum} instead of {}", pin.sha256);
                Err(Problem::new(
                    what,
                    "do not use this mirror; tell whoever runs it",
                ))
            }
            _ => Ok((path, format!("{sum}  {name}\n"))),
        }
    }
}

/// The mirrors in what `apt-get --print-uris update` prints, the likeliest first. A wrong one does no harm: Debian's keys decide.
fn mirrors(uris: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in uris.lines() {
        let uri = line.split('\'').nth(1).unwrap_or_default();
        if let Some((mirror, _)) = uri.split_once("/dists/") {
            let mirror = mirror.trim_end_matches('/').to_owned();
            if !found.contains(&mirror) {
                found.push(mirror);
            }
        }
    }
    found.sort_by_key(|mirror| !mirror.ends_with("/debian"));
    found
}

/// The second column of `apt-cache madison`.
fn versions(listed: &str) -> Vec<&str> {
    listed
        .lines()
        .filter_map(|line| line.split('|').nth(1))
        .map(str::trim)
        .collect()
}

fn list(versions: &[&str]) -> String {
    if versions.is_empty() {
        "in no version".to_owned()
    } else {
        versions.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_come_from_the_sources_and_debian_is_first() {
        let uris = "'http://a.invalid/debian-security/dists/bookworm-security/InRelease' a_InRelease 0 \n\
                    'http://b.invalid/debian/dists/bookworm/InRelease' b_InRelease 0 \n\
                    'http://b.invalid/debian//dists/bookworm-updates/InRelease' b_InRelease 0 \n\
                    'mirror+file:/etc/apt/mirrors/debian.list/dists/x/InRelease' c 0 \n\
                    nonsense\n";
        assert_eq!(
            mirrors(uris),
            [
                "http://b.invalid/debian",
                "http://a.invalid/debian-security",
                "mirror+file:/etc/apt/mirrors/debian.list",
            ]
        );
        assert!(mirrors("").is_empty());
    }

    #[test]
    fn versions_are_the_second_column() {
        let listed = "  rust-src | 1.95.0+dfsg1-2~bpo13+1 | http://b.invalid/debian trixie-backports/main amd64 Packages\n";
        assert_eq!(versions(listed), ["1.95.0+dfsg1-2~bpo13+1"]);
        assert!(versions("").is_empty());
    }

    #[test]
    fn an_unknown_compiler_is_refused_before_anything_is_downloaded() {
        let problem = fetch(Path::new("/nonexistent"), "1.2.3", Pinning::Required)
            .err()
            .unwrap();
        let text = problem.to_string();
        assert!(
            text.contains("rustc 1.2.3") && text.contains("rustup target add"),
            "{text}"
        );
    }

    #[test]
    fn a_changed_file_is_refused() {
        let folder = crate::work_folder::WorkFolder::new("xtask-test").unwrap();
        let apt = Apt {
            root: folder.path().to_owned(),
        };
        std::fs::create_dir(folder.path().join("packages")).unwrap();
        let file = folder.path().join("packages/p_1_all.deb");
        std::fs::write(&file, "abc").unwrap();
        // SHA-256 of "abc", FIPS 180-2 appendix B.1.
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let pin = Pin {
            version: "1",
            sha256,
        };
        assert_eq!(
            apt.verified("p", "1", Some(&pin)).unwrap().1,
            format!("{sha256}  p_1_all.deb\n")
        );
        std::fs::write(&file, "abd").unwrap();
        assert!(
            apt.verified("p", "1", Some(&pin))
                .unwrap_err()
                .to_string()
                .contains("checksum")
        );
    }
}
