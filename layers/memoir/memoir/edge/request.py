"""One HTTP request as API Gateway's HTTP API hands it over (payload 2.0)."""

import base64
import json
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from memoir import errors
from memoir.domain.scope import ProductScope, Scope, UserScope
from memoir.domain.write_token import WriteToken, idempotent_token, random_token
from memoir.edge.identity import ADMIN, product_scope, token_scopes, user_scope

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")
_ETAG = re.compile(r'(?:W/)?"([^"]*)"')


class Request:
    """One request.

    `headers`: by lower-case name. `route_key`: the route that API Gateway has chosen, `GET /v1/health`.
    `request_id`: the caller's `x-request-id` where it is usable, else API Gateway's. `body`: what the route's
    reader made of the body.
    """

    def __init__(self, event: Mapping[str, Any], *, audiences: Callable[[], tuple[str, ...]]) -> None:
        """Take *event*. *audiences*: those that tokens without a client id are for."""
        self.event = event
        # Blank and tab are all that HTTP lets stand around a value; any other space is part of it.
        self.headers = {
            name.lower(): str(value).strip(" \t") for name, value in (event.get("headers") or {}).items()
        }
        self.route_key = str(event.get("routeKey", ""))
        named = self.headers.get("x-request-id", "")
        made = event.get("requestContext", {}).get("requestId", "")
        self.request_id = named if _REQUEST_ID.fullmatch(named) else str(made)
        self.body: Any = None
        self._audiences = audiences

    @cached_property
    def user(self) -> UserScope:
        """The product and user that the verified token stands for. Raises NotAuthenticated, Forbidden."""
        return user_scope(claims=self._claims, headers=self.headers, audiences=self._audiences)

    @cached_property
    def product(self) -> ProductScope:
        """The product that the verified token stands for. Raises NotAuthenticated."""
        return product_scope(claims=self._claims, audiences=self._audiences)

    @cached_property
    def conversation(self) -> Scope:
        """The conversation that the path names, of that user. Raises RequestInvalid for a bad id."""
        return self.user.conversation(self.path_parameter("id"))

    def check_admin(self) -> None:
        """Check that the token may write what belongs to the product. Raises Forbidden."""
        if ADMIN not in token_scopes(self._claims):
            raise errors.Forbidden(detail=f"only a token with the scope {ADMIN} may do this")

    @property
    def _claims(self) -> Mapping[str, object]:
        authorizer = self.event.get("requestContext", {}).get("authorizer", {})
        claims: Mapping[str, object] = authorizer.get("jwt", {}).get("claims", {})
        return claims

    @property
    def query(self) -> Mapping[str, str]:
        """The query parameters; of a repeated one, API Gateway joins the values by a comma."""
        return self.event.get("queryStringParameters") or {}

    def path_parameter(self, name: str) -> str:
        """Return a part of the path as API Gateway has cut and decoded it; empty where there is none."""
        return str((self.event.get("pathParameters") or {}).get(name, ""))

    def path_number(self, name: str) -> int:
        """Return a part of the path that is a round: 1 to 10 digits. Raises RequestInvalid."""
        text = self.path_parameter(name)
        if not (text.isascii() and text.isdigit() and len(text) <= 10):
            raise errors.RequestInvalid(path=name, detail=f"{name}: must be the number of a round")
        return int(text)

    @cached_property
    def token(self) -> WriteToken:
        """The token of the write that this request asks for.

        With an `Idempotency-Key` it stands for this route, path and body, however the JSON is spelled: white
        space, escapes and the order of members make no other request. Raises RequestInvalid.
        """
        key = self.headers.get("idempotency-key")
        if key is None:
            return random_token()
        if not _IDEMPOTENCY_KEY.fullmatch(key):
            raise errors.RequestInvalid(
                code="idempotency_key_invalid",
                path="idempotency-key",
                detail="idempotency-key: must be 1 to 255 printable ASCII characters without blanks",
            )
        path = json.dumps(self.event.get("pathParameters"), sort_keys=True)
        body = _canonical(self.raw())
        return idempotent_token(idempotency_key=f"{self.route_key} {key}", body=f"{path} {body}")

    def raw(self) -> bytes:
        """Return the body's bytes. Raises JsonMalformed."""
        body = self.event.get("body") or ""
        try:
            raw = base64.b64decode(body) if self.event.get("isBase64Encoded") else body.encode()
        except (ValueError, UnicodeEncodeError):
            raise errors.JsonMalformed(detail="the body is not UTF-8 text") from None
        if "\ufffd" in body and self.headers.get("content-length") not in (None, str(len(raw))):
            # Whoever made text of the bytes put U+FFFD where they were no UTF-8.
            raise errors.JsonMalformed(detail="the body is not UTF-8 text")
        return raw

    def json_body(self, *, max_bytes: int) -> bytes:
        """Return the body, declared as JSON. Raises MediaTypeUnsupported, TooLarge, JsonMalformed."""
        _check_media_type(self.headers)
        raw = self.raw()
        if len(raw) > max_bytes:
            raise errors.TooLarge(
                code="body_too_large",
                size_bytes=len(raw),
                limit_bytes=max_bytes,
                detail=f"the body has {len(raw)} bytes, the limit is {max_bytes}",
            )
        return raw

    def has(self, etag: str) -> bool:
        """Tell whether the caller has the answer of that ETag: `If-None-Match`, a list, weak ones, or `*`."""
        known = self.headers.get("if-none-match", "")
        return known == "*" or etag in _ETAG.findall(known)

    def check_if_match(self, expected: int | None) -> None:
        """Check `If-Match` against the revision that the body is based on; None: the route has none.

        Raises PreconditionFailed; RequestInvalid where the header has no meaning here.
        """
        wanted = self.headers.get("if-match")
        if wanted is None:
            return
        if expected is None:
            raise errors.RequestInvalid(
                code="header_not_supported",
                path="if-match",
                detail="if-match: this route is based on no revision",
            )
        named = [etag.partition(".")[0] for etag in _ETAG.findall(wanted)]  # a table's: <revision>.<round>
        if (wanted == "*" and expected > 0) or str(expected) in named:
            return
        raise errors.PreconditionFailed(
            path="if-match", detail=f"if-match: the body is based on revision {expected}, the header is not"
        )


def _canonical(raw: bytes) -> str:
    try:
        return json.dumps(json.loads(raw), sort_keys=True)
    except (ValueError, RecursionError):  # a body that the route does not read
        return raw.decode(errors="replace")


def _check_media_type(headers: Mapping[str, str]) -> None:
    media_type, *parameters = headers.get("content-type", "").lower().split(";")
    charsets = [
        value.strip(' "')
        for name, _, value in (p.partition("=") for p in parameters)
        if name.strip() == "charset"
    ]
    encoding = headers.get("content-encoding", "identity").lower()
    utf8 = all(charset == "utf-8" for charset in charsets)
    if media_type.strip() != "application/json" or not utf8 or encoding != "identity":
        raise errors.MediaTypeUnsupported(
            detail="the body must be sent as content-type: application/json, UTF-8, not compressed"
        )
