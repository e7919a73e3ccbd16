"""Requests as API Gateway hands them over, for our function and the customary one alike."""

import json
from typing import Any


def request(method: str, body: Any = None, *, kind: str = "memory") -> dict[str, Any]:
    """Return an event of payload 2.0 for a *kind* of memory of conversation c1."""
    path = f"/v1/conversations/c1/{kind}"
    return {
        "version": "2.0",
        "routeKey": f"{method} /v1/conversations/{{id}}/{kind}",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"content-type": "application/json", "host": "api.example.com", "x-user-id": "u"},
        "requestContext": {
            "accountId": "1",
            "apiId": "a",
            "domainName": "api.example.com",
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "::1"},
            "requestId": "r",
            "routeKey": f"{method} /v1/conversations/{{id}}/{kind}",
            "stage": "$default",
            "authorizer": {"jwt": {"claims": {"client_id": "p", "sub": "p", "scope": "memory/act-as-user"}}},
        },
        "pathParameters": {"id": "c1", "conversation": "c1"},
        "body": None if body is None else json.dumps(body, ensure_ascii=False),
        "isBase64Encoded": False,
    }


class Context:
    """Lambda's context, as far as Powertools asks for it."""

    function_name = "memory"
    memory_limit_in_mb = 1024
    invoked_function_arn = "arn:aws:lambda:eu-central-1:1:function:memory"
    aws_request_id = "r"

    def get_remaining_time_in_millis(self) -> int:
        """Return plenty."""
        return 15_000
