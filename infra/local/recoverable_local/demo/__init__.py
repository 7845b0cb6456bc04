"""Send example orders to a local queue and show each retry: `recoverable demo aws`, `recoverable demo azure`.

orders      the orders, and where each must end
progress    record what happened to each order, from the events of the host (pure)
tables      show the progress and the error queue as tables
result      check that each order ended where it must
watcher     collect the events from the host's threads, and show the progress
aws, azure  for each cloud: the command that starts the host, converts its journal entries into events, and sends the orders
"""
