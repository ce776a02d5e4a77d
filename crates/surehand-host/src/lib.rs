//! Configuration, connections, catalog, the one call pipeline, the agent loop.
