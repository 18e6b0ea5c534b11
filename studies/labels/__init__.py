"""Labels beside cells: what to buy when both have a price. See PROTOCOL.md."""
