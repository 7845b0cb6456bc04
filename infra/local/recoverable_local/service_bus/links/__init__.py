"""Handle the protocol of one connection as a state machine: bytes in, bytes out."""
