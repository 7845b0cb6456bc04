"""Send what handlers on SQS send: entries for queues and topics, and their sending once a group of handlers has succeeded."""
