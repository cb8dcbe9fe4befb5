"""The commands of `report`: a file each, with its options, its examples and what it prints."""
