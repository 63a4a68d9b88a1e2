//! Numbers of objects, owner references and finalizers, in the order of the objects' keys: input order has no effect.
//!
//! Each kind of number has its own type and indexes only its own tables ([`TiVec`](typed_index_collections::TiVec)).
//! With plain integers, confusing a reference with an object would give a wrong plan, not a compile error.

use std::marker::PhantomData;
use std::ops::Range;

macro_rules! number {
    ($(#[$doc:meta])* $visibility:vis $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(u32);

        impl From<usize> for $name {
            /// Never truncates: a cluster that needs more than 32 bits is rejected when it is built.
            fn from(index: usize) -> Self {
                Self(index as u32)
            }
        }

        impl From<$name> for usize {
            fn from(number: $name) -> Self {
                number.0 as usize
            }
        }
    };
}

number! {
    /// Number of an object in its [`Cluster`](super::Cluster).
    pub ObjectId
}

number! {
    /// Number of an owner reference; those of one object are consecutive.
    pub(super) RefId
}

number! {
    /// Number of a finalizer that an object has, had or may get; those of one object are consecutive.
    pub(super) FinalizerId
}

number! {
    /// Number of a controller outside of the control plane.
    pub(super) ControllerId
}

number! {
    /// Number of a webhook or an aggregated API.
    pub(super) CalloutId
}

/// Marks the absence of an object, in half the size of an `Option`.
pub(super) const NONE: ObjectId = ObjectId(u32::MAX);

impl ObjectId {
    /// The object whose key sorts first.
    pub(super) const FIRST: Self = Self(0);

    /// Returns the object after this one.
    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A range of numbers.
#[derive(Debug, Clone)]
pub struct Numbers<N> {
    range: Range<usize>,
    kind: PhantomData<N>,
}

impl<N: Into<usize>> Numbers<N> {
    /// Creates the range from `start` to the number before `end`.
    pub(super) fn new(start: N, end: N) -> Self {
        Self {
            range: start.into()..end.into(),
            kind: PhantomData,
        }
    }

    /// Returns the number at the same position in `others`, a range of equal length.
    pub(super) fn counterpart(&self, number: N, others: &Self) -> N
    where
        N: From<usize>,
    {
        N::from(number.into() - self.range.start + others.range.start)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

impl<N: From<usize>> Iterator for Numbers<N> {
    type Item = N;

    fn next(&mut self) -> Option<N> {
        self.range.next().map(N::from)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl<N: From<usize>> ExactSizeIterator for Numbers<N> {}
