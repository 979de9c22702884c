"""Long work can be watched and stopped, lets other threads run, and works after fork and spawn."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import oddcell
from oddcell import _oddcell

from conftest import normal_rows, short


def test_a_callback_gets_the_progress(rows):
    heard = []
    short(train_for="3000 steps", progress=lambda *news: heard.append(news)).fit(rows)
    done = [news[0] for news in heard]
    assert done == sorted(done) and heard[-1][0] == heard[-1][1]
    assert any(isinstance(loss, float) for _, _, loss in heard)


def test_an_exception_in_a_callback_stops_the_work(rows):
    def fail(*_progress):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        short(train_for="10000000 steps", progress=fail).fit(rows)


def test_tqdm_shows_a_bar_and_other_names_are_refused(rows, capsys):
    short(progress="tqdm").fit(rows)
    assert "learning" in capsys.readouterr().err
    with pytest.raises(ValueError, match="progress is 'bar', but must be"):
        short(progress="bar").fit(rows)


@pytest.mark.parametrize("name", ["OddCell", "AutoEncoder", "DPAD", "NeuTraLAD", "PLAD", "SCAD", "AnoGAN", "DeepSVDD"])
def test_ctrl_c_stops_the_training(name):
    code = f"""
        import signal, threading, numpy as np, oddcell
        rows = np.random.default_rng(0).normal(size=(500, 6))
        model = oddcell.{name}(train_for="100000000 steps")
        threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT)).start()
        try:
            model.fit(rows)
        except KeyboardInterrupt:
            print("stopped")
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (0, "stopped\n"), run.stderr


def test_other_threads_run_while_it_works(rows):
    ticks = 0
    done = threading.Event()

    def tick():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    short(train_for="5000 steps").fit(rows)
    done.set()
    thread.join()
    assert ticks > 20


def test_many_threads_can_use_one_model(rows):
    model = short().fit(rows)
    expected = model.score_samples(rows)
    answers = [np.empty(0)] * 8

    def ask(at):
        answers[at] = model.score_samples(rows)

    threads = [threading.Thread(target=ask, args=[at]) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(answer, expected) for answer in answers)


def fit_again(seed: int) -> np.ndarray:
    return short(random_state=seed).fit(normal_rows()).score_samples(normal_rows())


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_child_processes_work_like_their_parent(method):
    expected = [fit_again(seed) for seed in (1, 2)]  # the parent's threads exist before it forks
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.map_async(fit_again, [1, 2]).get(timeout=120)
    assert np.array_equal(found, expected)


def test_the_number_of_threads_changes_nothing_else():
    whole = oddcell.threads()
    try:
        oddcell.set_threads(1)
        assert oddcell.threads() == 1
        alone = fit_again(1)
        oddcell.set_threads(3)
        assert oddcell.threads() == 3
        assert np.array_equal(fit_again(1), alone)
        with pytest.raises((ValueError, OverflowError)):
            oddcell.set_threads(0)
    finally:
        oddcell.set_threads()
    assert oddcell.threads() == whole


@pytest.mark.skipif(not hasattr(_oddcell, "_panic"), reason="needs a build with the cargo feature `testing`")
@pytest.mark.parametrize("on_pool", [True, False])
def test_a_panic_becomes_an_exception_that_says_it_is_a_bug(on_pool):
    with pytest.raises(RuntimeError, match="a bug in oddcell, please report it: on purpose"):
        _oddcell._panic(on_pool)


def test_importing_loads_no_large_package():
    code = "import sys, oddcell; assert not {'sklearn', 'pandas', 'matplotlib', 'pyod'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert signal.getsignal(signal.SIGINT) is not None
