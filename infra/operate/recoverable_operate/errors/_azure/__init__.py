"""Read and send back the messages of a Service Bus error queue."""
