"""A charge's record is consistent: derivatives, conjugate, domain; and unknown names are errors."""

import pickle

import numpy as np
import pytest

from hullrank.exceptions import HullrankError
from hullrank.problem.charges import LOSSES, Charge, charge_named, priced_charge

V = np.linspace(-4, 4, 401) + 1e-3  # no kink among them


@pytest.mark.parametrize("loss", LOSSES)
def test_derivatives_are_those_of_the_value(loss):
    charge, h = charge_named(loss), 1e-6
    np.testing.assert_allclose(charge.derivative(V), (charge.value(V + h) - charge.value(V - h)) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(
        charge.curvature(V), (charge.derivative(V + h) - charge.derivative(V - h)) / (2 * h), atol=1e-8
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_the_conjugate_is_the_supremum(loss):
    """phi*(a) = sup_v (a v - phi(v)), attained at a = phi'(v)."""
    charge = charge_named(loss)
    a = charge.derivative(V)
    assert np.all((a >= 0) & (a <= charge.largest))
    np.testing.assert_allclose(charge.value(V) + charge.conjugate(a), a * V, atol=1e-12)
    others = np.linspace(0, min(charge.largest, 5.0), 101)
    assert np.all(charge.value(V)[:, None] + charge.conjugate(others) >= others * V[:, None] - 1e-12)


def test_codes_and_names_are_unique():
    charges = [Charge.HINGE, Charge.SQUARED_HINGE, Charge.HARD, Charge.LOGISTIC]
    assert len({charge.code for charge in charges}) == len({charge.name for charge in charges}) == 4
    assert all(pickle.loads(pickle.dumps(charge)) is charge for charge in charges)


def test_unknown_charges_are_errors():
    with pytest.raises(HullrankError, match="no charge 'huber'; choose from hinge"):
        charge_named("huber")
    with pytest.raises(HullrankError, match="hard margin, which loss='logistic' does not have"):
        priced_charge("logistic", np.inf)
    assert priced_charge("squared_hinge", np.inf) is Charge.HARD
