"""Modelled times: a traced program on a described machine."""
