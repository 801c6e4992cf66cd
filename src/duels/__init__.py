"""Five two-player rule-book games: rules, matches, records and players, ready to use from Python.

`__init__.pyi` lists the public names. Each is imported when it is first used, so that the command line starts
quickly and only computations need NumPy.
"""

import lazy_loader

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
