"""`make openapi`: write the description of the API, which the function `health` serves."""

from tests.openapi.description import FILE, text

FILE.write_text(text())
print(f"wrote {FILE}")
