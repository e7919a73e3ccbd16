"""Errors as botocore raises them for what AWS answers."""

from typing import Any

from botocore.exceptions import ClientError


def aws_error(
    code: str, operation: str, *, message: str = "", status: int = 400, **members: Any
) -> ClientError:
    """Return the error that botocore raises for an answer of AWS's."""
    response: Any = {
        "Error": {"Code": code, "Message": message or code},
        "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": {}, "RetryAttempts": 0},
        **members,
    }
    return ClientError(response, operation)


def cancelled(reasons: list[dict[str, Any]]) -> ClientError:
    """Return the error of a transaction, with a reason for each of its writes."""
    codes = ", ".join(reason["Code"] for reason in reasons)
    return aws_error(
        "TransactionCanceledException",
        "TransactWriteItems",
        message=f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
        CancellationReasons=reasons,
    )
