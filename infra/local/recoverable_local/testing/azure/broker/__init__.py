"""Keep the queues of a world as Service Bus does."""
