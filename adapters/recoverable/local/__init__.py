"""Local hosts: your functions on your machine as their cloud would run them, without the cloud and without Docker."""
