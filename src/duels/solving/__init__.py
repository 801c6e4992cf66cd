"""Methods of perfect play that know no game; each game's `oracle.py` puts one of them to work."""
