"""flip's bounds and levels in compiled code; tests hold them to the oracle. Needs the extra `fast`."""
