"""Read what the Functions host gives a function: app settings, host.json, and the trigger's registration."""
