//! Files, directories and standard input as texts.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::InputError;

/// Largest file that is read. A dump of 5,000 nodes with 8 devices each has 24 MB.
const MAX_BYTES: u64 = 512 << 20;

/// Name of standard input in messages.
const STANDARD_INPUT: &str = "standard input";

/// One text to read.
#[derive(Debug)]
pub(super) struct Source {
    /// Name in messages.
    pub name: String,
    /// Where to read; `None` is standard input.
    path: Option<PathBuf>,
    /// Found in a directory, so that the user did not ask for this very file.
    pub from_directory: bool,
}

/// What an INPUT is called in messages.
pub(super) fn name_of(input: &Path) -> String {
    match input.display().to_string() {
        dash if dash == "-" => STANDARD_INPUT.to_owned(),
        name => name,
    }
}

/// What an INPUT of the command line stands for.
pub(super) fn sources_of(input: &Path) -> Result<Vec<Source>, InputError> {
    let name = input.display().to_string();
    if name == "-" {
        return Ok(vec![Source {
            name: STANDARD_INPUT.to_owned(),
            path: None,
            from_directory: false,
        }]);
    }
    let metadata = fs::metadata(input).map_err(|error| unreadable(&name, &error))?;
    if !metadata.is_dir() {
        return Ok(vec![Source {
            name,
            path: Some(input.to_owned()),
            from_directory: false,
        }]);
    }
    let paths = manifests_in(input).map_err(|error| unreadable(&name, &error))?;
    if paths.is_empty() {
        let message = "no file with the ending .yaml, .yml or .json in this directory (directories below it are not searched)";
        return Err(InputError::of_file(&name, message));
    }
    Ok(paths
        .into_iter()
        .map(|path| Source {
            name: path.display().to_string(),
            path: Some(path),
            from_directory: true,
        })
        .collect())
}

/// Manifests of a directory, by name.
fn manifests_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let wanted = path
            .extension()
            .and_then(|extension| extension.to_str())
            .is_some_and(|extension| {
                ["yaml", "yml", "json"]
                    .iter()
                    .any(|known| extension.eq_ignore_ascii_case(known))
            });
        // Follows symbolic links: mounted ConfigMaps consist of them. A dangling one is reported when it is opened.
        if wanted && !path.is_dir() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

impl Source {
    /// Reads the whole text. `stdin` is used only for `-`.
    pub(super) fn read(&self, stdin: &mut dyn Read) -> Result<String, InputError> {
        let mut bytes = Vec::new();
        let result = match &self.path {
            Some(path) => {
                File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            }
            None => stdin.take(MAX_BYTES + 1).read_to_end(&mut bytes),
        };
        result.map_err(|error| unreadable(&self.name, &error))?;
        if bytes.len() as u64 > MAX_BYTES {
            let message = format!(
                "larger than {} MiB; split it, or leave out what is not needed",
                MAX_BYTES >> 20
            );
            return Err(InputError::of_file(&self.name, message));
        }
        text_of(&self.name, bytes)
    }
}

fn unreadable(name: &str, error: &io::Error) -> InputError {
    InputError::of_file(name, format!("cannot be read: {error}"))
}

/// Checks the encoding, and drops a byte order mark.
fn text_of(name: &str, bytes: Vec<u8>) -> Result<String, InputError> {
    if let Some(what) = known_non_text(&bytes) {
        return Err(InputError::of_file(name, what));
    }
    match String::from_utf8(bytes) {
        Ok(mut text) => {
            if text.starts_with('\u{feff}') {
                text.drain(..'\u{feff}'.len_utf8());
            }
            Ok(text)
        }
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let before = error.as_bytes().get(..offset).unwrap_or_default();
            let line = 1 + count_lines(before);
            let message =
                format!("not UTF-8 text (byte {offset}); expected YAML or JSON manifests in UTF-8");
            Err(InputError::at(name, line, None, message))
        }
    }
}

/// Formats that people feed by mistake, told by their first bytes.
fn known_non_text(bytes: &[u8]) -> Option<&'static str> {
    const UTF_16: &str =
        "UTF-16 text; convert it to UTF-8, for example with iconv -f UTF-16 -t UTF-8";
    const COMPRESSED: &str = "compressed; unpack it first";
    match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some("UTF-32 text; convert it to UTF-8"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(UTF_16),
        // UTF-16 without a mark: manifests start with ASCII.
        [0, low, 0, _, ..] | [low, 0, _, 0, ..] if low.is_ascii() && *low != 0 => Some(UTF_16),
        [0x1f, 0x8b, ..] | [0xfd, b'7', b'z', b'X', b'Z', ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Some(COMPRESSED)
        }
        [0, b'a', b's', b'm', ..] => Some("a WebAssembly file; expected YAML or JSON manifests"),
        _ => None,
    }
}

/// Number of line ends in a text.
pub(super) fn count_lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}
