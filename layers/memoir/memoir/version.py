"""The version that `GET /v1/health` reports and the package carries."""

VERSION = "0.1.0"
