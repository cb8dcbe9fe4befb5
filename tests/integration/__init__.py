"""Tests of several files together, and of the whole."""

import pytest

pytest.register_assert_rewrite("tests.command")
