"""One module per stage: a pure function and the command line made from its signature."""
