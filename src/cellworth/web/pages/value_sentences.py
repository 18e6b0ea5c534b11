"""What the library says of values, their worth and forecasts, in the words of the pages."""

from __future__ import annotations

from cellworth.web.pages.language import message

SAME: tuple[str, ...] = (
    # Values that are typed in.
    message("one of {options}"),
    message("yes or no"),
    message("a date such as {example}{bounds}"),
    message("a date"),
    message("a whole number{bounds}"),
    message("a number{bounds}"),
    message("from {low} to {high}"),
    message("from {low}"),
    message("to {high}"),
    message("Write the number without {unit}."),
    message("There is no such day."),
    message("Did you mean {name}?"),
    message("without the lowest and the highest"),
    message("without the {n} lowest and highest"),
    message(", and none was negative"),
    message("from the start"),
    message("as an answer"),
    # What cannot be done with a value.
    message("Only they can give it back"),
    message("There is no column {name}.{hint} The columns are {names}."),
    message("There is no row {name}.{hint} The rows are {names}."),
    message("There is no campaign {name}.{hint}"),
    # Money, rows and files.
    message("{what}: expected an amount of money such as 50 or 12.50, got {got}."),
    message("{what}: expected a whole number of at least {least}, got {got}."),
    message("{file} has {lines} lines; a file may have {most}. Split it."),
    # Access, and the server itself.
    message("This needs the role {role}; yours is {own}. Ask for a token with that role."),
    message("The computation failed; the error was logged."),
    message("The server is shutting down. Try again when it is back."),
    message("Something went wrong on the server; the error was logged. Nothing was partly recorded."),
    message("There is no token with this id: somebody has removed it."),
    # Why a value is worth buying.
    message("nobody has measured this column yet, so some of it comes first"),
    message("known only to ±{much}"),
    message("guessed to be {guessed}"),
    message("drawn with its row, "),
    message("drawn by chance, "),
    message("for its price"),
    # Whether to go on.
    message("there is no score: {note}"),
    message(
        "too early to tell: a forecast needs {n} rounds with answers that cost money; so far there were {k}"
    ),
    message("nothing is left to buy"),
    message("no forecast without a score"),
    message("no gain is visible so far; the next {money} is expected to bring less than {most}"),
    message("the next {money} is expected to bring less than {most}"),
    message("the next {money} is expected to bring about {gain}, less than {most}, perhaps nothing"),
    message("the next {money} is expected to bring {gain} (95 % interval {low} to {high})"),
    # What to measure next.
    message("a probability of {share} is enough"),
    message("the money is expected to bring more in other rows"),
    message("expected to move the prediction most for the money"),
    message("expected to save {worth} for {price}"),
    # Errors of guesses, and changes in the history.
    message("{share} ({low} to {high}) wrong"),
    message("{share} wrong"),
    message("{off} ({least_off} to {most_off}){of_unit}"),
    message("{off}{of_unit}"),
    message("from {old} to {new}"),
    message("no limit"),
    message("open"),
    message("closed"),
    message("archived"),
    message("{options} and {n} more"),
)
"""What the library says that the pages say in the same words."""

SENTENCES: dict[str, str] = {
    # Values that are typed in.
    "row {row}, column {column}: expected {expected}, got {got}.{hint}": message(
        "{column} of {row}: expected {expected}, got {got}.{hint}"
    ),
    "column {column}: expected {expected}, got {got}.{hint}": message(
        "{column}: expected {expected}, got {got}.{hint}"
    ),
    "true or false (yes or no, 1 or 0)": message("yes or no"),
    "a date such as {example} without a time{bounds}": message("a date such as {example}{bounds}"),
    "Write a decimal point, not a comma, and nothing between thousands.": message(
        "Write a number such as 1250.5, with nothing between thousands."
    ),
    "Leave it out if it is not known.": message("Leave it blank if it is not known."),
    "If it is right, add it to the categories of the column first: {how}": message(
        "If it is right, whoever manages the campaign can add it as a category, on the page Manage."
    ),
    "column {column}: only columns of categories can have one more, and this one has {how}.": message(
        "{column}: only columns of categories can have one more."
    ),
    "column {column}: the new category must not be blank.": message(
        "{column}: the new category must not be blank."
    ),
    "column {column}: its categories have no order, so none comes before another.": message(
        "{column}: its categories have no order, so none comes before another."
    ),
    "column {column}: {typed} may be read in two ways. Type {one} or {two}.": message(
        "{column}: {typed} may be read in two ways. Type {one} or {two}."
    ),
    "row {row}, column {column}: got {got}, but the {n} values known there are from {low} to "
    "{high}{rest}{also}.": message(
        "{column} of {row}: got {got}, but the {n} values known there are from {low} to {high}{rest}{also}."
    ),
    "row {row}, column {column}: got {got}, but {known} is known, {came}. Use correct to change it.": message(
        "{column} of {row}: got {got}, but {known} is known, {came}."
    ),
    "row {row}, column {column}: got two answers at once, {one} and {two}. Keep only the right one.": message(
        "{column} of {row}: got two answers at once, {one} and {two}. Keep only the right one."
    ),
    # What cannot be done with a value.
    "row {row}, column {column} was never asked for. Check the names; {how}": message(
        "{column} of {row} was never asked for. Check the names."
    ),
    "row {row}, column {column} has no value yet. Use tell to record one.": message(
        "{column} of {row} has no value yet."
    ),
    "row {row}, column {column} has the value {value} and cannot be refused. If the value is wrong, use "
    "correct.": message(
        "{column} of {row} has the value {value}, so it is available. If that is wrong, correct it."
    ),
    "row {row}, column {column} has the value {value} and cannot be cancelled.": message(
        "{column} of {row} has the value {value}, so it cannot be withdrawn."
    ),
    "row {row}, column {column} was refused, so there is nothing to {verb}.": message(
        "{column} of {row} is not available."
    ),
    "row {row}, column {column} was never asked for, so there is nothing to {verb}.": message(
        "{column} of {row} was never asked for."
    ),
    "row {row}, column {column} already has a value, so there is nothing to take.": message(
        "{column} of {row} already has a value."
    ),
    "row {row}, column {column} is no longer out: it was cancelled or its lease ended. It may be asked for "
    "again.": message(
        "{column} of {row} is no longer asked for: it was withdrawn, or its time is over. It may be "
        "asked for again."
    ),
    "row {row}, column {column} is with {who} until {until}. {so}.": message(
        "{column} of {row} is with {who} until {until}. {so}."
    ),
    "Take another cell": message("Take another value"),
    "campaign {name} is closed, so nothing was recorded. Open it again first.": message(
        "The campaign {name} is closed, so nothing was recorded. Open it again first."
    ),
    "campaign {name} is archived, so nothing was recorded. Open it again first.": message(
        "The campaign {name} is archived, so nothing was recorded. Open it again first."
    ),
    # Money, rows and files.
    "a budget of {new} is below what is spent, {spent}, and reserved, {reserved}. Give at least {least}, or "
    "cancel cells that are out first.": message(
        "A budget of {new} is below what is spent, {spent}, and reserved, {reserved}. Give at least "
        "{least}, or withdraw values first."
    ),
    "the currency of a campaign cannot change: it has {old}, and the new prices are in {new}.": message(
        "The currency of a campaign cannot change: it has {old}, and the new prices are in {new}."
    ),
    "new rows must have new ids; already taken: {ids}. To add values to existing rows, {how}": message(
        "New rows must have new ids; already taken: {ids}."
    ),
    "the new rows must have all columns of the campaign's table; got none for {names}.": message(
        "The new rows must have all columns of the campaign's table; there is none for {names}."
    ),
    "{file}, line {line}, column '{field}': {hint}": message("{file}, line {line}, {field}: {hint}"),
    "expected the name of a row, got a blank. Fill it in.": message(
        "The name of the row is blank. Fill it in."
    ),
    "expected the name of a column, got a blank. Fill it in.": message(
        "The name of the column is blank. Fill it in."
    ),
    "The file is no longer on the server: {how}": message(
        "The file is no longer on the server: files wait for an hour, and only the newest ones. Send it "
        "again."
    ),
    # Access, and the server itself.
    "The form was not sent from a page of this server, or is too old. {how}": message(
        "The form was not sent from a page of this server, or is too old. Reload the page and try again."
    ),
    "This link was used before, is too old, or is not complete. {how}": message(
        "This link was used before, is too old, or is not complete. Ask for a new one, or sign in by a token."
    ),
    "The computation was interrupted; a new process takes over. Try again.": message(
        "The computation was interrupted. Try again."
    ),
    "who must not be blank; got {got}.": message("The name must not be blank."),
    "a role must be one of {roles}; got {got}.": message("Expected one of the roles {roles}, got {got}."),
    "expires must lie in the future; got {got}.": message("The last day must lie in the future."),
    # Why a value is worth buying.
    "{guess}; {luck}worth {times} times the average hole{rest}": message(
        "{guess}; {luck}worth {times} times the average missing value{rest}"
    ),
    "{guess}; {luck}which is worth {times} times the average hole{rest}": message(
        "{guess}; {luck}which is worth {times} times the average missing value{rest}"
    ),
    "its label is missing, and {known} of its {columns} cells are known": message(
        "what is to be predicted is missing, and {known} of its {columns} values are known"
    ),
    # Whether to go on.
    "the table has no target": message("the table has no column to predict"),
    "too few rows have a label for {target}": message("too few rows have a value of {target}"),
    "too few rows are labelled in each class of {target}": message(
        "too few rows are known in each class of {target}"
    ),
    "No cell that is left costs less than {price}, and only {money} can be spent.": message(
        "No value that is left costs less than {price}, and only {money} can be spent."
    ),
    "No cell is left to ask for: all are known, out or refused.": message(
        "No value is left to ask for: all are known, asked for or not available."
    ),
    # What to measure next.
    "all cells that can be measured are known": message("all that can be measured is known"),
    "further cells would move the prediction by only {much}": message(
        "further values would move the prediction by only {much}"
    ),
    "each of its missing cells costs more than the {left} left of its budget": message(
        "each missing value costs more than the {left} left for this row"
    ),
    "no further cell could change the decision": message("no further value could change the decision"),
    "no cell is expected to save more than it costs": message(
        "no value is expected to save more than it costs"
    ),
    "no cell that can be bought would change the prediction": message(
        "no value that can be bought would change the prediction"
    ),
    "free cells are always worth taking": message("free values are always worth taking"),
    "with {n} more cell{s} expected to save {worth} for {price}": message(
        "with {n} more expected to save {worth} for {price}"
    ),
    # Errors of guesses, and changes in the history.
}

STRATEGIES = (
    message("the paper's: highest variance over all completions, whatever it costs"),
    message("variance over the last four completions, the paper's best window"),
    message("highest variance per unit of money"),
    message("the paper's bi-objective search for a batch of high variance and low price"),
    message("the batch of the highest summed variance that the budget can buy"),
    message("cells on which a committee of completers disagrees most"),
    message("cells on which the committee changed its mind most since the last round"),
    message("whole rows whose class is worth knowing the values for"),
    message("cells at random, completed as the paper does"),
    message("cells at random, completed by the joint Gaussian"),
    message("drawn in proportion to posterior variance"),
    message("drawn in proportion to posterior variance times what the cell does to the classifier"),
    message(
        "drawn in proportion to how far the cell may move a linear model's prediction, per unit of money"
    ),
    message(
        "rows or cells drawn in proportion to what they add to the training, per unit of money; labels "
        "too, if they have a price"
    ),
    message("as recommended, but never a label"),
    message("labels that add most to the training, per unit of money; never a cell"),
    message("labels of which the model is least sure, per unit of money; never a cell"),
    message("labels that are expected to reduce the error of a linear model most; never a cell"),
    message("chosen on your table by hiding and buying back known cells; recommended unless clearly beaten"),
)
"""What the built-in strategies do, as they say it themselves."""
