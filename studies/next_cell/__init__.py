"""The next cell for a new row: what money per row buys, against fixed orders; see PROTOCOL.md."""
