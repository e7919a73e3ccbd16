"""Give the emulator's HTTP API the routes that the template describes, where the emulator lacks them.

SAM turns the `HttpApi` events of the functions into the OpenAPI `Body` of the API. The emulator keeps that
body in the deployed template but makes no routes of it, so they are read back from there: the template stays
the only place where a route is written.
"""

import re
from typing import Any

_METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
_ANY = "x-amazon-apigateway-any-method"
_FUNCTION = re.compile(r"\$\{(\w+)\.Arn\}")


def make_missing_routes(
    *,
    apigateway: Any,
    cloudformation: Any,
    function_arn: Any,
    stack_name: str,
    api_id: str,
    jwt: dict[str, Any],
) -> int:
    """Make the routes of the API and return how many; none where it has some already.

    *function_arn* gives the ARN of a function by its logical id. *jwt*: `issuer` and `audience` of tokens.
    """
    if apigateway.get_routes(ApiId=api_id)["Items"]:
        return 0
    body = _openapi(cloudformation, stack_name)
    authorizer_id = apigateway.create_authorizer(
        ApiId=api_id,
        Name="Jwt",
        AuthorizerType="JWT",
        IdentitySource=["$request.header.Authorization"],
        JwtConfiguration={"Issuer": jwt["issuer"], "Audience": jwt["audience"]},
    )["AuthorizerId"]
    integrations: dict[str, str] = {}
    made = 0
    for route_key, operation in _operations(body):
        logical_id = _function_of(operation)
        if logical_id not in integrations:
            integrations[logical_id] = apigateway.create_integration(
                ApiId=api_id,
                IntegrationType="AWS_PROXY",
                IntegrationUri=function_arn(logical_id),
                PayloadFormatVersion="2.0",
            )["IntegrationId"]
        secured = "Jwt" in [name for entry in operation.get("security", []) for name in entry]
        apigateway.create_route(
            ApiId=api_id,
            RouteKey=route_key,
            Target=f"integrations/{integrations[logical_id]}",
            **({"AuthorizationType": "JWT", "AuthorizerId": authorizer_id} if secured else {}),
        )
        made += 1
    return made


def _openapi(cloudformation: Any, stack_name: str) -> dict[str, Any]:
    template = cloudformation.get_template(StackName=stack_name, TemplateStage="Processed")["TemplateBody"]
    apis = [
        resource["Properties"]["Body"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::ApiGatewayV2::Api"
    ]
    if len(apis) != 1:
        raise RuntimeError(f"the deployed template has {len(apis)} HTTP APIs, expected one")
    body: dict[str, Any] = apis[0]
    return body


def _operations(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for path, operations in body["paths"].items():
        for method, operation in operations.items():
            if method == _ANY:
                found.append(("$default" if path == "/$default" else f"ANY {path}", operation))
            elif method in _METHODS:
                found.append((f"{method.upper()} {path}", operation))
    return found


def _function_of(operation: dict[str, Any]) -> str:
    uri = operation["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
    match = _FUNCTION.search(uri)
    if match is None:
        raise RuntimeError(f"no function in {uri}")
    return match[1]
