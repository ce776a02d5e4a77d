use unicode_width::UnicodeWidthStr;

use super::style::one_line;

/// Rows as aligned columns, two blanks between. Where a `width` is given, the last column is cut so that a row stays one line.
pub(crate) fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]], width: Option<usize>) -> String {
    let rows: Vec<[String; COLUMNS]> =
        rows.iter().map(|row| row.each_ref().map(|cell| one_line(cell, usize::MAX))).collect();
    let mut widths = [0; COLUMNS];
    for row in &rows {
        for (column, cell) in row.iter().enumerate() {
            widths[column] = widths[column].max(cell.width());
        }
    }
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            if column + 1 < COLUMNS {
                line.push_str(cell);
                line.push_str(&" ".repeat(widths[column] - cell.width() + 2));
            } else {
                let room = width.map_or(usize::MAX, |width| width.saturating_sub(line.width()).max(10));
                line.push_str(&one_line(cell, room));
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_what_is_seen_and_the_last_one_is_cut() {
        let rows = [["上海", "a", "short"], ["x", "bbb", "a long description\nin two lines"]]
            .map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows, None), "上海  a    short\nx     bbb  a long description in two lines\n");
        assert_eq!(table(&rows, Some(24)), "上海  a    short\nx     bbb  a long descr…\n");
    }
}
