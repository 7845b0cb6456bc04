"""Keep the tokens of a connection, and end what Service Bus ends by itself: links that are idle or whose token has expired, and connections without links."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from math import inf
from typing import TYPE_CHECKING

from recoverable_local.service_bus.broker.namespace import Namespace
from recoverable_local.service_bus.broker.refusals import (
    RefusedError,
    expired_token,
    idle_link,
    no_links,
    token_ended,
    unauthorized,
)

if TYPE_CHECKING:
    from recoverable_local.service_bus.amqp.performatives import Attach
    from recoverable_local.service_bus.links.session import Link

IDLE_LINK, NO_LINKS, NO_FIRST_LINK = 600, 300, 60
"""Seconds until Service Bus ends a link that nobody uses, a connection whose links have ended, and a new one that gets no link
("AMQP errors in Azure Service Bus")."""


class Lifetimes:
    """The lifetimes of a connection and its links, by the namespace's clock.

    Args:
        namespace: Has the clock and the agenda.
        links: Returns the links to entities; those to `$cbs` and `$management` keep no connection alive.
        close: Closes the connection, with the reason.
    """

    def __init__(
        self, namespace: Namespace, links: Callable[[], list[Link]], close: Callable[[RefusedError], None]
    ) -> None:
        self.clock, self._agenda, self._links, self._close = namespace.clock, namespace.agenda, links, close
        self._tokens: dict[str, float] = {}
        self._without_links: float | None = self.clock()
        self._allowed = NO_FIRST_LINK
        self._planned: float | None = inf
        self.plan()

    def authorize(self, path: str, expires_at: float | None) -> None:
        """Note until when a token allows what a client does at a path; an empty path stands for the whole namespace.

        The client knows the machine's clock alone. So the token expires when as much of the namespace's time has passed as it has left.

        Args:
            path: The entity's path.
            expires_at: The token's expiry, in seconds since 1970; None for none.

        Raises:
            RefusedError: It has expired.
        """
        left = inf if expires_at is None else expires_at - time.time()
        if left <= 0:
            raise expired_token(datetime.fromtimestamp(expires_at or 0, UTC))
        self._tokens[path.lower()] = self.clock() + left

    def check(self, link: Attach, path: str) -> None:
        """Check that one of the connection's tokens is for a path. Where the client has sent none, nothing is checked.

        Raises:
            RefusedError: All of them are for other entities.
        """
        if self._tokens and not self._token_ends(path):
            raise unauthorized(link, path)

    def plan(self) -> None:
        """Plan the next end; called whenever the client has said something."""
        if self._planned is None:
            return
        links = self._links()
        if links:
            self._without_links, self._allowed = None, NO_LINKS
        elif self._without_links is None:
            self._without_links = self.clock()
        due = min(map(self._end_of, links), default=(self._without_links or 0.0) + self._allowed)
        if due < self._planned:
            self._planned = due
            self._agenda.at(due, lambda: self._look(due))

    def stop(self) -> None:
        """Plan no more: the connection is closed."""
        self._planned = None

    def _look(self, now: float) -> None:
        """End what has come to its end; `now` may be earlier than the clock, which can be advanced past several ends at once."""
        if self._planned != now:
            return
        self._planned = inf
        for link in self._links():
            if self._end_of(link) <= now:
                link.dismissed(self._reason_for(link, now))
        if self._links():
            self.plan()
            return
        self._without_links = now if self._without_links is None else self._without_links
        if self._without_links + self._allowed <= now:
            self._close(no_links(self._allowed))
        else:
            self.plan()

    def _end_of(self, link: Link) -> float:
        return min(link.used_at + IDLE_LINK, self._token_end(link))

    def _token_end(self, link: Link) -> float:
        return max(self._token_ends(link.path), default=inf)

    def _token_ends(self, path: str) -> list[float]:
        """Return when the tokens end that are for a path."""
        return [end for scope, end in self._tokens.items() if covers(scope, path)]

    def _reason_for(self, link: Link, now: float) -> RefusedError:
        if self._token_end(link) <= now:
            return token_ended(link.request, link.path)
        return idle_link(link.request, IDLE_LINK)


def covers(scope: str, path: str) -> bool:
    """True if what is allowed at a path is allowed at another one: the same, or one below it; an empty path is above all."""
    return not scope or f"{path.lower()}/".startswith(f"{scope.lower()}/")
