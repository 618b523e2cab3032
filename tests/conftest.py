"""Laws are tested without a deadline: a busy machine, or a first compilation, must not fail them."""

from hypothesis import settings

settings.register_profile("hullrank", deadline=None)
settings.load_profile("hullrank")
