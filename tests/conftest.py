"""What all tests rely on."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# How long a draw takes says nothing on a busy machine: the first one of a process reads the constants of all modules.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

# A shell that starts the tests in the background makes them, and every program they start, deaf to Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
