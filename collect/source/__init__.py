"""Say where in the source an address of a program is: function, file and line, and the variables there."""
