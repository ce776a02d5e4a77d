//! stdio, Streamable HTTP, in-process; one guarded HTTP client.
