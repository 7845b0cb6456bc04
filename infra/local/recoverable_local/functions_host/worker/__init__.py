"""Run the app in a process of its own, in Microsoft's Python worker runtime."""
