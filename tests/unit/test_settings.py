import pytest

from memoir.settings import Settings, SettingsInvalid


def test_only_the_table_has_to_be_named() -> None:
    settings = Settings.from_env({"MEMOIR_TABLE_NAME": "t"})
    assert (settings.model, settings.receipt_days, settings.endpoint_url) == ("extractive", 30, None)


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"MEMOIR_TABLE_NAME": ""}, "MEMOIR_TABLE_NAME"),
        ({"MEMOIR_RECEIPT_DAYS": "0"}, "MEMOIR_RECEIPT_DAYS"),
        ({"MEMOIR_RECEIPT_DAYS": "-1"}, "MEMOIR_RECEIPT_DAYS"),
        ({"MEMOIR_RECEIPT_DAYS": "many"}, "MEMOIR_RECEIPT_DAYS"),
        ({"MEMOIR_MODEL_TIMEOUT_MS": "1.5"}, "MEMOIR_MODEL_TIMEOUT_MS"),
        ({"MEMOIR_MODEL_TEMPERATURE": "1.1"}, "MEMOIR_MODEL_TEMPERATURE"),
        ({"MEMOIR_MODEL_TEMPERATURE": "warm"}, "MEMOIR_MODEL_TEMPERATURE"),
        ({"MEMOIR_MODEL_REASONS": "yes"}, "MEMOIR_MODEL_REASONS"),
        ({"MEMOIR_MODEL": "gpt"}, "MEMOIR_MODEL"),
        ({"MEMOIR_MODEL": "bedrock:"}, "MEMOIR_MODEL"),
        ({"MEMOIR_MODEL": "openai:gpt"}, "MEMOIR_MODEL_URL"),
    ],
)
def test_a_setting_that_is_not_acceptable_is_named(environment: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsInvalid, match=named):
        Settings.from_env({"MEMOIR_TABLE_NAME": "t", **environment})


@pytest.mark.parametrize(("text", "temperature"), [("", 0.3), ("0", 0.0), ("1.0", 1.0), ("none", None)])
def test_a_temperature_is_a_number_or_not_sent(text: str, temperature: float | None) -> None:
    settings = Settings.from_env({"MEMOIR_TABLE_NAME": "t", "MEMOIR_MODEL_TEMPERATURE": text})
    assert settings.model_temperature == temperature


URLS = ["HINOS_MEMORY_URL", "MEMOIR_MODEL_URL"]


@pytest.mark.parametrize("name", URLS)
@pytest.mark.parametrize(
    "url",
    [
        "http://8.8.8.8/v1",
        "http://model.example/v1",
        "http://10.0.0.1:80@model.example/v1",
        "ftp://10.0.0.1/",
        "x",
    ],
)
def test_an_address_over_which_anyone_could_listen_is_refused(name: str, url: str) -> None:
    with pytest.raises(SettingsInvalid, match=f"^{name} must be https"):
        Settings.from_env({"MEMOIR_TABLE_NAME": "t", name: url})


@pytest.mark.parametrize("name", URLS)
@pytest.mark.parametrize("host", ["127.0.0.1:1", "10.0.0.1", "[::1]:8080", "localhost", "model.internal"])
def test_plain_http_stays_within_a_private_network_and_says_so(name: str, host: str) -> None:
    with pytest.warns(UserWarning, match=f"^{name} is plain http"):
        settings = Settings.from_env({"MEMOIR_TABLE_NAME": "t", name: f"http://{host}/v1"})
    assert f"http://{host}/v1" in (settings.hinos_url, settings.model_url)


@pytest.mark.parametrize("name", URLS)
def test_https_may_lead_anywhere(name: str) -> None:
    settings = Settings.from_env({"MEMOIR_TABLE_NAME": "t", name: "https://model.example/v1"})
    assert "https://model.example/v1" in (settings.hinos_url, settings.model_url)
