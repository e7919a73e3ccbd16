"""Whose request it is, from the claims of a token that API Gateway has verified, and never from elsewhere.

API Gateway hands every claim over as text: a list arrives as "[a b]".
"""

from collections.abc import Mapping

from memoir.domain.scope import UserScope, check_opaque_id
from memoir.errors import Forbidden, NotAuthenticated, RequestInvalid

ACT_AS_USER = "memory/act-as-user"
ADMIN = "memory/admin"


def user_scope(*, claims: Mapping[str, object], headers: Mapping[str, str]) -> UserScope:
    """Return the product and the user of a request.

    product is `client_id`, else `aud`; user is `sub`, or for a token with the scope `memory/act-as-user` the
    header `x-user-id`, which that token must send and no other may.
    Raises NotAuthenticated, RequestInvalid, Forbidden.
    """
    product = str(claims.get("client_id") or claims.get("aud", ""))
    named = headers.get("x-user-id")
    if ACT_AS_USER in token_scopes(claims):
        if not named:
            raise RequestInvalid(
                code="user_id_missing",
                path="x-user-id",
                detail=f"x-user-id: a token with the scope {ACT_AS_USER} has to name the user",
            )
        user = check_opaque_id(named, path="x-user-id")
    elif named is not None:
        raise Forbidden(detail=f"x-user-id: only a token with the scope {ACT_AS_USER} may name a user")
    else:
        user = str(claims.get("sub", ""))
    if not product or not user:
        raise NotAuthenticated(detail="the token names no client or no user")
    return UserScope(
        product=check_opaque_id(product, path="token client"), user=check_opaque_id(user, path="token sub")
    )


def token_scopes(claims: Mapping[str, object]) -> list[str]:
    """Return the scopes of the token."""
    return str(claims.get("scope", "")).strip("[]").replace(",", " ").split()
