"""What the library says of its store, and the server of itself, in the words of the pages."""

from __future__ import annotations

from cellworth.web.pages.language import message

SAME: tuple[str, ...] = (
    # The store that campaigns are kept in.
    message("The server says: {error}"),
    message("SQLite says: {error}."),
    message("The system says: {error}."),
    message("It can only be looked at."),
    message("The server of {place} cannot be reached."),
    message("Check that it is running, and check the address, user and password."),
    message("Free some space and try again."),
    message("Try again, or end the program that holds it."),
    message("Try again, or close the program that holds it."),
    message("The user of {place} may not write there."),
    message(
        "Ask for the rights to create tables in the database's schema and to write to them; "
        "the server must not be read-only."
    ),
    message("The file {place} was moved, removed or replaced while it was open."),
    message("The file {place} is not a SQLite database, or is damaged."),
    message("Give another path, or restore the file from a backup."),
    message("The file {place} is not a cellworth store, and was left as it is."),
    message("Give another path, or remove the file if it is of no use."),
    message("The store {place} cannot be written."),
    message("Both the file and its folder must be writable, since SQLite keeps its log next to the file."),
    message("Check their permissions."),
    message("The path {place} cannot be accessed."),
    message("Check the permissions of its folders."),
    message("The folder {folder} for the store {name} does not exist."),
    message("Create it first."),
    message("Expected the path of a file; got the folder {place}."),
    message("Add the file's name."),
    message("Run cellworth check to see what is intact, and restore the store from a backup."),
    # Access, and the server itself.
    message("The token is not known here."),
    message("Check it, or ask for a new one."),
    message("There is no file {name} of a campaign."),
    message("Create one with: {command}"),
    message("Make it private: {command}"),
    message("Budget"),
    message("Money"),
    message("Values"),
    message("How many"),
    message("Price of {name}"),
    message("The first row"),
    message("The last row"),
    message("An error costs"),
    message("{what}: {typed} may be read in two ways."),
    message("Type {one}, or {two} if you mean that."),
    message("There is no row {row}, and adding one needs the role 'manage'."),
    message("There is no column {name}."),
    message("There is no row {name}."),
    message("The first row must come before the last; got {first} and {last}."),
    message("There is no row number {n}; the table has {rows} rows."),
)
"""What the library says that the pages say in the same words."""

SENTENCES: dict[str, str] = {
    # The store that campaigns are kept in.
    "The last write was saved as a whole or not at all: read the events before you write again.": message(
        "The last change was saved as a whole or not at all: look before you try again."
    ),
    "The disk of the server of {place} is full; nothing was written.": message(
        "The disk of the database server of {place} is full; nothing was saved."
    ),
    "The disk of {place} is full; nothing was written.": message(
        "The disk of {place} is full; nothing was saved."
    ),
    "Another program kept {place} locked for {seconds} s; nothing was written.": message(
        "Another program kept {place} locked for {seconds} s; nothing was saved."
    ),
    "The store {place} is damaged: it holds text that is not UTF-8.": message(
        "The store {place} is damaged."
    ),
    "The store {place} is damaged: it holds text that is not UTF-8 ({detail}).": message(
        "The store {place} is damaged."
    ),
    "The store {place} is damaged: the table {table} must hold one version number; got {got}.": message(
        "The store {place} is damaged."
    ),
    "The store {place} was made by a newer cellworth: its tables have version {version}, "
    "and this cellworth knows versions up to {known}.": message("A newer cellworth made the store {place}."),
    "The database {place} cannot hold this text; nothing was written.": message(
        "The database {place} cannot hold this text; nothing was saved."
    ),
    "Create one with the encoding UTF8: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0.": message(
        "Create one with the encoding UTF8."
    ),
    "The store {place} could not be used; nothing was written.": message(
        "The store {place} could not be used; nothing was saved."
    ),
    "Nothing was written, since it would be lost.": message("Nothing was saved, since it would be lost."),
    "Put the file back and open the store again.": message("Put the file back and start the server again."),
    "The settings of campaign {name} are damaged or were changed: their checksum is not "
    "the one recorded.": message("The settings of the campaign {name} are damaged."),
    "The settings of campaign {name} are damaged ({detail}).": message(
        "The settings of the campaign {name} are damaged."
    ),
    "The table of campaign {name} is damaged: expected the SHA-256 {digest}; got {found}.": message(
        "The table of the campaign {name} is damaged."
    ),
    "Campaign {name} is damaged: event {number} is missing.": message(
        "The campaign {name} is damaged: event {number} is missing."
    ),
    "Campaign {name} in {place} is damaged: the number of its last event is not stated.": message(
        "The campaign {name} is damaged: its last event is missing."
    ),
    "Event {number} of campaign {name} is damaged: {error}.": message(
        "Event {number} of the campaign {name} is damaged."
    ),
    "Event {number} ({event}) states a snapshot that is not what the events up to number "
    "{before} add up to.": message("The history is damaged at event {number}."),
    "expected event {number}, got event {found}: the log has a gap.": message(
        "The history is damaged: event {number} is missing."
    ),
    "Expected the last event of campaign {name} to be number {number}; got {found}.": message(
        "Somebody else saved something at the same time."
    ),
    "Somebody else wrote first: read the new events and try again.": message("Try again."),
    "Somebody else wrote to campaign {name} first.": message(
        "Somebody else saved something at the same time."
    ),
    "Read the new events and try again.": message("Try again."),
    "the last event is number {number}, not {after}.": message(
        "Somebody else saved something at the same time."
    ),
    "the key {key} is taken.": message("This was saved before."),
    "Event {number} of campaign {name} already has the key {key}: this was recorded before.": message(
        "This was saved before, as event {number}."
    ),
    "Read the new events, and do not send it again.": message("Do not send it again."),
    "It has no campaigns yet.": message("There are no campaigns yet."),
    "expected a packed table; got damaged or other bytes ({detail}).": message(
        "The stored table is damaged."
    ),
    "expected a table packed in format {format}; got format {found}.": message(
        "Another version of cellworth stored the table."
    ),
    "expected a reference to row blocks of format {format}; got {found}.": message(
        "Another version of cellworth stored the table."
    ),
    "Another version of cellworth wrote it: use that version, or a newer one.": message(
        "Use that version, or a newer one."
    ),
    # Access, and the server itself.
    "Sign in, or send a token as in Authorization: Bearer TOKEN.": message("Sign in first."),
    "The client has gone, so the work was given up.": message(
        "The page was closed, so the work was given up."
    ),
    "The request is larger than {size} MB, the limit of this server.": message(
        "What you sent is larger than {size} MB, the limit of this server."
    ),
    "The request is larger than {size} MB, the limit for requests without a file.": message(
        "What you sent is larger than {size} MB, the limit without a file."
    ),
    "Send a file, or several requests.": message("Send a file."),
    "this server requires no tokens, so there are none to change.": message(
        "This server asks for no tokens, so there are none to change."
    ),
    "there is no token with the id {name}.": message("There is no such token."),
    "List them first.": message("Reload the page."),
    "the tokens cannot be read ({detail}).": message("The tokens cannot be read."),
    "expected a token file of format {format}; got something else ({detail}).": message(
        "The file of tokens is damaged."
    ),
    "Give another path, or create new tokens.": message("Ask who runs the server."),
    "there is no such token file.": message("The file of tokens is not there."),
    "other users may read this token file.": message(
        "Other users of the server may read the file of tokens."
    ),
    "Field required.": message("Something is missing in the address or the form."),
    "Input should be {error}.": message("This part of the address or the form cannot be read."),
    "Not Found": message("There is no such page."),
    "Method Not Allowed": message("This cannot be done here."),
    "{name}: expected a number as a bound, got {got}.": message(
        "{name}: the least and the most are numbers, not {got}."
    ),
    "Row: give the row an id to keep it under.": message("Give the row a name to keep it under."),
    "Enough: expected per cent, above 0 and at most 100; got {got}.": message(
        "A probability is above 0 and at most 100 %, not {got}."
    ),
    "Expected a row id, got a blank.": message("The name of the row is blank."),
    "Enter an id from the table.": message("Enter one from the table."),
}
"""What the pages say in other words than the library."""
