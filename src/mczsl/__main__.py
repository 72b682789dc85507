"""``python -m mczsl``."""

from mczsl.cli import main

main()
