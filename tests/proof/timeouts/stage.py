"""Run actors that take turns between their calls, in virtual time; a seed decides who is next, and what fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from random import Random
from threading import Thread
from typing import TypeVar

from builders import seconds
from proof.timeouts.actor import ALWAYS, BAD_LUCK, SENDING, STALLS, Actor, Killed

Answer = TypeVar("Answer")
Failure = Callable[[], Exception]

BRIEF = 0.05
"""Seconds of the longest call that nothing holds up."""

MEETING = 30.0
"""Seconds between the moments at which actors meet."""


class Stage:
    """Plays actors, one at a time, each in a thread of its own that waits for its turn.

    Args:
        seed: draws all.
        start: the time at first.
        odds: of each mishap at each call.
        told: whether the story is kept.
    """

    def __init__(self, seed: str, start: datetime, odds: Mapping[str, float], *, told: bool = False) -> None:
        self.chance, self.now, self.ticks, self._start = Random(seed), start, 0, start
        self.story: list[str] = []
        self.crashes: list[str] = []
        self._odds, self._told, self._ending = odds, told, False
        self._passing = self.chance.choice((0.1, 0.5, 1.0))
        self._director = Actor("director", start)
        self.actors: list[Actor] = []
        self._threads: list[Thread] = []
        self.playing, self._until = self._director, start

    @property
    def calm(self) -> bool:
        """True if nothing can fail, because no actor plays."""
        return self.playing is self._director

    def enter(self, name: str, play: Callable[[], object], *, after: float = 0) -> Actor:
        """Have an actor play, from so many seconds on."""
        actor = Actor(name, self.now + seconds(after))
        self.actors.append(actor)
        self._threads.append(Thread(target=self._played, args=(actor, play), daemon=True))
        return actor

    def run(self, time: timedelta) -> None:
        """Let them play for so long; then all that still play are killed."""
        self._until = self.now + time
        for thread in self._threads:
            thread.start()
        self._pass_on()
        self._ending = True
        for actor in self.actors:
            if not actor.over:
                actor.mishaps["killed"] += actor.busy
                self._give(actor)
        for thread in self._threads:
            thread.join()

    def call(self, name: str, do: Callable[[], Answer], failures: Mapping[str, Failure]) -> Answer:
        """Make a call of the current actor: another may take its turn first, time passes, and the call may fail.

        Args:
            name: the call.
            do: what it does.
            failures: the mishaps beside a death and a stall that it can have, with what is raised.
        """
        self.tick()
        if self.calm:
            self.now += seconds(BRIEF / 10)
            return do()
        self._step()
        wrong = self._mishap(name)
        fails = failures.get(wrong, Killed)
        if wrong == "killed" or (wrong == "refused" and wrong in failures):
            self.note(f"{wrong} before {name}")
            raise fails()
        answer = do()
        self.note(name)
        if wrong in failures:
            self.note(wrong)
            if wrong == "made twice":
                return do()
            raise fails()
        return answer

    def tick(self) -> int:
        """Return the number of this moment in the order of all that happens."""
        self.ticks += 1
        return self.ticks

    def sleep(self, duration: float) -> None:
        """Let whoever plays wait."""
        if self._ending and not self.calm:
            raise Killed
        if self.calm:
            self.now += seconds(duration)
        else:
            self.playing.ready_at = self.now + seconds(duration)
            self._pass_on()

    def meet(self) -> None:
        """Let whoever plays wait for the next full half-minute, as others do, so that they meet."""
        self.sleep(MEETING - (self.now - self._start).total_seconds() % MEETING)

    def note(self, text: str) -> None:
        """Have the story say it."""
        if self._told:
            self.story.append(f"{self.now:%H:%M:%S.%f} {self.playing.name}: {text}")

    def _step(self) -> None:
        if self._ending:
            raise Killed
        if self.chance.random() < self._passing:
            self._pass_on()
        self.now += seconds(self.chance.random() * BRIEF)
        if self.playing.dies_at is not None and self.now > self.playing.dies_at:
            self.playing.mishaps["killed"] += 1
            raise Killed

    def _mishap(self, name: str) -> str:
        """Draw what goes wrong with a call; "" for nothing."""
        drawn = self.chance.random() / (1 if self.playing.busy else BAD_LUCK)
        for wrong, odds in self._odds.items():
            drawn -= odds
            if drawn < 0:
                self.playing.mishaps[wrong] += wrong in ALWAYS or name in SENDING
                if wrong == "stalled":
                    self._stall()
                return wrong
        return ""

    def _stall(self) -> None:
        """Time passes for all, whatever they are at."""
        duration = self.chance.choice(STALLS)
        self.now += seconds(duration)
        self.note(f"all stand still for {duration:g} s")
        for actor in self.actors:
            actor.mishaps["stalled"] += actor.busy and actor is not self.playing

    def _played(self, actor: Actor, play: Callable[[], object]) -> None:
        actor.turn.acquire()
        try:
            if not self._ending:
                play()
        except Killed:
            pass
        except BaseException as error:  # noqa: BLE001  # nobody else would hear of it
            self.crashes.append(f"{actor.name}: {type(error).__name__}: {error}")
        actor.over = True
        following = self._director if self._ending else self._next()
        self.playing = following
        following.turn.release()

    def _pass_on(self) -> None:
        """Let another play, if it is another's turn, until it is ours again."""
        ours, following = self.playing, self._next()
        if following is not ours:
            self._give(following)
        if self._ending:
            raise Killed

    def _give(self, following: Actor) -> None:
        ours, self.playing = self.playing, following
        following.turn.release()
        ours.turn.acquire()

    def _next(self) -> Actor:
        """Return an actor that can go on; where none can, let time pass; the director when the schedule is over."""
        live = [actor for actor in self.actors if not actor.over]
        ready = [actor for actor in live if actor.ready_at <= self.now]
        if live and not ready:
            first = min(live, key=lambda actor: actor.ready_at)
            ready, self.now = [first], first.ready_at
        return self.chance.choice(ready) if ready and self.now <= self._until else self._director
