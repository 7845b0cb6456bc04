"""An outage, simulated on both clouds: what becomes of the messages that wait, and what waiting costs."""
