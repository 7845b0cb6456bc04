"""Serve FIFO queues: each message group in its order, and rounds that the count of deliveries and the time since the first receive tell."""
