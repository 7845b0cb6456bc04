"""Run the handler on one message: the flow, its drivers, the deadline, and the checks of handlers."""
