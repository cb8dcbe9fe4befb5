"""One suite that every machine passes."""

import pytest

pytest.register_assert_rewrite("tests.conformance.machine_suite")
