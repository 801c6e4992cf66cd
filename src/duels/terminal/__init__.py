"""The command line: what people see and type."""
