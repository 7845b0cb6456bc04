"""Give functions written with Powertools for AWS Lambda immediate retries, delayed retries and an error queue."""

try:
    from recoverable.powertools._processor import RecoverableBatchProcessor
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "aws_lambda_powertools":
        raise
    raise ModuleNotFoundError(
        f"{error}; recoverable.powertools stands on Powertools for AWS Lambda: pip install 'recoverable[powertools]'",
        name=error.name,
    ) from error

__all__ = ["RecoverableBatchProcessor"]
