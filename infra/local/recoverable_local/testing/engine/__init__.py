"""Run a world: virtual time, faults, instances and invocations, the same on both clouds."""
