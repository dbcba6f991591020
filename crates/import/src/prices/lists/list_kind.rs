//! Kinds of price lists.

use super::collected::CollectedPrices;
use super::price_list::PriceList;
use scavsim_read::input::Diagnostics;

pub(super) struct ListKind {
    pub(super) name: &'static str,
    pub(super) mark: &'static str,
    pub(super) is_it: fn(&str) -> bool,
    pub(super) read: fn(&PriceList<'_>, &mut Diagnostics) -> Option<CollectedPrices>,
}
