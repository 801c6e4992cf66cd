"""`python -m duels`: the command, where its script is not on the path."""

from duels.terminal.commands import main

if __name__ == "__main__":
    main()
