//! Rows that an earlier run left, if they are unchanged. A kill only affects the end: rows without a hash, without a line
//! end, or of an unfinished task are evaluated again. Other rows that do not match are altered: no figure of them can be
//! trusted.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use super::manifest::{self, Identity};
use super::records_csv::ValidRows;
use super::row_hashes::{AlteredRows, Check, PARTIAL, RowHashes};
use super::stored_rows::StoredRows;
use scavsim_base::output::OutputFolder;
use scavsim_read::input::regular;

/// The unchanged rows at `path` of the run of `manifest`; for a killed run, by their hashes in [`PARTIAL`].
pub fn good(folder: &OutputFolder, path: &Path, manifest: &Identity) -> io::Result<ValidRows> {
    let columns = manifest::columns(manifest);
    let mut rows = match StoredRows::open(path, &columns) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ValidRows::default()),
        Err(error) => return Err(error),
        Ok(Some(rows)) => rows,
        // Killed within the first write.
        Ok(None) if StoredRows::is_torn_header(path, &columns)? => return Ok(ValidRows::default()),
        Ok(None) => return Err(AlteredRows("line 1 is not the header".to_owned()).into()),
    };
    match Check::from_manifest(manifest, 1) {
        Some(check) => by_manifest(folder, &mut rows, check),
        None => by_lines(folder, &mut rows, RowHashes::new(manifest)),
    }
}

/// The good rows of a run that ended, complete or not.
fn by_manifest(
    folder: &OutputFolder,
    rows: &mut StoredRows,
    mut check: Check,
) -> io::Result<ValidRows> {
    let mut lines = folder.create(PARTIAL)?;
    let mut good = ValidRows::default();
    let (mut count, all) = (0, check.rows());
    while count < all && rows.skip()? {
        let line = check.check_rows(rows.raw(), 1)?;
        count += 1;
        if check.is_at_border() {
            lines.write_all(line.as_bytes())?;
            good.rows = count;
            good.hashes_end += line.len() as u64;
        }
    }
    check.end()?;
    lines.close()?;
    Ok(good)
}

/// The good rows of a run that was killed.
fn by_lines(
    folder: &OutputFolder,
    rows: &mut StoredRows,
    mut seen: RowHashes,
) -> io::Result<ValidRows> {
    let mut lines = match regular::open(&folder.file(PARTIAL)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ValidRows::default()),
        file => BufReader::new(file?),
    };
    let mut good = ValidRows::default();
    let (mut right, mut end) = (String::new(), 0);
    while let Some(until) = next(&mut lines, &mut right)? {
        if until <= seen.rows() || until - seen.rows() > seen.room() {
            break;
        }
        let first = seen.rows();
        let mut told = String::new();
        while seen.rows() < until {
            if !rows.skip()? {
                return Ok(good);
            }
            told = seen.push_rows(rows.raw(), 1);
        }
        if told != right {
            return Err(AlteredRows::rows(first, until - 1, 1));
        }
        end += right.len() as u64;
        if seen.is_at_border() {
            (good.rows, good.hashes_end) = (until, end);
        }
    }
    Ok(good)
}

/// The number of rows of the next line; `None` if no complete one is left.
fn next(lines: &mut impl BufRead, line: &mut String) -> io::Result<Option<u64>> {
    line.clear();
    match lines.read_line(line) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(None),
        Err(error) => return Err(error),
    }
    let rows = line
        .strip_suffix('\n')
        .and_then(|line| line.split_once(' '));
    Ok(rows.and_then(|(rows, _)| rows.parse().ok()))
}
