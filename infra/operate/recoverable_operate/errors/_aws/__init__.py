"""Read and send back the messages of an SQS error queue."""
