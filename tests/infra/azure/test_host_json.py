"""host.json: what must be right for the ladder, and why."""

from __future__ import annotations

from datetime import timedelta

from infra.azure.bicep import ROOT
from infra.azure.durations import clock
from infra.azure.host_json import HOST, SERVICE_BUS
from recoverable._service_bus.host_json import HostOptions, read_host_json


def test_a_function_ends_before_its_lock_is_no_longer_renewed() -> None:
    """Else what takes long succeeds, cannot be completed, and runs again until it is given up."""
    assert clock(SERVICE_BUS["maxAutoLockRenewalDuration"]) > clock(HOST["functionTimeout"])


def test_no_message_is_fetched_ahead() -> None:
    """Its lock would run out while it waits, and each time it does counts as a delivery."""
    assert SERVICE_BUS["prefetchCount"] == 0


def test_the_host_completes_what_returns() -> None:
    assert SERVICE_BUS["autoCompleteMessages"] is True


def test_the_number_of_messages_at_a_time_is_set() -> None:
    """The host's own default goes with the processors, and the platform counts on this number when it adds instances."""
    assert SERVICE_BUS["maxConcurrentCalls"] == 16


def test_the_extension_is_the_one_whose_settings_these_are() -> None:
    """Bundle 4 has version 5 of the Service Bus extension; older ones have other names for the same settings."""
    assert HOST["extensionBundle"] == {"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[4.*, 5.0.0)"}


def test_the_host_retries_nothing_itself() -> None:
    """Its retries do not apply to Service Bus, and would multiply the ladder if they did."""
    assert ("retry" in HOST, HOST["version"]) == (False, "2.0")


def test_the_host_reads_what_is_written() -> None:
    """A name that it does not know it passes over in silence."""
    assert read_host_json(ROOT / "host.json", {}).options == HostOptions(
        function_timeout=timedelta(minutes=5),
        auto_complete_messages=True,
        max_auto_lock_renewal_duration=timedelta(minutes=10),
        max_concurrent_calls=16,
        prefetch_count=0,
    )


def test_what_the_ladder_logs_is_not_sampled() -> None:
    """Sampling would make the counts of the workbook and the alerts too low."""
    excluded = HOST["logging"]["applicationInsights"]["samplingSettings"]["excludedTypes"].split(";")

    assert excluded == ["Request", "Exception", "Trace"]
