"""Keep the queues of a world as SQS does."""
