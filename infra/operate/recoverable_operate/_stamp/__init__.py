"""Make full error copies of the messages that a broker dead-lettered by itself."""
