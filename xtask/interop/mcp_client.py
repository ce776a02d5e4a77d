"""The official Python SDK as a client: `mcp_client.py MODE http URL` or `mcp_client.py MODE stdio COMMAND ARGS...`, with the tool
to call in CALL as JSON. Prints one line of JSON: what it saw."""

import asyncio
import json
import os
import sys

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def main() -> None:
    mode, kind, *target = sys.argv[1:]
    server = target[0]
    if kind == "stdio":
        server = stdio_client(StdioServerParameters(command=target[0], args=target[1:]))
    call = json.loads(os.environ["CALL"])
    async with Client(server, mode=mode) as client:
        listed = await client.list_tools()
        result = await client.call_tool(call["name"], call["arguments"])
        seen = {
            "revision": client.protocol_version,
            "tools": [tool.name for tool in listed.tools],
            "result": result.model_dump(mode="json", by_alias=True, exclude_none=True),
        }
    print(json.dumps(seen))


asyncio.run(main())
