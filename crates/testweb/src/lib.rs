//! A scripted, deterministic and hostile web on loopback, with a known true link graph.
