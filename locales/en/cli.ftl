# Messages of the command line. Keys: cli-<place>-<meaning>.
