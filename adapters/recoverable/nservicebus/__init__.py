"""Serve messages from NServiceBus and ServiceControl: what such a message switches on by itself, whatever the settings."""
