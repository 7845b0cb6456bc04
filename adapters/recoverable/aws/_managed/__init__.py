"""Run on Lambda Managed Instances, where nothing ends code whose time is over, and no answer counts that comes late."""
