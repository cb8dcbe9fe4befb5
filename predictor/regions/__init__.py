"""Say what each region of a program gains from other mappings, by replaying it while the program runs once."""
