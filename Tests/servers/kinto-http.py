#!/usr/bin/env python3
"""Does with Kinto's client for Python what it can, at a server of Kinto's API.

    kinto-http.py SERVER BUCKET    prints what each step gave, without times; the same at each server

The collection `notes` is made, and left empty.
"""
import json
import logging
import sys

from kinto_http import Client, KintoException
from kinto_http.patch_type import MergePatch

# The client logs each request of a batch.
logging.disable(logging.CRITICAL)
server, bucket = sys.argv[1:]
client = Client(server_url=server, auth=("tests", "secret"), bucket=bucket, collection="notes", retry=0)
times = {"last_modified", "schema"}


def show(step, value):
    def timeless(value):
        if isinstance(value, dict):
            return {name: timeless(part) for name, part in value.items() if name not in times}
        return [timeless(part) for part in value] if isinstance(value, list) else value

    print(step, json.dumps(timeless(value), sort_keys=True))


def refusal(step, act):
    try:
        act()
        show(step, "was not refused")
    except KintoException as error:
        body = error.response.json()
        existing = (body.get("details") or {}).get("existing") if isinstance(body.get("details"), dict) else None
        show(step, [body["code"], body["errno"], existing])


client.create_collection(id="notes", if_not_exists=True)
show("collections", sorted(each["id"] for each in client.get_collections()))
show("batch limit", client.server_info()["settings"]["batch_max_requests"])

first = client.create_record(id="n1", data={"text": "Buy bread", "count": 1})["data"]
show("created", first)
refusal("created twice", lambda: client.create_record(id="n1", data={"text": "again"}))
show("created unless it is there", client.create_record(id="n1", data={"text": "x"}, if_not_exists=True)["data"])
show("read", client.get_record(id="n1")["data"])
refusal("read what is not there", lambda: client.get_record(id="never"))

second = client.update_record(id="n1", data={"text": "Buy two", "count": 2}, if_match=first["last_modified"])["data"]
show("replaced", second)
show("is later", second["last_modified"] > first["last_modified"])
refusal("replaced a stale copy", lambda: client.update_record(
    id="n1", data={"text": "stale"}, if_match=first["last_modified"]))
show("patched", client.patch_record(id="n1", data={"count": 3})["data"])
show("merged", client.patch_record(id="n1", changes=MergePatch({"count": None, "sub": {"a": 1}}))["data"])

with client.batch() as batch:
    for number in range(60):
        batch.create_record(id=f"b{number:02}", data={"number": number, "even": number % 2 == 0})
show("batched", len(client.get_records()))
since = client.get_records_timestamp()
show("pages", [len(page) for page in client.get_paginated_records(_limit=25)])
show("filtered", sorted(each["id"] for each in client.get_records(even="true", min_number=50)))
show("in order", [each["number"] for each in client.get_records(_sort="-number", _limit=3, pages=1, has_number="true")])
show("fields", client.get_records(number="7", _fields="number"))

client.delete_record(id="b00")
refusal("deleted twice", lambda: client.delete_record(id="b00"))
client.update_record(id="b01", data={"number": 100})
show("changes", sorted(
    (each["id"], bool(each.get("deleted"))) for each in client.get_records(_since=since)))
show("deleted", len(client.delete_records()))
show("left", client.get_records())
