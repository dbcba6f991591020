"""The program: `python -m scavsim`."""

import sys


def main() -> int:
    from . import _native

    return _native.main(["scavsim", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
