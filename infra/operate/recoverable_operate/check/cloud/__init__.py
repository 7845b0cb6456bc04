"""Read what is deployed, with calls that change nothing."""
