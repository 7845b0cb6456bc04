"""Read what SQS answers, and say what follows for copies that it does not take."""
