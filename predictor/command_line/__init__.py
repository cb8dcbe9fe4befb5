"""The command `numapredict`: its commands and options, help, manual pages, schemas."""
