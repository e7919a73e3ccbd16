"""`make redrive WORKER=table`: move a worker's dead letters back into its queue, in AWS.

Workers are safe to run on any old message: what is done is decided by what is stored. Mend the cause first.
"""

import os
import sys
import time

import boto3

WORKERS = ("table", "diary", "state")


def main(worker: str) -> int:
    """Start the move and wait for its end. Returns the exit code."""
    if worker not in WORKERS:
        print(f"say which worker: make redrive WORKER={'|'.join(WORKERS)}", file=sys.stderr)
        return 2
    stack = os.environ.get("STACK", "memoir")
    described = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}
    url = outputs[f"{worker.capitalize()}DeadLettersUrl"]
    sqs = boto3.client("sqs")
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sqs.start_message_move_task(SourceArn=arn)
    while True:
        task = sqs.list_message_move_tasks(SourceArn=arn, MaxResults=1)["Results"][0]
        moved, found = (
            task.get("ApproximateNumberOfMessagesMoved", 0),
            task.get("ApproximateNumberOfMessagesToMove", 0),
        )
        print(f"{task['Status']}: {moved} of {found} moved", flush=True)
        if task["Status"] != "RUNNING":
            return 0 if task["Status"] == "COMPLETED" else 1
        time.sleep(2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
