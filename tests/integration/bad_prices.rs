//! Impossible prices, refused as in [`bad_input`](crate::bad_input).

use insta::assert_snapshot;

use crate::bad_input::{refused, resnet18};

#[test]
fn a_policy_with_two_base_prices() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\nusd_per_vm_hour = 0.1\nusd_per_sample_hour = 0.1\n"
    )));
}

#[test]
fn a_policy_without_a_base_price() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\ngranularity_s = 60\n"
    )));
}

#[test]
fn a_listed_price_on_a_day_without_one() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"paper-fixed\", \"mine\"]\n[pricing.define.mine]\n\
         catalogue = \"spot\"\nprovider = \"gcp\"\nregion = \"us-central1\"\ndate = \"2022-06-01\"\n"
    )));
}

#[test]
fn a_listed_price_in_a_region_without_one() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\n\
         catalogue = \"on-demand\"\nprovider = \"gcp\"\nregion = \"us-east9\"\ndate = \"2022-06-01\"\n"
    )));
}

#[test]
fn a_price_per_vcpu_of_a_vm_type_of_unknown_size() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\n\
         usd_per_vcpu_hour = 0.02\nusd_per_gib_hour = 0.003\npriced_as = \"e2-standard-64\"\n"
    )));
}

/// A policy that charges the listed price of another VM type.
fn listed(market: &str, provider: &str, region: &str, date: &str, vm: &str) -> String {
    resnet18(&format!(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\ncatalogue = \"{market}\"\n\
         provider = \"{provider}\"\nregion = \"{region}\"\ndate = \"{date}\"\npriced_as = \"{vm}\"\n"
    ))
}

#[test]
fn a_spot_price_of_a_gpu_that_nobody_lists() {
    assert_snapshot!(refused(&listed(
        "spot",
        "aws",
        "us-east-1",
        "2026-07-20",
        "g4dn.xlarge"
    )));
}

#[test]
fn a_commitment_price_on_a_day_without_one() {
    assert_snapshot!(refused(&listed(
        "commitment-1y",
        "aws",
        "us-east-1",
        "2026-07-20",
        "p3.2xlarge"
    )));
}

#[test]
fn a_listed_price_of_another_providers_vm_type() {
    assert_snapshot!(refused(&listed(
        "on-demand",
        "gcp",
        "us-central1",
        "2026-07-30",
        "g4dn.xlarge"
    )));
}

#[test]
fn a_price_per_gpu_of_a_vm_type_without_one() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\nusd_per_gpu_hour = 0.35\n"
    )));
}

#[test]
fn spot_series_that_are_none() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"one\", \"two\", \"three\", \"four\"]\n\
         [pricing.define.one]\nusd_per_vm_hour = 1\nspot_series = [[1, 0.3]]\n\
         [pricing.define.two]\nusd_per_vm_hour = 1\nspot_series = [[0, 0.3], [5, 0.4], [5, 0.5]]\n\
         [pricing.define.three]\nusd_per_vm_hour = 1\nspot_series = [[0, 0], [-1, 0.4]]\n\
         [pricing.define.four]\nusd_per_vm_hour = 1\nfree_first_hour_if_revoked = true\n"
    )));
}

#[test]
fn wrong_figures_and_days_of_a_policy() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\n\
         catalogue = \"spots\"\ndate = \"2022-02-30\"\nspot_ratio = 1.2\n\
         commitment_discount = 1\nsustained_use = [1, 0.8, -0.6]\n\
         billed_parameter_servers = -1\nusd_per_vcpu_hour = -0.1\n"
    )));
}

#[test]
fn a_quantity_of_egress_without_a_price_and_a_negative_one_of_storage() {
    assert_snapshot!(refused(&resnet18(
        "[pricing.define.one]\nusd_per_vm_hour = 1\negress_gib = 5\n\
         [pricing.define.two]\nusd_per_vm_hour = 1\nstorage_gib = -5\n"
    )));
}

#[test]
fn discounts_that_exclude_each_other() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\nusd_per_vm_hour = 0.2\n\
         spot_ratio = 0.3\nsustained_use = [1, 0.8, 0.6, 0.4]\n"
    )));
}

#[test]
fn a_policy_without_a_price_beside_one_with_a_wrong_one() {
    assert_snapshot!(refused(&resnet18(
        "[pricing.define.one]\nusd_per_vm_hour = -1\n[pricing.define.two]\nminimum_s = 60\n"
    )));
}
