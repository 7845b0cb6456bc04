"""Local hosts: your functions on your machine as their cloud would run them, without the cloud and without Docker.

aws           Lambda: a SAM template's functions on a local SQS
azure         Functions: a Function App on a local Service Bus
service_bus   the namespace that goes with it, for any program that speaks to Service Bus
demo          a handful of orders on either host
child, outcomes, journal   what both hosts have in common: processes, how they end, what was seen to happen
console                     what the commands have in common
"""
