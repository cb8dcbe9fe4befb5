"""What people see of numapredict: lines on the way, progress, answers, and the options that all commands share."""
