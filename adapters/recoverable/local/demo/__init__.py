"""A handful of orders on a local queue, climbing the ladder before your eyes: `recoverable demo aws`.

orders     what is sent, and what must become of it
story      journal entries → what happened to each order so far (pure)
picture    the story as a table, and what lies in the error queue
command    starts the host, sends, watches, and judges
"""
