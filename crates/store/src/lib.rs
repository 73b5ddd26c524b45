//! What is remembered: the contract and its SQLite implementation, bodies in segment files.
