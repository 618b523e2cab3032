"""``python -m hullrank`` is the command ``hullrank``."""

from hullrank.cli import main

if __name__ == "__main__":
    main()
