"""fastmcp as a client: `fastmcp_client.py http URL` or `fastmcp_client.py stdio COMMAND ARGS...`, with the tool to call in CALL as
JSON; with ANSWERS it answers what the server asks on the way. Prints one line of JSON: what it saw."""

import asyncio
import json
import os
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def elicit(message, response_type, params, context) -> dict:
    return {"name": "Ada"}


async def sample(messages, params, context) -> str:
    return "Good day"


ANSWERS = {"elicitation_handler": elicit, "sampling_handler": sample, "roots": ["file:///srv/interop"]}


async def main() -> None:
    kind, *target = sys.argv[1:]
    server = StdioTransport(command=target[0], args=target[1:]) if kind == "stdio" else target[0]
    call = json.loads(os.environ["CALL"])
    answers = ANSWERS if "ANSWERS" in os.environ else {}
    async with Client(server, **answers) as client:
        tools = await client.list_tools()
        result = await client.call_tool_mcp(call["name"], call["arguments"])
        seen = {
            "revision": None,
            "tools": [tool.name for tool in tools],
            "result": result.model_dump(mode="json", by_alias=True, exclude_none=True),
        }
    print(json.dumps(seen))


asyncio.run(main())
