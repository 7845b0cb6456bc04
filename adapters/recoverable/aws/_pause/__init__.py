"""Share a circuit in DynamoDB, and pause the trigger while the rate is limited."""
