"""Whose request it is, from the claims of a token that API Gateway has verified, and never from elsewhere.

API Gateway hands every claim over as text: a list arrives as "[a b]".
"""

from collections.abc import Callable, Mapping

from memoir.domain.scope import ProductScope, UserScope, check_opaque_id
from memoir.errors import Forbidden, NotAuthenticated, RequestInvalid

ACT_AS_USER = "memory/act-as-user"
ADMIN = "memory/admin"


def user_scope(
    *,
    claims: Mapping[str, object],
    headers: Mapping[str, str],
    audiences: Callable[[], tuple[str, ...]] = tuple,
) -> UserScope:
    """Return the product and the user of a request.

    product is `client_id`, else `aud`; of several audiences, the one of *audiences*. user is `sub`, or for a
    token with the scope `memory/act-as-user` the header `x-user-id`, which that token must send and no other
    may. Raises NotAuthenticated, RequestInvalid, Forbidden.
    """
    product = product_scope(claims=claims, audiences=audiences).product
    named = headers.get("x-user-id")
    if ACT_AS_USER in token_scopes(claims):
        if not named:
            raise RequestInvalid(
                code="user_id_missing",
                path="x-user-id",
                detail=f"x-user-id: a token with the scope {ACT_AS_USER} has to name the user",
            )
        if "," in named:  # how API Gateway joins a header that was sent twice
            raise RequestInvalid(
                code="id_invalid", path="x-user-id", detail="x-user-id: must be sent once, without a comma"
            )
        user = check_opaque_id(named, path="x-user-id")
    elif named is not None:
        raise Forbidden(detail=f"x-user-id: only a token with the scope {ACT_AS_USER} may name a user")
    else:
        user = _claim(claims, "sub")
    if not user:
        raise NotAuthenticated(detail="the token names no user")
    return UserScope(product=product, user=check_opaque_id(user, path="token sub"))


def product_scope(
    *, claims: Mapping[str, object], audiences: Callable[[], tuple[str, ...]] = tuple
) -> ProductScope:
    """Return the product of a request. Raises NotAuthenticated."""
    product = _claim(claims, "client_id") or _audience(_claim(claims, "aud"), audiences)
    if not product:
        raise NotAuthenticated(detail="the token names no client")
    return ProductScope(product=check_opaque_id(product, path="token client"))


def token_scopes(claims: Mapping[str, object]) -> list[str]:
    """Return the scopes of the token: `scope` or `scp`, as API Gateway itself takes either."""
    return [scope for name in ("scope", "scp") for scope in _listed(_claim(claims, name))]


def _audience(text: str, audiences: Callable[[], tuple[str, ...]]) -> str:
    listed = _listed(text) if text.startswith("[") else [text]
    if len(listed) == 1:
        return listed[0]
    ours = [audience for audience in audiences() if audience in listed]
    return ours[0] if ours else ""


def _listed(text: str) -> list[str]:
    return text.strip("[]").replace(",", " ").split()


def _claim(claims: Mapping[str, object], name: str) -> str:
    value = claims.get(name)
    return "" if value is None else str(value)
