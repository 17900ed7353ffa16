"""The exact algebra behind what is known of the open problem ``ext.thm7.full``; it must be able to fail."""

import pytest

from shuffledp.claims.checks.ext_sharper import coefficients_nonnegative


@pytest.mark.parametrize("n, i", [(n, i) for n in (2, 3, 4) for i in range(1, n + 1)])
def test_the_bound_is_proved_for_up_to_four_users(n, i):  # (4, 4): 5 seconds
    assert coefficients_nonnegative(n, i)


@pytest.mark.parametrize("n, i", [(2, 2), (3, 2), (3, 3), (4, 3)])
def test_a_smaller_bound_is_not(n, i):
    assert not coefficients_nonnegative(n, i, late=i)
