import signal
import threading
from collections.abc import Iterator

import pytest

from mczsl.runs.interrupts import Interrupted, catch_signals


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_acted_upon_at_the_next_check(number: int, code: int) -> None:
    with catch_signals() as stop:
        stop.check()
        signal.raise_signal(number)
        with pytest.raises(Interrupted, match=signal.Signals(number).name) as caught:
            stop.check()
    assert caught.value.exit_code == code


@pytest.fixture
def _python_handles_ctrl_c() -> Iterator[None]:
    """As in a terminal; where the tests run in the background, the shell has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_python_handles_ctrl_c")
def test_a_second_signal_stops_at_once() -> None:
    with catch_signals() as stop, pytest.raises(KeyboardInterrupt):  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        assert stop.number == signal.SIGINT
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("interrupted", [False, True])
def test_handlers_are_as_before_afterwards(interrupted: bool) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with catch_signals():
        assert signal.getsignal(signal.SIGINT) != before[0]
        if interrupted:
            signal.raise_signal(signal.SIGINT)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_other_threads_cannot_handle_signals_but_can_run() -> None:
    outcome = []

    def body() -> None:
        with catch_signals() as stop:
            stop.check()
            outcome.append("ran")

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert outcome == ["ran"]
