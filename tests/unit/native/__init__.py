"""Tests of the native parts, one by one."""
