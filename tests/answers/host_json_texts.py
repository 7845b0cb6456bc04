"""Texts of host.json, and what the Functions host takes from each: the table that every reader of that file is held to."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

MINUTE = timedelta(minutes=1)
HEAD = '"version": "2.0", "extensionBundle": {"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[4.*, 5.0.0)"}'
"""What the host asks of any file."""

BUS = '"extensions": {"serviceBus": {"maxAutoLockRenewalDuration": "00:08:00"}}'


class HostFile(NamedTuple):
    """A host.json, and what the host takes from it.

    Args:
        text: its content; None where a folder has its name.
        times: its functionTimeout (None without a limit) and its maxAutoLockRenewalDuration; None where a reader must say that
            it cannot read the file, and name it.
        settings: the app settings that override it.
    """

    text: str | bytes | None
    times: tuple[timedelta | None, timedelta] | None
    settings: dict[str, str] = {}  # noqa: RUF012  # nobody changes it


def saying(*members: str) -> str:
    """Return a file with these members."""
    return "{" + ", ".join((HEAD, *members)) + "}"


def lasting(timeout: str, times: tuple[timedelta | None, timedelta] | None) -> HostFile:
    """Return a file with this functionTimeout."""
    return HostFile(saying(f'"functionTimeout": {timeout}', BUS), times)


def renewing(renewal: str, times: tuple[timedelta | None, timedelta] | None) -> HostFile:
    """Return a file with this maxAutoLockRenewalDuration."""
    bus = f'"extensions": {{"serviceBus": {{"maxAutoLockRenewalDuration": {renewal}}}}}'
    return HostFile(saying('"functionTimeout": "00:10:00"', bus), times)


PLAIN = saying('"functionTimeout": "00:10:00"', BUS)
TIMES = 10 * MINUTE, 8 * MINUTE

# azure-functions-host: `HostJsonFileConfigurationSource` (Newtonsoft's JObject.Parse, then .NET's configuration, whose names have no
# case), `ScriptJobHostOptionsSetup`; azure-sdk-for-net: `ServiceBusOptions`; .NET: TimeSpan.Parse
READABLE: dict[str, HostFile] = {
    "as it is written": HostFile(PLAIN, TIMES),
    "a comment on a line of its own": HostFile(f"// the host\n{PLAIN}", TIMES),
    "a comment behind a value": HostFile(PLAIN.replace('"00:10:00",', '"00:10:00", // ten minutes\n'), TIMES),
    "a comment within a line": HostFile(PLAIN.replace('"00:10:00"', '/* ten */ "00:10:00"'), TIMES),
    "a comment over two lines": HostFile(f"/* the\nhost */{PLAIN}", TIMES),
    "slashes in a text": HostFile(saying('"note": "http://a /* b */"', '"functionTimeout": "00:10:00"', BUS), TIMES),
    "a comma behind the last member": HostFile(PLAIN.replace('"00:08:00"', '"00:08:00",'), TIMES),
    "a byte order mark": HostFile(b"\xef\xbb\xbf" + PLAIN.encode(), TIMES),
    "names in another case": HostFile(PLAIN.replace('"function', '"Function').replace("maxAuto", "MAXAuto"), TIMES),
    "a section in another case": HostFile(PLAIN.replace('"serviceBus"', '"ServiceBus"'), TIMES),
    "hours and minutes": lasting('"00:07"', (7 * MINUTE, 8 * MINUTE)),
    "days, hours, minutes and seconds": lasting('"1.00:00:00"', (timedelta(days=1), 8 * MINUTE)),
    "days, hours and minutes": renewing('"1.00:00"', (10 * MINUTE, timedelta(days=1))),
    "a fraction of a second": lasting('"00:02:00.5"', (timedelta(seconds=120.5), 8 * MINUTE)),
    "no limit": lasting('"-1"', (None, 8 * MINUTE)),
    "no limit, as a number": lasting("-1", (None, 8 * MINUTE)),
    "no limit, in full": lasting('"-1.00:00:00"', (None, 8 * MINUTE)),
    "no renewal": renewing('"00:00:00"', (10 * MINUTE, timedelta(0))),
    "a renewal without an end, as .NET writes it": renewing('"-00:00:00.0010000"', (10 * MINUTE, timedelta.max)),
    "the layout before extension 5": HostFile(
        PLAIN.replace('"maxAutoLockRenewalDuration": "00:08:00"', '"messageHandlerOptions": {"maxAutoRenewDuration": "00:07:00"}'),
        (10 * MINUTE, 7 * MINUTE),
    ),
    "that layout, for sessions and for messages": HostFile(
        PLAIN.replace(
            '"maxAutoLockRenewalDuration": "00:08:00"',
            '"messageHandlerOptions": {"maxAutoRenewDuration": "00:07:00"}, "sessionHandlerOptions": {"maxAutoRenewDuration": "00:06:00"}',
        ),
        (10 * MINUTE, 7 * MINUTE),
    ),
    "both layouts": HostFile(
        PLAIN.replace('"maxAuto', '"messageHandlerOptions": {"maxAutoRenewDuration": "00:07:00"}, "maxAuto'), TIMES
    ),
    "a renewal that is not said": HostFile(saying('"functionTimeout": "00:10:00"'), (10 * MINUTE, 5 * MINUTE)),
    "a section that is null": HostFile(saying('"functionTimeout": "00:10:00"', '"extensions": null'), (10 * MINUTE, 5 * MINUTE)),
    "an app setting": HostFile(PLAIN, (2 * MINUTE, 8 * MINUTE), {"AzureFunctionsJobHost__functionTimeout": "00:02:00"}),
    "an app setting in another case": HostFile(
        PLAIN, (10 * MINUTE, MINUTE), {"AZUREFUNCTIONSJOBHOST__extensions__serviceBus__maxAutoLockRenewalDuration": "00:01:00"}
    ),
    "an app setting with a colon": HostFile(PLAIN, (2 * MINUTE, 8 * MINUTE), {"AzureFunctionsJobHost:functionTimeout": "00:02:00"}),
}  # fmt: skip
"""What the host reads."""

UNREADABLE: dict[str, HostFile] = {
    "a folder": HostFile(None, None),
    "nothing": HostFile("", None),
    "no JSON": HostFile('{"functionTimeout": ', None),
    "no object": HostFile("[]", None),
    "bytes that are no text": HostFile(b'{"note": "\xff"}', None),
    "a number of seconds": lasting("300", None),
    "a list": lasting('["00:05:00"]', None),
    "words": lasting('"five minutes"', None),
    "more minutes than an hour has": lasting('"00:90:00"', None),
    "less than a second": lasting('"00:00:00.5"', None),
    "a renewal without an end": renewing('"-1"', None),
    "a renewal that is a number": renewing("8", None),
    "an app setting of words": HostFile(PLAIN, None, {"AzureFunctionsJobHost__functionTimeout": "five minutes"}),
}
"""What the host refuses, or takes in a way that nobody means; a default in its place would hide the mistake."""
