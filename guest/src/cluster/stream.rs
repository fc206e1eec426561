//! Reading the host's streams of changes (upstream: the informers).

use super::View;
use crate::host::{Change, Host, Object, Revision, Slot};

/// One step of a stream.
pub(super) enum Step {
    Reset,
    Put(Slot, Object),
    Deleted(Slot),
}

/// Reads one stream to its end.
pub(super) fn follow(
    host: &dyn Host,
    kind: &str,
    since: &mut Revision,
    view: &mut View,
    apply: impl Fn(&mut View, Step),
) -> Result<(), String> {
    loop {
        let page = host.changes(kind, *since).map_err(|error| error.message)?;
        if page.reset {
            apply(view, Step::Reset);
        }
        for change in page.changes {
            match change {
                Change::Put { slot, object, .. } => apply(view, Step::Put(slot, object)),
                Change::Deleted { slot, .. } => apply(view, Step::Deleted(slot)),
            }
        }
        *since = page.until;
        if !page.more {
            return Ok(());
        }
    }
}
