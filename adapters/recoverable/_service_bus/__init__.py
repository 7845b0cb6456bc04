"""Hold all that is known of Service Bus and of the Functions host: connections, host.json, what an answer means, and senders."""
