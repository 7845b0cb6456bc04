"""A handful of orders on a local queue, climbing the ladder before your eyes: `recoverable demo aws`, `recoverable demo azure`.

orders     what is sent, and what must become of it
story      what was seen to happen → how far each order has climbed (pure)
picture    the story as a table, and what lies in the error queue
verdict    whether each order ended where it must
watcher    keeps the story while the host's threads tell it, and shows it
aws, azure    each cloud's own: how its host's journal is read, and the command that starts it and sends
"""
