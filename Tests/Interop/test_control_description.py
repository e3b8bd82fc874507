"""openapi-spec-validator, unchanged, accepts the control API's description; and the answers are as it says."""

import re
import unittest

from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from simulator import BUNDLE_ID, SimulatorTest


class ControlDescriptionTest(SimulatorTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.document = cls.store.get("/openapi.json")
        cls.store.customer("anna", storefront="DEU", family="smith")
        cls.bought = cls.store.buy("anna", "pro.monthly")
        cls.store.advance("P2M")
        cls.store.act("decide_refund", customer="anna", decision="full")

    def test_the_document_is_open_api(self) -> None:
        self.assertEqual([str(error) for error in OpenAPIV31SpecValidator(self.document).iter_errors()], [])

    def test_every_answer_is_as_described(self) -> None:
        values = {"name": "anna", "id": self.bought["transaction_id"], "flaw": "leafExpired", "app": BUNDLE_ID}
        for path, operations in self.document["paths"].items():
            if "get" not in operations:
                continue
            with self.subTest(path=path):
                answer = self.store.get(re.sub(r"\{(\w+)\}", lambda match: values[match[1]], path[len("/simulator/v1") :]))
                content = operations["get"]["responses"]["200"]["content"]
                self.check(answer, content["application/json"]["schema"])

    def test_what_is_done_and_refused_is_as_described(self) -> None:
        schemas = "#/components/schemas/"
        self.check(self.store.call("POST", "/clock", {"advance": "P1D"}), {"$ref": schemas + "Clock"})
        self.check(self.store.call("PUT", "/chaos", {}), {"$ref": schemas + "Chaos"})
        self.check(self.store.call("POST", "/customers", {"name": "bert"}), {"$ref": schemas + "Customer"})
        act = {"act": "buy", "customer": "bert", "product": "sword"}
        self.check(self.store.call("POST", "/acts", act), {"$ref": schemas + "Outcome"})
        for path, body, status in (
            ("/acts", act, 409),
            ("/acts", {"act": "fly"}, 400),
            ("/customers", {"name": "bert"}, 409),
            ("/clock", {"to": "2020-01-01T00:00:00Z"}, 409),
        ):
            self.check(self.store.call("POST", path, body, expecting=status), {"$ref": schemas + "Problem"})

    def check(self, answer: dict, schema: dict) -> None:
        whole = {**schema, "components": self.document["components"]}
        errors = OAS31Validator(whole).iter_errors(answer)
        self.assertEqual([f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in errors], [])


if __name__ == "__main__":
    unittest.main()
