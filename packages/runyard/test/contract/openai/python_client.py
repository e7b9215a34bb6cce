"""Plays chat completions with the official client. Prints one line of JSON."""

import json
import sys

from openai import BadRequestError, OpenAI

url, plain, streamed, tooled = sys.argv[1:]
client = OpenAI(base_url=url, api_key="none")


def user(content):
    return {"role": "user", "content": content}


seen = {"models": [model.id for model in client.models.list()]}

answer = client.chat.completions.create(model="clerk", messages=[user(plain)])
seen["answer"] = answer.choices[0].message.content
seen["usage"] = answer.usage.total_tokens > 0

with client.chat.completions.stream(model="clerk", messages=[user(streamed)]) as stream:
    seen["text"] = "".join(event.delta for event in stream if event.type == "content.delta")

weather = {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
tools = [{"type": "function", "function": weather}]
messages = [user(tooled)]
asked = client.chat.completions.create(model="clerk", messages=messages, tools=tools).choices[0]
seen["asked"] = asked.finish_reason
call = asked.message.tool_calls[0]
messages += [asked.message, {"role": "tool", "tool_call_id": call.id, "content": "30"}]
seen["told"] = client.chat.completions.create(model="clerk", messages=messages, tools=tools).choices[0].message.content

try:
    client.chat.completions.create(model="clerk", messages=[user("x")], n=2)
except BadRequestError as error:
    seen["refused"] = [error.status_code, error.param]

print(json.dumps(seen))
