"""What the library says of tables that cannot be read, in the words of the pages."""

from __future__ import annotations

from cellworth.web.pages.language import message

SAME: tuple[str, ...] = (
    # Where in a file or table something is.
    message("{file}, line {line}, column {column}"),
    message("{file}, line {line}"),
    message("{file}, column {column}"),
    message("group {name}"),
    message("the prices"),
    message("the new rows"),
    message("the new values"),
    # How a table or a column is read, as fields of the page.
    message("the field {label}"),
    message("{value} in the field {label}"),
    message("the kind of {column}"),
    message("the least and most of {column}"),
    message("the categories of {column}"),
    message("the unit of {column}"),
    message("the description of {column}"),
    message("{kind} as the kind of {column}"),
    message("{option} on the command line"),
    message("{setting} or {other}"),
    message("{setting} and {other}"),
    message("{setting}, {another} and {other}"),
    message("'number'"),
    message("'date'"),
    message("kind"),
    message("least and most"),
    message("categories"),
    message("unit"),
    message("description"),
    # What the reader of a table doubts.
    message("{names} differ only in capitals, spaces or dashes, and count as different categories."),
    message("{names} is read as a category like any other."),
    message("{names} are read as categories like any others."),
    message("{value}, in row {row} (line {line}), is far outside the other numbers, {low} to {high}."),
    message(
        "{value}, in row {row} (line {line}) and {n} more, is far outside the other numbers, {low} to {high}."
    ),
    message("{n} different whole numbers, from {low} to {high}, are read as classes without order."),
    # Files that cannot be read.
    message("Add rows."),
    message("expected a header with {names}; {field} {thing}.{hint}"),
    message("appears more than once"),
    message("is missing"),
    message("The header has {names}."),
    message("a field of the row that begins here is longer than {n} characters."),
    message("Look for an opening quote without a closing one; if the text is really that long, shorten it."),
    message("expected columns separated by a comma, got a single column {name}."),
    message("expected {width} fields, as in the header, got {n}{rest}."),
    message("; more such rows: lines {names}"),
    message("expected {encoding} text, got {thing}."),
    message("the byte {byte}"),
    message("{one_example} or {other_example}"),
    message("an incomplete character"),
    message("UTF-16"),
    message("Save it again."),
    message("Split it."),
    message("Save other files as .csv or .xlsx."),
    message("Prices are kept in a .csv or .xlsx file."),
    message("Get a new copy."),
    message("Check its permissions."),
    message("Check its directory."),
    message("Check that it is complete, or export it as .csv."),
    message("{file} has {lines} lines; a file may have {most}."),
    message("This needs the package {package}, which is not installed."),
    message("Install it with: pip install {package}"),
    # Columns, rows and labels of a table.
    message("Remove it."),
    message("Name it in the header."),
    message("If cells of the header are merged, split them: its first line has a name for each column."),
    message("its formulas have no stored results."),
    message("Open the workbook in a spreadsheet program, save it, and try again."),
    message("(columns {places})"),
    message("Rename one of them."),
    message("Add rows below the column names."),
    message("(line {line})"),
    message("Give {setting}, lowest first."),
    message("Give the category another text."),
    message("{setting} names the column {name}, which is not there.{hint}"),
    message("The columns are {names}."),
    message("The rows are {names}."),
    message("The campaigns are {names}."),
    message("The fields are {names}."),
    message("There is no field {name}.{hint}"),
    message("There is no class {name}.{hint}"),
    message("expected text, got {got}."),
    # Values of a table that do not fit.
    message("{problem}, got {cells}."),
    message("{cells} and {n} more"),
    message("expected numbers"),
    message("expected whole numbers"),
    message("expected dates such as {example}{no_day}"),
    message("({text} is a day that does not exist)"),
    message("expected days that exist"),
    message("expected numbers without a comma"),
    message("expected finite numbers"),
    message("expected a finite number"),
    message("expected a date in the years 1 to 9999"),
    message("expected dates in the years 1 to 9999"),
    message("expected {expected}"),
    message("one of the classes {options}"),
    message("Correct the dates, or {as_category}."),
    message("{date} looks like a date."),
    message("{text} looks like a number with something beside it."),
    message("expected the names of {n} columns, got only {name}."),
    message("If that is a title, delete it: the first line must have the names."),
    message("Turn the column into one of these, or leave it out."),
    message("Use another unit."),
)
"""What the library says that the pages say in the same words."""

SENTENCES: dict[str, str] = {
    # Where in a file or table something is.
    "{file}, line {line} (byte offset {start})": message("{file}, line {line}"),
    "row {row}, column {column}": message("{column} of {row}"),
    "row {row}": message("{row}"),
    "column {column}": message("{column}"),
    "{value} in row {row} (line {line})": message("{value} in {row} (line {line})"),
    "{value} in row {row}": message("{value} in {row}"),
    # How a table or a column is read, as fields of the page.
    "set {setting} if the column holds text": message("choose {setting} if the column holds text"),
    "Write the digits alone, and the unit in {setting}, or {as_category}.": message(
        "Write the digits alone, and {setting} in its field, or {as_category}."
    ),
    "'integer'": message("'whole number'"),
    "'boolean'": message("'yes or no'"),
    "'ordered'": message("'ordered categories'"),
    "'category'": message("'categories'"),
    # Files that cannot be read.
    "expected a line of column names and rows below it, got an empty file.": message(
        "The file is empty; a line of column names and rows below it are expected."
    ),
    "expected rows below the column names, got only line {line}.": message(
        "There are no rows below the column names on line {line}."
    ),
    "{setting} must be a single character such as ',' or ';', got {got}.": message(
        "{setting} takes a single character such as ',' or ';', not {got}."
    ),
    "the row that begins here has unbalanced quotes ({detail}).": message(
        "The quotes of the row that begins here do not match."
    ),
    'Close every opening ", and write a " inside quotes twice, as in {quoted}.': message(
        'Close every opening ", and write a " inside quotes twice, as in "the ""best"" one".'
    ),
    "Pass {setting}; for a file that does have one column pass {other}.": message(
        "Choose {setting}; for a file that does have one column, {other}."
    ),
    "Put fields that contain the separator into double quotes, and leave holes blank "
    "between separators.": message(
        "Put fields that contain the separator into double quotes, and leave missing values "
        "blank between separators."
    ),
    "{setting} must be a point or a comma; got {got}.": message(
        "{setting} takes a point or a comma, not {got}."
    ),
    "{setting} must have a day, month and year, such as DD.MM.YYYY or %d.%m.%Y; got {got}.": message(
        "{setting} takes a day, month and year, such as DD.MM.YYYY, not {got}."
    ),
    "{setting} must be one that Python knows, such as 'utf-8', got {got}.": message(
        "{setting} takes a known encoding such as 'utf-8', not {got}."
    ),
    "expected text, got a NUL character.": message("The file holds something that is not text."),
    "The file may be damaged or not a text file; if it is UTF-16, pass {setting}.": message(
        "It may be damaged or no text file; if it is UTF-16, choose {setting}."
    ),
    "Pass {setting}.": message("Choose {setting}."),
    "If the file uses another encoding, pass it, for example {setting}.": message(
        "If the file uses another encoding, choose it, for example {setting}."
    ),
    "expected an Excel workbook, got a file that is not one ({detail}).": message(
        "This is no Excel workbook."
    ),
    "the Excel workbook cannot be read ({detail}).": message("The Excel workbook cannot be read."),
    "the file is larger than {size} MB uncompressed.": message(
        "The file is larger than {size} MB uncompressed."
    ),
    "expected a file that ends in .csv, .tsv, .txt (each also with .gz), .xlsx or "
    ".parquet, got {name}.": message(
        "Expected a file that ends in .csv, .tsv, .txt (each also with .gz), .xlsx or .parquet, got {name}."
    ),
    "Lists of cells are kept in .csv files.": message("Lists of values are kept in .csv files."),
    "expected a file that ends in .csv, got {name}.": message(
        "Expected a file that ends in .csv, got {name}."
    ),
    "expected a complete gzip file, got a damaged one ({detail}).": message(
        "The gzip file is damaged or not complete."
    ),
    "the file cannot be read ({detail}).": message("The file cannot be read ({detail})."),
    "the file cannot be written ({detail}).": message("The file cannot be written ({detail})."),
    "expected rows and columns, got the shape {shape}.": message("The table has no rows or no columns."),
    "expected a Parquet file, got one that cannot be read ({detail}).": message(
        "This is no Parquet file, or a damaged one."
    ),
    # Columns, rows and labels of a table.
    "expected at least one column besides the target and the row ids, got {names}.": message(
        "There is no column besides {names}, which are predicted or name the rows."
    ),
    "Add a column with features.": message("Add a column to predict from."),
    "expected at least one observed value, got only holes.": message("All values are missing."),
    "Leave the column out, fill in a few of its cells first, or, if it is still to be "
    "measured, say what it holds with {setting} and {other}.": message(
        "Leave the column out, fill in a few of its values first, or, if it is still to be "
        "measured, say what it holds: {setting} and {other}."
    ),
    "It is the target: fill in some labels, or name another column with {setting}.": message(
        "It is the column to predict: fill in some of its values, or name another one in {setting}."
    ),
    "nobody has measured it yet, so its texts are not known.": message(
        "Nobody has measured it yet, so its categories are not known."
    ),
    "Give them with {setting}, or leave the column out.": message("Give {setting}, or leave the column out."),
    "an ordered column needs its categories from low to high.": message(
        "Ordered categories need an order, lowest first."
    ),
    "Give them with {setting}; found {names}.": message("Give {setting}; found {names}."),
    "{names} contains a NUL or a broken character.": message("{names} contains a broken character."),
    "the column name {name} contains a NUL or a broken character.": message(
        "The column name {name} contains a broken character."
    ),
    "column {n} of {total} has no name.": message("Column {n} of {total} has no name."),
    "column names must differ, got {names} more than once{where}.": message(
        "Column names must differ; {names} is there more than once{where}."
    ),
    "expected at least one row, got none.": message("There are no rows."),
    "every row needs an id, got {got} in row number {n}{where}.": message(
        "Every row needs a name; row number {n}{where} has {got}."
    ),
    "Fill it in, or leave {setting} out to number the rows from 0.": message(
        "Fill it in, or leave {setting} blank to number the rows from 0."
    ),
    "row ids must differ, got {got} in lines {one} and {two} ({n} repeated in all).": message(
        "The names of rows must differ; {got} is on lines {one} and {two} ({n} repeated in all)."
    ),
    "row ids must differ, got {got} in rows number {one} and {two} ({n} repeated in all).": message(
        "The names of rows must differ; {got} is in rows number {one} and {two} ({n} repeated in all)."
    ),
    "Make them differ, or leave {setting} out to number the rows from 0.": message(
        "Make them differ, or leave {setting} blank to number the rows from 0."
    ),
    "'ordered' and 'category' columns must have categories, and other kinds must not; "
    "got {n} categories for the kind {kind}.": message(
        "There are {n} categories for the kind {kind}; only categories have some."
    ),
    "only 'ordered' and 'category' columns have categories, got {kind}.": message(
        "Only categories have them, not the kind {kind}."
    ),
    "each category must be given once, got {names} twice.": message(
        "Each category must be given once; {names} is there twice."
    ),
    "expected at least one category, got none.": message("There is no category."),
    "only 'number', 'integer' and 'date' columns have bounds; this one is {kind}.": message(
        "Only numbers and dates have a least and a most; this column is of the kind {kind}."
    ),
    "Leave its bounds out; its kind and categories determine what it may hold.": message("Leave them blank."),
    "no value of the kind {kind} is within the bounds ({lowest}, {highest}).": message(
        "No {kind} lies between {lowest} and {highest}."
    ),
    "{names} is read as a hole, not as a category.": message(
        "{names} stands for a missing value and cannot be a category."
    ),
    "{name} cannot be both the target and the row ids.": message(
        "{name} cannot be predicted and name the rows, too."
    ),
    "The classs are {names}.": message("The classes are {names}."),
    "{setting}, column {column}": message("{setting} of {column}"),
    "a target must be classes or numbers, got dates.": message(
        "Dates cannot be predicted, only classes and numbers."
    ),
    "Give a number of days, or set {setting} to treat each date as a class.": message(
        "Give a number of days, or choose {setting} to treat each date as a class."
    ),
    "a target needs at least two different labels, got only {got}.": message(
        "What is predicted needs at least two different values; there is only {got}."
    ),
    "Add other labels, or choose another target.": message(
        "Add others, or choose another column to predict."
    ),
    "nobody has measured it yet, so its cells can only be guessed from their bounds.": message(
        "Nobody has measured it yet, so its values can only be guessed from the least and "
        "most that are possible."
    ),
    "Give the lowest and highest value that it may have with {setting}, leave the column "
    "out, or fill in a few of its cells first.": message(
        "Give {setting}, leave the column out, or fill in a few of its values first."
    ),
    # Values of a table that do not fit.
    "text in a numeric column: expected numbers": message("expected numbers, as in most of the column"),
    "expected true or false (yes or no, 1 or 0)": message("expected yes or no"),
    "a cell must be a number, text, a boolean or a date": message(
        "expected a number, text, yes or no, or a date"
    ),
    "Correct the dates, add the text to {setting} if it marks a hole, or {as_category}.": message(
        "Correct the dates, add the text to {setting} if it marks a missing value, or {as_category}."
    ),
    "Say how dates are written with {setting}, or {as_category}.": message(
        "Say how dates are written, {setting}, or {as_category}."
    ),
    "Say so with {setting} if commas are decimal marks, write 12000 for twelve thousand, "
    "or {as_category}.": message(
        "Choose {setting} if commas are decimal marks, write 12000 for twelve thousand, or {as_category}."
    ),
    "{n} different texts in {total} observed cells, such as {text}, look like names and "
    "not like categories.": message(
        "{n} different texts in {total} known values, such as {text}, look like names and "
        "not like categories."
    ),
    "Write them alike if they mean the same; "
    "to keep them and silence this, name all categories in {setting}.": message(
        "Write them alike if they mean the same; if not, name all of them in {setting}."
    ),
    "If it marks a hole, say {setting}; "
    "to keep it and silence this, name all categories in {other}.": message(
        "If it marks a missing value, write {setting}; if not, name all that may come in {other}."
    ),
    "If they mark a hole, say {setting}; "
    "to keep them and silence this, name all categories in {other}.": message(
        "If they mark missing values, write {setting}; if not, name all that may come in {other}."
    ),
    "If it marks a hole, say {setting}; "
    "to keep it and silence this, state the range of the column in {other}.": message(
        "If it marks a missing value, write {setting}; if not, state the range in {other}."
    ),
    "Set {setting} if they are amounts, or {other} if they are classes.": message(
        "Choose {setting} if they are amounts, or {other} if they are classes."
    ),
    "the only text is {text}, so guesses and answers can be no other yet.": message(
        "The only text is {text}, so guesses and answers can be no other yet."
    ),
    "Name all that it may have in {setting}, or leave the column out.": message(
        "Name all that it may have, {setting}, or leave the column out."
    ),
    "Use {setting} if they name the rows, leave the column out, or {as_category}.": message(
        "Write {setting} if they name the rows, leave the column out, or {as_category}."
    ),
    "Correct it, add it to {setting} if it marks a hole, or {as_category}.": message(
        "Correct it, write {setting} if it marks a missing value, or {as_category}."
    ),
    "Add it to {setting}, or to {other} if it marks a hole.": message(
        "Add it to {setting}, or to {other} if it marks a missing value."
    ),
    "Correct the cell, or say {setting} if it marks a hole.": message(
        "Correct the value, or write {setting} if it marks a missing one."
    ),
    "Correct the cell, change {setting}, or add it to {other} if it marks a hole.": message(
        "Correct the value, change {setting}, or add it to {other} if it marks a missing one."
    ),
    "Set {setting} if fractions are meant.": message("Choose {setting} if fractions are meant."),
    "Numbers this large cannot be stored exactly: use {setting} if they name the rows, "
    "or set {other} for codes or 'number' for quantities.": message(
        "Numbers this large cannot be stored exactly: write {setting} if they name the rows, "
        "or choose {other} for codes or 'number' for quantities."
    ),
    "Correct the cell, or set it to None if the value is not known.": message(
        "Correct the value, or leave it blank if it is not known."
    ),
    "Correct the cell, or set it to None if the date is not known.": message(
        "Correct the date, or leave it blank if it is not known."
    ),
    "row {row}, column {column}: expected a number between {low} and {high}; got {got}.": message(
        "{column} of {row}: expected a number between {low} and {high}, got {got}."
    ),
    "Use another unit, or say {setting} if it marks a hole.": message(
        "Use another unit, or write {setting} if it marks a missing value."
    ),
}
"""What the pages say in other words than the library."""
