"""Small networks gain nothing from threads and lose much on a busy machine."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
