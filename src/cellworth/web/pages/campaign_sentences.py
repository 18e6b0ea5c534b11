"""What the library says of prices, campaigns and models, in the words of the pages."""

from __future__ import annotations

from cellworth.web.pages.language import message

SAME: tuple[str, ...] = (
    message("Convert them."),
    # Lists of prices.
    message("the price of {name}"),
    message("the first price"),
    message("the follow-up price"),
    message("the price of a visit"),
    message("the price of an answer"),
    message("the price"),
    message("the budget"),
    message("{thing} must be a number such as 7.27; got {got}."),
    message("a blank"),
    message("Write a point, not a comma."),
    message("Write the digits alone."),
    message("Fill it in."),
    message("Round it."),
    message("{thing} must have at most {n} digits after the point, as amounts in {currency} do; got {got}."),
    message("expected yes or no, got {got}."),
    message("Name the group, or leave this blank."),
    message("Add a line for each column."),
    message("Name columns, or give {thing}."),
    message('a line for the column "(other columns)"'),
    message("{name} appears twice."),
    message("{name} cannot be in a group."),
    message("Are the two swapped?"),
    message("Remove one of the two."),
    # What cannot be done with a campaign.
    message("Keep only the right one."),
    message("Upgrade with: pip install --upgrade cellworth."),
    message("Restore it from a backup."),
    message("{what} must have at most {n} characters; got {got}."),
    message("A campaign named {name} already exists."),
    message("Open it, or choose another name."),
    message("{what} must have at most {most} MB; got {size} MB."),
    message("Leave out rows or columns that you will not buy."),
    message("Put it back or, if it was moved, say where it is now with {command}."),
    message("A changed table needs a new campaign."),
    message("Write them as in the campaign's table."),
    message("Use a newer version."),
    message("A preview says what a budget buys now."),
    # Models and policies.
    message("Add rows of another class."),
)
"""What the library says that the pages say in the same words."""

SENTENCES: dict[str, str] = {
    "all prices must be in one currency, got {names}.": message(
        "All prices must be in one currency; there are {names}."
    ),
    "this runs on tables in memory, and a BlockTable may be larger; give it some rows, as in "
    "table.every(100), or read the whole table with Table.read.": message(
        "This is not possible for a table as large as this one, which stays in its own files."
    ),
    "a table of up to {most} rows can be sorted here; this one has more. Search for rows by a text in their "
    "id, or by the status of a cell.": message(
        "This table is too long to be sorted. Search for rows instead."
    ),
    # Lists of prices.
    "the price of row {row}, column {column}": message("the price of {column} of {row}"),
    "the price of column {name}": message("the price of {name}"),
    "prices of column {name}": message("the price of {name}"),
    "the first price of column {name}": message("the first price of {name}"),
    "the follow-up price of column {name}": message("the follow-up price of {name}"),
    "the default price": message("the price of all other columns"),
    "{thing} has more digits than can be kept; got {got}.": message(
        "{thing} has more digits than can be kept, {got}."
    ),
    "{thing} must be a positive, finite number; got {got}.{hint}": message(
        "{thing} must be above 0; got {got}.{hint}"
    ),
    "A cell that costs nothing needs no choice: ask for it at once.": message(
        "A value that costs nothing needs no choice: ask for it at once."
    ),
    "{thing} must be a finite number, 0 or more; got {got}.": message(
        "{thing} must be 0 or more; got {got}."
    ),
    "a currency must be a code of three capital letters, such as EUR; got {got}.": message(
        "A currency is a code of three capital letters, such as EUR; got {got}."
    ),
    "only a column in a group has one; got {got}.": message("Only a column in a group has one; got {got}."),
    "expected at least one price, got none.": message("There is no price."),
    "every column needs a price; got none for {names}.": message(
        "Every column needs a price; there is none for {names}."
    ),
    "Add prices, or give {thing} for the rest.": message("Add prices, or {thing} for the rest."),
    "the header must be column,price, optionally with more fields.": message(
        "The header must be column,price, perhaps with more fields."
    ),
    "the header must have column and price; got {got}.": message(
        "The header must have column and price; got {got}."
    ),
    "expected the name of a column, got a blank.": message("The name of the column is blank."),
    "each column has one line; got {name}, which is also on line {line}.": message(
        "Each column has one line; {name} is also on line {line}."
    ),
    "must be the same throughout a group; {name} has {one} before and {two} here.": message(
        "It must be the same throughout a group; {name} has {one} before and {two} here."
    ),
    "must not be above the price {price}; got {got}.": message(
        "It must not be above the price {price}; got {got}."
    ),
    "the follow-up price of column {column} must not be above its first price {price}; got {got}.": message(
        "The follow-up price of {column} must not be above its first price {price}; got {got}."
    ),
    "groups must have different names; got {name} twice.": message(
        "Groups must have different names; {name} is there twice."
    ),
    "a column can be in one group; got {name} in the groups {one} and {two}.": message(
        "A column can be in one group; {name} is in {one} and {two}."
    ),
    "each column must appear once; got {names} more than once.": message(
        "Each column must appear once; {names} is there more than once."
    ),
    "expected at least one column, got none.": message("There is no column."),
    "column {column} has its own price but is also in the group {group}, which sets its prices.": message(
        "{column} has its own price but is also in the group {group}, which sets its prices."
    ),
    "the name of a {noun} must be non-blank text; got {got}.": message(
        "A name must not be blank; got {got}."
    ),
    "the table has no holes, so there is nothing to buy": message(
        "nothing is missing in the table, so there is nothing to buy"
    ),
    "the table has no holes but in its target, and labels have no price, so there is "
    "nothing to buy; give the column {column} a price": message(
        "only values of {column} are missing, and they have no price; give it one"
    ),
    # What cannot be done with a campaign.
    "row {row}, column {column} has a different value on line {line}.": message(
        "{column} of {row} has a different value on line {line}."
    ),
    "Further wrong lines: {n} or more.": message("More lines are wrong: {n} or more."),
    "Further wrong lines: {n}.": message("More lines are wrong: {n}."),
    "If it is right, insist: {thing}.": message("If it is right, save it again."),
    "the campaign has no budget, so an ask needs a limit: give {setting}, {other}, or both.": message(
        "The campaign has no budget, so give a limit: {setting}, {other}, or both."
    ),
    "the table has no target, so there is no score to forecast.": message(
        "The table has no column to predict, so there is no score to forecast."
    ),
    "there is nothing to forecast: too few rows are labelled, or nothing is left to buy.": message(
        "There is nothing to forecast: too few values to predict are known, or nothing is left to buy."
    ),
    "too few cells are known to forecast from.": message("Too few values are known to forecast from."),
    "too few cells are known to forecast from: none in some folds.": message(
        "Too few values are known to forecast from."
    ),
    "Fill in more cells.": message("Fill in more values."),
    "no cell is missing, so there is nothing to forecast.": message(
        "Nothing is missing, so there is nothing to forecast."
    ),
    "event {number} is of the unknown kind {event}: a newer version of cellworth wrote it.": message(
        "Event {number} is of an unknown kind: a newer version of cellworth wrote it."
    ),
    "event {number} ({event}) is of version {version}, and this cellworth reads versions "
    "up to {known}: a newer cellworth wrote it.": message("A newer cellworth wrote event {number}."),
    "event {number} ({event}) is damaged ({detail}).": message("Event {number} is damaged."),
    "Restore the store from a backup.": message("Restore the data from a backup."),
    "{what} must be text and not blank; got {got}.": message("{what} must not be blank."),
    "{what} must not contain NUL or half a surrogate pair; got {got}.": message(
        "{what} contains a broken character."
    ),
    "who": message("The name"),
    "the comment": message("The comment"),
    "the reason": message("The reason"),
    "the name of a campaign": message("The name of the campaign"),
    "Campaign {name}: its name": message("The name of the campaign"),
    "Event {number} of campaign {name}: who": message("The name"),
    "Event {number} of campaign {name}: its key": message("The key"),
    "The name of a campaign must not be empty.": message("The campaign needs a name."),
    "Campaign {name}: its table": message("The table"),
    "The {name} of campaign {campaign}": message("The state of the campaign {campaign}"),
    "the campaign's table is expected at {place}, with the files of the start, but: {error}.": message(
        "The campaign's table is expected at {place}, as it was at the start, but: {error}."
    ),
    "this needs all cells of the campaign's table in memory, and the table is in row "
    "blocks: it is read where it is.": message(
        "This is not possible for a table as large as this one, which stays in its own files."
    ),
    "Use ask, tell, status, rows and export; for the rest, start a campaign on some of its rows.": message(
        "For this, begin a campaign with some of its rows."
    ),
    "the table of this campaign is in the store, and cannot be moved.": message(
        "The table of this campaign cannot be moved."
    ),
    "a lease must be a time such as '7d', '12h' or '30m', or never for no end, and at "
    "most {days} days long; got {got}.": message(
        "Values are reserved for a time such as 7d, 12h or 30m, or never for no end, and for "
        "at most {days} days; got {got}."
    ),
    "stage must be one of {names}; got {got}.": message("There is no stage {got}."),
    "campaign {name}: the original table is damaged; its SHA-256 is not the one recorded.": message(
        "The original table of the campaign {name} is damaged."
    ),
    "the last event of campaign {name} is dated {last}, but the clock says {now}: one of "
    "the two clocks was wrong.": message(
        "The last event of {name} is dated {last}, but the clock says {now}: one of the two clocks was wrong."
    ),
    "the last event of campaign {name} is dated {last}, but the clock says {now}: more "
    "than a year later.": message(
        "The last event of {name} is dated {last}, but the clock says {now}, more than a year later."
    ),
    "Until then new events get the time of the last one, and no lease can begin or end.": message(
        "Until then new events get the time of the last one, and nothing can be reserved."
    ),
    "Correct the clock if it is wrong; if it is right, set the campaign's time by it: "
    "cellworth clock --set, or campaign.set_clock().": message(
        "Correct the clock if it is wrong; if it is right, set the campaign's time by it: "
        "cellworth clock --set."
    ),
    "the key {key} was used before, for a different request: event {number}, {event} at {time}.": message(
        "This form was sent before, with something else in it (event {number})."
    ),
    "Use a new key.": message("Reload the page and try again."),
    "There is no {noun} {name} in {place}.{hint}": message("There is no {name}.{hint}"),
    "This column must hold the row ids.": message("This column must name the rows."),
    "the new rows must have {thing}; got the target {name}.": message(
        "The new rows must have {thing}, not {name}."
    ),
    "no target": message("no column to predict"),
    "the target {name}": message("{name} as the column to predict"),
    "new rows must be of the kind {kind}, got {other_kind}.": message(
        "New rows must be of the kind {kind}, not {other_kind}."
    ),
    "a budget of 0 buys nothing: give more, or leave it out for no limit.": message(
        "A budget of 0 buys nothing: give more, or leave it blank for no limit."
    ),
    "a budget of 0 buys nothing; give an amount of money above 0": message(
        "A budget of 0 buys nothing; give more"
    ),
    "the budget must be at most {most}; got {got}.": message("The budget must be at most {most}; got {got}."),
    "Leave it out for no limit.": message("Leave it blank for no limit."),
    "campaign {name} has format {format}, but this version of cellworth reads formats up "
    "to {known}.": message("A newer cellworth wrote the campaign {name}."),
    "{setting} must be an amount of money, 0 or more; got {got}": message(
        "{setting}: expected an amount of money, got {got}"
    ),
    "{setting} must be a finite amount of money; got {got}.": message(
        "{setting}: expected an amount of money, got {got}."
    ),
    "{setting} must be a whole number of cells, 0 or more; got {got}": message(
        "{setting}: expected a whole number, got {got}"
    ),
    "no strategy {name}.{hint}": message("There is no strategy {name}.{hint}"),
    "There are: {names}.": message("The strategies are {names}."),
    "There are: {names}": message("The strategies are {names}"),
    "Your own strategies must be registered before you open the campaign.": message(
        "Your own strategies must be known to the server."
    ),
    "strategy {name} buys labels only, but they have no price; give the column of the "
    "target a price, or choose another strategy": message(
        "The strategy {name} buys values of the column to predict only, but they have no "
        "price; give it one, or choose another strategy"
    ),
    "the recorded choice of a strategy is damaged ({detail}); restore the store from a backup.": message(
        "The recorded choice of a strategy is damaged; restore the data from a backup."
    ),
    "the recorded choice names a completer {name} that this version of cellworth does not know.": message(
        "A newer cellworth chose how to guess missing values."
    ),
    "{part} does not run on row blocks: it has no {method}.": message(
        "This strategy does not work on a table as large as this one."
    ),
    "Choose another strategy, or read the table into memory.": message(
        "Choose another strategy, or a smaller table."
    ),
    "what the money of a batch could have bought is found by choosing among all cells in memory, and this "
    "table is in row blocks.": message(
        "What else the money could have bought is not worked out for a table as large as this one."
    ),
    # Models and policies.
    "no candidate could be trained; expected at least one. {how}": message("No model could be trained."),
    "no row has a label, so there is nothing to learn from; give some labels.": message(
        "No value to predict is known, so there is nothing to learn from."
    ),
    "{n} labelled rows with {k} distinct numbers are too few to choose a model on; "
    "expected at least {least} rows with different numbers.": message(
        "{n} known values to predict are too few to choose a model; at least {least} "
        "different ones are needed."
    ),
    "all labels are of one class; expected at least two.": message(
        "All known values to predict are alike; at least two different ones are needed."
    ),
    "all labels are of one class, {name}; expected at least two.": message(
        "All known values to predict are {name}; at least two different ones are needed."
    ),
    "too few labelled rows to choose a model on; expected at least {least} in each of two classes.": message(
        "Too few values to predict are known to choose a model; at least {least} in each of "
        "two classes are needed."
    ),
    "Label more rows.": message("Fill in more of them."),
    "a policy predicts a target, and the campaign's table has none.": message(
        "The table has no target, so there is nothing to predict."
    ),
    "column {column} is the target, which is predicted; leave it out.": message(
        "{column} is what is predicted; leave it blank."
    ),
    "nothing says when to stop; give {cost}, {budget}, {mean}, or {sure} (for a number, {much})": message(
        "nothing says when it is enough; say what an error costs, the most to spend on a "
        "row, or how sure is enough"
    ),
    "give error_cost or mean_budget, not both: each says what a cell must bring for its price": message(
        "say what an error costs, or what to spend on a row on average, not both"
    ),
    "{thing} must be a finite amount of money, not negative; got {got}": message(
        "{thing}: expected an amount of money, got {got}"
    ),
    "error_cost does not say what an error costs if the true class is {names}; give each class a cost, 0 if "
    "errors on it cost nothing": message("say what an error costs if the true class is {names}"),
    "the cost of an error on {name}": message("what an error on {name} costs"),
    "the prices differ from row to row, so they do not say what a cell of a new row "
    "costs; give prices by column.": message(
        "The prices differ from row to row, so they do not say what a value of a new row costs."
    ),
    "confidence must be a probability, at most 1 (write 0.9 for 90 %); got {got}": message(
        "The probability must be at most 100 %, not {got}"
    ),
}
"""What the pages say in other words than the library."""
