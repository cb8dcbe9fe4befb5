"""The terminal output of numapredict: log lines, progress, answers, and the options that all commands share."""
