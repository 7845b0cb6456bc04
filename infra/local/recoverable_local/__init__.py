"""Run Lambda functions and Azure Functions on your own machine, as their cloud runs them, without the cloud and without Docker.

lambda_host      runs the functions of a SAM template on a local SQS
functions_host   runs a Function App on a local Service Bus
service_bus      serves a local Service Bus namespace to any program that speaks to Service Bus
testing          runs handlers in virtual time in unit tests, without processes and sockets
timeouts         stores timeouts in a file or in memory
demo             sends example orders to either host and shows each retry

child, outcomes, journal   used by both hosts: child processes, how an invocation can end, the record of events
console                    used by all commands: arguments, output, and serving until Ctrl-C
"""
