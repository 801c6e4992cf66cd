"""The full-screen board, built with Textual (the extra `tui`)."""
