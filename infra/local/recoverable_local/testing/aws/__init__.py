"""Run SQS and Lambda in virtual time."""
