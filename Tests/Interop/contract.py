"""What Assay says of itself in OpenAPI, and whether an answer is as it says."""

import json
import re
import unittest
from collections.abc import Iterator

from openapi_schema_validator import OAS31Validator

# What belongs to the message and not to the answer.
OF_MESSAGE = {"content-type", "content-length", "transfer-encoding", "connection", "date", "server"}


class Contract:
    """The served description; it remembers which operations have answered well."""

    def __init__(self, document: dict) -> None:
        self.document = document
        self.answered: set[str] = set()
        # Literal segments win over parameters.
        self.paths = sorted(document["paths"], key=lambda path: path.count("{"))

    @property
    def operations(self) -> set[str]:
        items = self.document["paths"].values()
        return {item[method]["operationId"] for item in items for method in item if method != "parameters"}

    def check(self, test: unittest.TestCase, method: str, path: str, status: int, fields: dict, body: bytes) -> object:
        """Holds one answer to what is described: status, fields, media type and content, and nothing beyond."""
        operation = self.operation(method, path)
        name = f"{operation['operationId']} {status}"
        test.assertIn(str(status), operation["responses"], (name, body))
        described = self.resolve(operation["responses"][str(status)])
        for field, rule in described.get("headers", {}).items():
            rule = self.resolve(rule)
            test.assertTrue(field in fields or not rule.get("required"), f"{name} without {field}")
            if field in fields:
                test.assertEqual(self.faults(fields[field], rule["schema"]), [], f"{name}: {field}")
        named = {field.lower() for field in described.get("headers", {})} | OF_MESSAGE
        beyond = [field for field in fields if field.lower() not in named]
        test.assertEqual(beyond, [], f"{name} has fields that are not described")
        if "content" not in described:
            test.assertEqual(body, b"", name)
            if status < 300:
                self.answered.add(operation["operationId"])
            return {}
        media = fields["Content-Type"].partition(";")[0]
        test.assertIn(media, described["content"], name)
        schema = described["content"][media]["schema"]
        content = json.loads(body) if media.endswith("json") else body.decode()
        test.assertEqual(self.faults(content, schema), [], f"{name}: {content}")
        test.assertEqual(list(self.undescribed(content, [schema])), [], f"{name} says what is not described")
        if status < 300:
            self.answered.add(operation["operationId"])
        return content

    def operation(self, method: str, path: str) -> dict:
        path = path.partition("?")[0]
        for template in self.paths:
            if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template)), path):
                item = self.document["paths"][template]
                if method.lower() in item:
                    return item[method.lower()]
        raise AssertionError(f"{method} {path} is not described")

    def resolve(self, value: dict) -> dict:
        while "$ref" in value:
            _, _, kind, name = value["$ref"].split("/")
            value = self.document["components"][kind][name]
        return value

    def faults(self, content: object, schema: dict) -> list[str]:
        validator = OAS31Validator({**schema, "components": self.document["components"]})
        return [f"{'/'.join(map(str, fault.absolute_path))}: {fault.message}" for fault in validator.iter_errors(content)]

    def undescribed(self, content: object, schemas: list[dict], place: str = "") -> Iterator[str]:
        """Members that no schema names. Whoever reads is to ignore them, but none is there unsaid."""
        flat = list(self.flatten(schemas))
        if isinstance(content, dict):
            members: dict[str, list[dict]] = {}
            for schema in flat:
                for name, member in schema.get("properties", {}).items():
                    members.setdefault(name, []).append(member)
            for name, value in content.items():
                if name in members:
                    yield from self.undescribed(value, members[name], f"{place}/{name}")
                elif members:
                    yield f"{place}/{name}"
        elif isinstance(content, list):
            items = [schema["items"] for schema in flat if "items" in schema]
            for value in content:
                yield from self.undescribed(value, items, f"{place}/0")

    def flatten(self, schemas: list[dict]) -> Iterator[dict]:
        for schema in schemas:
            schema = self.resolve(schema)
            yield schema
            for kind in ("allOf", "anyOf", "oneOf"):
                yield from self.flatten(schema.get(kind, []))
