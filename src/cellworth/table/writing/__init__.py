"""Tables to files and frames, with the user's own values in them."""
