"""AMQP 1.0 on bytes alone: types, frames and performatives; no sockets, no Service Bus."""
