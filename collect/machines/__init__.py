"""The implementations of the Machine protocol: this computer, a modelled machine, a recorded one."""
