"""Authentication, roles and request checks."""
