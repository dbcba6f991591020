//! Kinds of price lists.

use super::collected::CollectedPrices;
use super::price_list::PriceList;
use scavsim_read::input::Diagnostics;

/// A kind of price list.
pub(super) struct ListKind {
    pub(super) name: &'static str,
    /// What it is recognised by, in words.
    pub(super) mark: &'static str,
    pub(super) is_it: fn(&str) -> bool,
    pub(super) read: fn(&PriceList<'_>, &mut Diagnostics) -> Option<CollectedPrices>,
}
