"""Times that no clock gave: a traced program on a described machine."""
