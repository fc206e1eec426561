//! The slices of each node, by number of the node's name.

/// Slots of slices, for each node sorted as the allocator visits them.
#[derive(Debug, Default)]
pub(super) struct ByNode(Vec<Slots>);

/// Mostly one, and then a look at a list would cost more than all that is done with it.
#[derive(Debug)]
enum Slots {
    One(u32),
    Several(Vec<u32>),
}

impl Default for Slots {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl ByNode {
    /// Those of one node.
    pub(super) fn of(&self, node: u32) -> &[u32] {
        match self.0.get(node as usize) {
            Some(Slots::One(slot)) => std::slice::from_ref(slot),
            Some(Slots::Several(slots)) => slots,
            None => &[],
        }
    }

    /// Takes the list of one node out, to be put back.
    pub(super) fn take(&mut self, node: u32) -> Vec<u32> {
        match self.0.get_mut(node as usize).map(std::mem::take) {
            Some(Slots::One(slot)) => vec![slot],
            Some(Slots::Several(slots)) => slots,
            None => Vec::new(),
        }
    }

    pub(super) fn put(&mut self, node: u32, slots: Vec<u32>) {
        let index = node as usize;
        if index >= self.0.len() {
            self.0.resize_with(index + 1, Slots::default);
        }
        self.0[index] = match slots[..] {
            [slot] => Slots::One(slot),
            _ => Slots::Several(slots),
        };
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
