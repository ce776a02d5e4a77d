"""The official Python SDK as a client: `mcp_client.py MODE http URL` or `mcp_client.py MODE stdio COMMAND ARGS...`, with the tool
to call in CALL as JSON; with ANSWERS it answers what the server asks on the way. Prints one line of JSON: what it saw."""

import asyncio
import json
import os
import sys

import mcp.types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def elicit(context, params) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def sample(context, params) -> types.CreateMessageResult:
    text = types.TextContent(type="text", text="Good day")
    return types.CreateMessageResult(role="assistant", content=text, model="interop")


async def roots(context) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[types.Root(uri="file:///srv/interop")])


ANSWERS = {"elicitation_callback": elicit, "sampling_callback": sample, "list_roots_callback": roots}


async def main() -> None:
    mode, kind, *target = sys.argv[1:]
    server = target[0]
    if kind == "stdio":
        server = stdio_client(StdioServerParameters(command=target[0], args=target[1:]))
    call = json.loads(os.environ["CALL"])
    answers = ANSWERS if "ANSWERS" in os.environ else {}
    async with Client(server, mode=mode, **answers) as client:
        listed = await client.list_tools()
        result = await client.call_tool(call["name"], call["arguments"])
        seen = {
            "revision": client.protocol_version,
            "tools": [tool.name for tool in listed.tools],
            "result": result.model_dump(mode="json", by_alias=True, exclude_none=True),
        }
    print(json.dumps(seen))


asyncio.run(main())
