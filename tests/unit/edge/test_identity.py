"""Whose request it is, from claims as API Gateway hands them over and one header of trusted hosts."""

from typing import Any

import pytest

from memoir.domain.scope import UserScope
from memoir.edge.identity import user_scope
from memoir.errors import Forbidden, NotAuthenticated, RequestInvalid

ACT = "memory/act-as-user"


def whose(claims: dict[str, Any], *, audiences: tuple[str, ...] = (), **headers: str) -> UserScope:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return user_scope(claims=claims, headers=named, audiences=lambda: audiences)


def test_a_users_own_token_names_product_and_user() -> None:
    assert whose({"client_id": "c", "sub": "s"}) == UserScope(product="c", user="s")
    assert whose({"aud": "a", "sub": "s"}) == UserScope(product="a", user="s")
    assert whose({"client_id": "c", "aud": "a", "sub": "s"}).product == "c"


@pytest.mark.parametrize("listed", ["[api userinfo]", "[userinfo api]", "[api,userinfo]", "[api]"])
def test_floci_2011_of_several_audiences_the_configured_one_is_the_product(listed: str) -> None:
    assert whose({"aud": listed, "sub": "s"}, audiences=("other", "api")).product == "api"


@pytest.mark.parametrize("listed", ["[]", "[userinfo more]", "[apis api2]", ""])
def test_audiences_none_of_which_is_configured_name_no_product(listed: str) -> None:
    with pytest.raises(NotAuthenticated):
        whose({"aud": listed, "sub": "s"}, audiences=("api",))


@pytest.mark.parametrize("name", ["scope", "scp"])
@pytest.mark.parametrize("scopes", [ACT, f"openid {ACT}", f"[openid {ACT}]", f"[{ACT}]"])
def test_aws_cdk_19027_scopes_stand_in_scope_or_scp(name: str, scopes: str) -> None:
    found = whose({"client_id": "c", "sub": "s", name: scopes}, x_user_id="u")
    assert found == UserScope(product="c", user="u")


@pytest.mark.parametrize("scopes", ["", "memory/act-as-users", "xmemory/act-as-user", "memory/admin"])
def test_only_that_scope_may_name_a_user(scopes: str) -> None:
    with pytest.raises(Forbidden):
        whose({"client_id": "c", "sub": "s", "scope": scopes}, x_user_id="u")


def test_a_trusted_host_has_to_name_the_user() -> None:
    with pytest.raises(RequestInvalid) as refusal:
        whose({"client_id": "c", "sub": "s", "scope": ACT})
    assert refusal.value.code == "user_id_missing"


@pytest.mark.parametrize("named", ["a, b", "a,b", ",", "a,"])
def test_a_user_who_is_named_twice_is_refused(named: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        whose({"client_id": "c", "sub": "s", "scope": ACT}, x_user_id=named)
    assert (refusal.value.code, refusal.value.path) == ("id_invalid", "x-user-id")


@pytest.mark.parametrize("claims", [{}, {"client_id": "c"}, {"sub": "s"}, {"client_id": "", "sub": "s"}])
def test_a_token_without_client_or_user_is_none(claims: dict[str, str]) -> None:
    with pytest.raises(NotAuthenticated):
        whose(claims)
