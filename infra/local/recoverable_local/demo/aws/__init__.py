"""The demo on a local SQS, its functions in AWS's own runtime client."""
