"""Run the demo on a local SQS, with the functions in AWS's own runtime client."""
