"""Hold all that is known of SQS and of the AWS services beside it: clients, names, what an answer means, sizes, and the wire."""
