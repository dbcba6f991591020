use std::io;

/// A table as CSV; `columns` are separated by commas.
pub(crate) fn csv_text(
    columns: &str,
    rows: impl IntoIterator<Item = impl IntoIterator<Item = impl AsRef<[u8]>>>,
) -> io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.split(','))?;
    for row in rows {
        writer.write_record(row)?;
    }
    let bytes = writer.into_inner().map_err(|e| e.into_error())?;
    String::from_utf8(bytes).map_err(io::Error::other)
}
