//! How the allocator asks whether a device matches a selector, without knowing CEL.

use std::sync::Arc;

use crate::api::Device;

/// An expression that was announced with [`Selectors::expression`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExpressionId(pub u32);

/// Everything about a device that a selector can see, as a number: devices of one driver with equal attributes and capacities
/// have the same, in whatever slices they are. A number without devices is given out again, with another birth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Content {
    /// Dense.
    pub number: u32,
    /// Which content with this number it is.
    pub birth: u32,
}

/// A device that a selector is evaluated for. A verdict may be remembered under (expression, content).
#[derive(Clone, Copy, Debug)]
pub struct DeviceRef<'a> {
    /// What a selector can see.
    pub content: Content,
    /// Slot of the slice.
    pub slot: u32,
    /// Position of the device in the slice.
    pub index: u32,
    /// Driver of the slice.
    pub driver: &'a Arc<str>,
    /// The device.
    pub device: &'a Device,
}

/// Evaluates selectors.
///
/// The allocator calls `matches` only when upstream would evaluate, and in the same order; whether an answer is computed or
/// remembered changes nothing but the speed.
pub trait Selectors {
    /// A number for an expression, valid as long as the allocator that asked for it. Errors are for `matches` to report.
    fn expression(&mut self, text: &Arc<str>) -> ExpressionId;

    /// Whether the device matches.
    fn matches(
        &mut self,
        expression: ExpressionId,
        device: DeviceRef<'_>,
    ) -> Result<bool, SelectorError>;

    /// What `matches` would say, if that can be told without an evaluation and is no error.
    fn remembered(&self, expression: ExpressionId, content: Content) -> Option<bool>;

    /// The same for all devices of a site, which has a number and a stamp; at most 64. If not `anew`, some that are known now may be
    /// missing.
    fn recall<C: Iterator<Item = Content>>(
        &mut self,
        expression: ExpressionId,
        _site: (u32, u64),
        _anew: bool,
        contents: impl FnOnce() -> C,
    ) -> Recalled
    where
        Self: Sized,
    {
        Recalled::new(contents().map(|content| self.remembered(expression, content)))
    }
}

/// For the devices of a site: for which it is known whether they match, and which do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recalled {
    /// Those that are known.
    pub known: u64,
    /// Those that match.
    pub matching: u64,
}

impl Recalled {
    /// From the verdicts on the devices, at most 64.
    pub fn new(verdicts: impl Iterator<Item = Option<bool>>) -> Self {
        let mut recalled = Self::default();
        for (position, verdict) in verdicts.enumerate() {
            recalled.known |= u64::from(verdict.is_some()) << position;
            recalled.matching |= u64::from(verdict == Some(true)) << position;
        }
        recalled
    }
}

/// Why there is no verdict. It ends the whole attempt of the pod (trap T3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectorError {
    /// The expression does not compile; the text follows `CEL compile error: `.
    Compile(String),
    /// The evaluation failed; the text follows `CEL runtime error: `.
    Runtime(String),
}
