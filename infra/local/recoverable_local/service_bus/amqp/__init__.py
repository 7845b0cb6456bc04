"""Encode and decode AMQP 1.0: types, frames and performatives; no sockets, no Service Bus."""
