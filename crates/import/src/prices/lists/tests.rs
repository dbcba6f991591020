//! Small synthetic files of every kind: the parsed prices, and damaged files.

use super::*;

fn options(day: &str, cloud: &str, region: &str) -> PriceListOptions {
    let list = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    PriceListOptions {
        date: (!day.is_empty()).then(|| day.to_owned()),
        clouds: list(cloud),
        regions: list(region),
    }
}

fn found(text: &str, options: &PriceListOptions) -> (Option<ImportedPrices>, String) {
    let mut diagnostics = Diagnostics::default();
    let source = Source::new("list", text);
    let found = read(&source, options, &mut diagnostics).expect("no output to fail");
    (found, diagnostics.render(false))
}

/// Provider, VM type, region, zone, market, price and day of every row.
#[track_caller]
fn rows(text: &str, options: &PriceListOptions) -> Vec<String> {
    let (found, wrong) = found(text, options);
    let found = found.unwrap_or_else(|| panic!("{wrong}"));
    assert!(wrong.is_empty(), "{wrong}");
    let rows = found.text.lines().skip(1);
    let short = |row: &str| row.split(',').take(7).collect::<Vec<_>>().join(",");
    rows.map(short).collect()
}

#[track_caller]
fn refused(text: &str, options: &PriceListOptions, expected: &str) {
    let (found, wrong) = found(text, options);
    assert!(found.is_none());
    assert!(wrong.contains(expected), "{expected}\n{wrong}");
}

fn item(vm: &str, price: &str, kind: &str, product: &str, sku: &str, more: &str) -> String {
    format!(
        r#"{{"currencyCode":"USD","retailPrice":{price},"armRegionName":"eastus","armSkuName":"{vm}","productName":"{product}",
"skuName":"{sku}","type":"{kind}","unitOfMeasure":"1 Hour"{more}}}"#
    )
}

#[test]
fn azure_prices_are_by_the_hour_and_reservations_are_totals_of_their_term() {
    let vm = "Standard_X4";
    let series = "Virtual Machines X Series";
    let windows = "Virtual Machines X Series Windows";
    let year = r#","reservationTerm":"1 Year""#;
    let five = r#","reservationTerm":"5 Years""#;
    let items = [
        item(vm, "0.5", "Consumption", series, "X4", ""),
        item(vm, "0.9", "Consumption", windows, "X4", ""),
        item(vm, "0.1", "Consumption", series, "X4 Spot", ""),
        item(vm, "0.2", "Consumption", series, "X4 Low Priority", ""),
        item(vm, "2628", "Reservation", series, "X4", year),
        item(vm, "9999", "Reservation", series, "X4", five),
        item(vm, "0.4", "DevTestConsumption", series, "X4", ""),
    ];
    let page = format!(
        r#"{{"BillingCurrency":"USD","Items":[{}],"Count":7}}"#,
        items.join(",")
    );
    let day = options("2026-11-27", "", "");
    let expected = [
        "azure,Standard_X4,eastus,,on-demand,0.5,2026-11-27",
        "azure,Standard_X4,eastus,,spot,0.1,2026-11-27",
        "azure,Standard_X4,eastus,,commitment-1y,0.3,2026-11-27",
    ];
    assert_eq!(rows(&page, &day), expected);
    let (list, _) = found(&page, &day);
    let report = list.map(|list| list.report.to_string()).unwrap_or_default();
    assert!(
        report.contains("Azure's retail prices") && report.contains("low priority"),
        "{report}"
    );
    refused(&page, &options("", "", ""), "does not say its day");
    refused(
        &page,
        &options("2026-11-27", "", "westus"),
        "without a price that can be used",
    );
    refused(&page.replace("0.5", "\"half\""), &day, "entry 1 of `Items`");
    refused(
        &page.replace("\"USD\",\"retail", "\"EUR\",\"retail"),
        &day,
        "prices in EUR",
    );
    refused(&page[..page.len() - 9], &day, "list:");
}

const OFFER: &str = r#"{"formatVersion":"v1.0","offerCode":"AmazonEC2","publicationDate":"2026-11-20T00:00:00Z",
"products":{
 "A":{"sku":"A","attributes":{"instanceType":"x9.large","regionCode":"us-east-1","operatingSystem":"Linux","tenancy":"Shared","preInstalledSw":"NA","capacitystatus":"Used"}},
 "B":{"sku":"B","attributes":{"instanceType":"x9.large","regionCode":"us-east-1","operatingSystem":"Windows","tenancy":"Shared","preInstalledSw":"NA","capacitystatus":"Used"}}},
"terms":{"OnDemand":{
 "A":{"A.1":{"priceDimensions":{"A.1.1":{"unit":"Hrs","pricePerUnit":{"USD":"0.2500000000"}}}}},
 "B":{"B.1":{"priceDimensions":{"B.1.1":{"unit":"Hrs","pricePerUnit":{"USD":"0.4000000000"}}}}}},
"Reserved":{"A":{
 "A.2":{"termAttributes":{"LeaseContractLength":"3yr","OfferingClass":"standard","PurchaseOption":"No Upfront"},"priceDimensions":{"A.2.1":{"unit":"Hrs","pricePerUnit":{"USD":"0.1"}}}},
 "A.3":{"termAttributes":{"LeaseContractLength":"1yr","OfferingClass":"convertible","PurchaseOption":"All Upfront"},"priceDimensions":{"A.3.1":{"unit":"Quantity","pricePerUnit":{"USD":"999"}}}}}}}}"#;

#[test]
fn the_list_of_aws_has_linux_on_shared_machines_in_json_and_csv_alike() {
    let expected = [
        "aws,x9.large,us-east-1,,on-demand,0.25,2026-11-20",
        "aws,x9.large,us-east-1,,commitment-3y,0.1,2026-11-20",
    ];
    let usual = options("", "", "");
    assert_eq!(rows(OFFER, &usual), expected);
    let rows_of = |row: &str| format!("{row},USD,x9.large,us-east-1");
    let head = "\"FormatVersion\",\"v1.0\"\n\"Disclaimer\",\"no promise\"\n\"Publication Date\",\"2026-11-20T00:00:00Z\"\n\
        \"Version\",\"1\"\n\"OfferCode\",\"AmazonEC2\"\n\
        TermType,LeaseContractLength,OfferingClass,PurchaseOption,Operating System,Tenancy,Pre Installed S/W,CapacityStatus,Unit,\
        PricePerUnit,Currency,Instance Type,Region Code\n";
    let csv = [
        "OnDemand,,,,Linux,Shared,NA,Used,Hrs,0.25",
        "OnDemand,,,,Linux,Dedicated,NA,Used,Hrs,0.3",
        "Reserved,3yr,standard,No Upfront,Linux,Shared,NA,Used,Hrs,0.1",
        "Reserved,3yr,standard,All Upfront,Linux,Shared,NA,Used,Hrs,0",
    ];
    let csv = head.to_owned() + &csv.map(rows_of).join("\n");
    assert_eq!(rows(&csv, &usual), expected);
    refused(
        &OFFER.replace("0.2500000000", "a quarter"),
        &usual,
        "the price `A.1.1`",
    );
    refused(&OFFER[..700], &usual, "list:");
    refused(&csv.replace(",0.3,", ",x,"), &usual, "list:8:");
    refused(
        &csv.replace("Region Code", "Region"),
        &usual,
        "without the column `Region Code`",
    );
}

#[test]
fn spot_prices_of_zones_are_of_their_day_and_of_linux() {
    let entry = |zone: &str, product: &str, usd: &str| {
        format!(
            r#"{{"AvailabilityZone":"us-east-1{zone}","InstanceType":"g5.xlarge","ProductDescription":"{product}","SpotPrice":"{usd}","Timestamp":"2026-11-26T14:02:31+00:00"}}"#
        )
    };
    let all = [
        entry("a", "Linux/UNIX", "0.45"),
        entry("b", "Linux/UNIX", "0.38"),
        entry("a", "Windows", "0.63"),
        // Earlier on that day, and on the day before.
        entry("a", "Linux/UNIX", "0.31").replace("T14:", "T09:"),
        entry("b", "Linux/UNIX", "0.29").replace("11-26", "11-25"),
    ];
    let text = format!("{{\"SpotPriceHistory\": [{}]}}", all.join(",\n"));
    let expected = [
        "aws,g5.xlarge,us-east-1,us-east-1a,spot,0.45,2026-11-26",
        "aws,g5.xlarge,us-east-1,us-east-1b,spot,0.29,2026-11-25",
        "aws,g5.xlarge,us-east-1,us-east-1b,spot,0.38,2026-11-26",
    ];
    let usual = options("", "", "");
    assert_eq!(rows(&text, &usual), expected);
    refused(&text.replace("0.38", "cheap"), &usual, "entry 2");
    refused(&text.replace("SpotPrice\"", "Price\""), &usual, "list:1:");
}

#[test]
fn the_table_of_vantage_needs_its_region_and_day() {
    let text = "Name,API Name,Instance Memory,On Demand,Linux Reserved cost,Linux Spot Minimum cost\n\
        X9,x9.large,\"8.0 GiB\",$0.2500 hourly,$0.1000 hourly,unavailable\n\
        X9,x9.xlarge,\"16.0 GiB\",$365.00 monthly,$0.2000 hourly,$0.1200 hourly\n";
    let expected = [
        "aws,x9.large,us-east-1,,on-demand,0.25,2026-11-27",
        "aws,x9.xlarge,us-east-1,,on-demand,0.5,2026-11-27",
        "aws,x9.xlarge,us-east-1,,spot,0.12,2026-11-27",
    ];
    let usual = options("2026-11-27", "", "us-east-1");
    assert_eq!(rows(text, &usual), expected);
    // The average, if a table has that, too.
    let both = (text.replace("Minimum cost\n", "Minimum cost,Linux Spot Average cost\n"))
        .replace("unavailable\n", "unavailable,unavailable\n")
        .replace("$0.1200 hourly\n", "$0.1200 hourly,$0.1637 hourly\n");
    assert!(rows(&both, &usual)[2].contains(",spot,0.1637,"), "{both}");
    refused(text, &options("2026-11-27", "", ""), "`--region`");
    refused(
        &text.replace("hourly,$0.1", "an hour,$0.1"),
        &usual,
        "list:2:",
    );
}

#[test]
fn a_catalogue_of_gpuhunt_needs_its_cloud_and_gcp_has_zones() {
    let text = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size\n\
        g9-large,us-central1-a,2.5,12,85.0,1,A100,40.0,False,\n\
        g9-large,us-central1-a,0.9,12,85.0,1,A100,40.0,True,\n";
    let expected = [
        "gcp,g9-large,us-central1,us-central1-a,on-demand,2.5,2026-11-27",
        "gcp,g9-large,us-central1,us-central1-a,spot,0.9,2026-11-27",
    ];
    let usual = options("2026-11-27", "gcp", "");
    assert_eq!(rows(text, &usual), expected);
    let (list, _) = found(text, &usual);
    let sizes = list.map(|list| list.vms).unwrap_or_default();
    assert!(
        sizes.contains("gcp,g9-large,12,85,A100,1,,gpuhunt's catalogue"),
        "{sizes}"
    );
    refused(text, &options("2026-11-27", "", ""), "`--cloud`");
    refused(&text.replace("2.5", "dear"), &usual, "list:2:");
    refused(&text.replace("True", "perhaps"), &usual, "list:3:");
}

#[test]
fn what_is_no_price_list_is_told_which_there_are() {
    let usual = options("", "", "");
    refused(
        "{\"log_history\": []}",
        &usual,
        "no price list that is known",
    );
    refused("a,b\n1,2\n", &usual, "`SpotPriceHistory`");
    refused(
        "InstanceType,vCPUs,Price,SpotPrice,Region\nb200,8,40,0.01,east\n",
        &usual,
        "SkyPilot's catalogue",
    );
    let own = "provider,vm,region,market,usd_per_hour,valid_from,source\n";
    assert_eq!(found(own, &usual).1, "");
}
