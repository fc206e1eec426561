//! The lines that must hold, each checked on the text of the repository. `rules` has them one by one; `planted` shows for each
//! that a violation is seen.

mod planted;
mod rules;
mod source;

use crate::repository;

#[test]
fn the_repository_keeps_to_every_rule() {
    let files = repository::text_files();
    let mut broken = Vec::new();
    for rule in rules::PER_FILE {
        for file in files.iter().filter(|file| (rule.concerns)(&file.path)) {
            for violation in (rule.violations)(&file.path, &file.text) {
                broken.push(format!("{}: {violation} ({})", file.path, rule.name));
            }
        }
    }
    for (name, violations) in rules::OVERALL {
        broken.extend(
            violations(&files)
                .into_iter()
                .map(|violation| format!("{violation} ({name})")),
        );
    }
    assert!(
        broken.is_empty(),
        "{} broken:\n{}",
        broken.len(),
        broken.join("\n")
    );
}

/// A rule that looks at nothing holds always.
#[test]
fn every_rule_has_files_to_look_at() {
    let files = repository::text_files();
    for rule in rules::PER_FILE {
        let any = files.iter().any(|file| (rule.concerns)(&file.path));
        assert!(any, "no file for: {}", rule.name);
    }
}
