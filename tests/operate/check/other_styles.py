"""Templates as other projects write them, in other styles than this one's: none of them uses this package, so none of them has a finding."""

from __future__ import annotations

import json
from typing import NamedTuple

NOTHING = "Nothing was checked."
ALONE = "Nothing to check: no function that reads a queue uses this package."
UNSURE = "Nothing found in what was checked."


class Style(NamedTuple):
    """A template in some style.

    Args:
        text: its file.
        ends: the line that says how it went; "" where the file is none that is read.
        left_alone: the functions that are named as those of others.
        unread: the functions of which it is not known.
    """

    text: str
    ends: str = NOTHING
    left_alone: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def function(runtime: str, more: str = "", name: str = "Worker") -> str:
    """Return a function of SAM that reads a queue."""
    return f"""
  {name}:
    Type: AWS::Serverless::Function
    Properties:
      Runtime: {runtime}
      Handler: app.handler
      CodeUri: worker/
      Timeout: 300
      {more}
      Events:
        Queue: {{ Type: SQS, Properties: {{ Queue: !GetAtt Jobs.Arn, BatchSize: 100 }} }}
"""


QUEUE = """
  Jobs:
    Type: AWS::SQS::Queue
    Properties: { VisibilityTimeout: 5 }
"""
SAM = "AWSTemplateFormatVersion: 2010-09-09\nTransform: AWS::Serverless-2016-10-31\nResources:\n"
CFN = "AWSTemplateFormatVersion: '2010-09-09'\nResources:\n"
PLAIN = """
  Worker:
    Type: AWS::Lambda::Function
    Properties: { Runtime: RUNTIME, Handler: app.handler, Role: !GetAtt Role.Arn, Code: { S3Bucket: b, S3Key: k } }
  Role:
    Type: AWS::IAM::Role
    Properties: { AssumeRolePolicyDocument: {} }
  Mapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties: { FunctionName: !Ref Worker, EventSourceArn: !GetAtt Jobs.Arn }
"""
FOREIGN = ("Worker",)

ON_AWS: dict[str, Style] = {
    "SAM, Java": Style(SAM + QUEUE + function("java21"), ALONE, left_alone=FOREIGN),
    "SAM, Node": Style(SAM + QUEUE + function("nodejs22.x"), ALONE, left_alone=FOREIGN),
    "SAM, .NET": Style(SAM + QUEUE + function("dotnet8"), ALONE, left_alone=FOREIGN),
    "SAM, Rust": Style(SAM + QUEUE + function("provided.al2023", "Architectures: [arm64]"), ALONE, left_alone=FOREIGN),
    "SAM, Ruby": Style(SAM + QUEUE + function("ruby3.4"), ALONE, left_alone=FOREIGN),
    "SAM, Go, with build metadata": Style(SAM + QUEUE + function("provided.al2").replace("Properties:\n      Runtime", "Metadata: { BuildMethod: go1.x }\n    Properties:\n      Runtime"), ALONE, left_alone=FOREIGN),
    "SAM, the runtime in Globals": Style("Globals: { Function: { Runtime: nodejs22.x, Timeout: 900 } }\n" + SAM + QUEUE + function("x").replace("      Runtime: x\n", ""), ALONE, left_alone=FOREIGN),
    "SAM, the runtime as a parameter": Style("Parameters: { Runtime: { Type: String, Default: nodejs22.x } }\n" + SAM + QUEUE + function("!Ref Runtime"), ALONE, left_alone=FOREIGN),
    "SAM, the runtime as a parameter without a value": Style("Parameters: { Runtime: { Type: String } }\n" + SAM + QUEUE + function("!Ref Runtime"), UNSURE, unread=FOREIGN),
    "SAM, Python whose folder is not there": Style(SAM + QUEUE + function("python3.13"), UNSURE, unread=FOREIGN),
    "SAM, Python in S3": Style(SAM + QUEUE + function("python3.13").replace("CodeUri: worker/", "CodeUri: s3://b/k.zip"), UNSURE, unread=FOREIGN),
    "SAM, Python in S3 by bucket and key": Style(SAM + QUEUE + function("python3.13").replace("CodeUri: worker/", "CodeUri: { Bucket: b, Key: k }"), UNSURE, unread=FOREIGN),
    "SAM, Python inline": Style(SAM + QUEUE + function("python3.13", "InlineCode: 'def handler(event, context): pass'").replace("      CodeUri: worker/\n", ""), UNSURE, unread=FOREIGN),
    "SAM, an image": Style(SAM + QUEUE + function("x", "PackageType: Image\n      ImageUri: 42.dkr.ecr.eu-west-1.amazonaws.com/x:1").replace("      Runtime: x\n      Handler: app.handler\n      CodeUri: worker/\n", ""), UNSURE, unread=FOREIGN),
    "SAM, an image that is built": Style(SAM + QUEUE + function("x", "PackageType: Image").replace("      Runtime: x\n      Handler: app.handler\n      CodeUri: worker/\n", "").replace("    Properties:\n      Timeout", "    Metadata: { Dockerfile: Dockerfile, DockerContext: . }\n    Properties:\n      Timeout"), UNSURE, unread=FOREIGN),
    "SAM, no queue": Style(SAM + "  Api: { Type: AWS::Serverless::Function, Properties: { Runtime: python3.13, Handler: a.b, CodeUri: ., Events: { Get: { Type: Api, Properties: { Path: /, Method: get } } } } }\n"),
    "SAM, a stream": Style(SAM + "  F: { Type: AWS::Serverless::Function, Properties: { Runtime: python3.13, Events: { S: { Type: Kinesis, Properties: { Stream: arn:aws:kinesis:eu-west-1:42:stream/x, StartingPosition: LATEST } } } } }\n"),
    "SAM, a queue that is imported": Style(SAM + function("nodejs22.x").replace("!GetAtt Jobs.Arn", "!ImportValue jobs-arn"), ALONE, left_alone=FOREIGN),
    "SAM, a queue by parameter of SSM": Style("Parameters: { Jobs: { Type: 'AWS::SSM::Parameter::Value<String>', Default: /jobs } }\n" + SAM + function("dotnet8").replace("!GetAtt Jobs.Arn", "!Ref Jobs"), ALONE, left_alone=FOREIGN),
    "SAM, a queue by dynamic reference": Style(SAM + function("java17").replace("!GetAtt Jobs.Arn", "'{{resolve:ssm:/jobs}}'"), ALONE, left_alone=FOREIGN),
    "SAM, connectors": Style(SAM + QUEUE + function("nodejs22.x") + "  C: { Type: AWS::Serverless::Connector, Properties: { Source: { Id: Worker }, Destination: { Id: Jobs }, Permissions: [Write] } }\n", ALONE, left_alone=FOREIGN),
    "SAM, a nested application of the repository": Style(SAM + QUEUE + function("nodejs22.x") + "  A: { Type: AWS::Serverless::Application, Properties: { Location: { ApplicationId: arn:aws:serverlessrepo:x, SemanticVersion: 1.0.0 } } }\n", UNSURE, left_alone=FOREIGN, unread=("all-parts",)),
    "SAM, aliases and hooks": Style(SAM + QUEUE + function("python3.12", "AutoPublishAlias: live\n      DeploymentPreference: { Type: Canary10Percent5Minutes }").replace("python3.12", "java21"), ALONE, left_alone=FOREIGN),
    "SAM, a macro": Style(SAM.replace("Transform: AWS::Serverless-2016-10-31", "Transform: [Mine, AWS::Serverless-2016-10-31]") + QUEUE + function("nodejs22.x") + "  X: { Type: 'Mine::Thing', Properties: { Of: !Ref NotHere } }\n", ALONE, left_alone=FOREIGN),
    "SAM, an include among the resources": Style(SAM + QUEUE + function("nodejs22.x") + "  'Fn::Transform': { Name: AWS::Include, Parameters: { Location: s3://b/k } }\n", UNSURE, left_alone=FOREIGN, unread=("all-parts",)),
    "SAM, events that are included": Style(SAM + QUEUE + function("nodejs22.x").partition("      Events:")[0] + "      Events: { 'Fn::Transform': { Name: AWS::Include } }\n", ALONE, left_alone=FOREIGN),
    "SAM, wrong types everywhere": Style(SAM + "  F: { Type: AWS::Serverless::Function, Properties: { Runtime: [1], Handler: {}, CodeUri: 5, Timeout: x, Environment: [], Policies: {a: 1}, Events: { E: { Type: SQS, Properties: [] } } } }\n", UNSURE, unread=("F",)),
    "CloudFormation, Node": Style(CFN + QUEUE + PLAIN.replace("RUNTIME", "nodejs22.x"), ALONE, left_alone=FOREIGN),
    "CloudFormation, Python in S3": Style(CFN + QUEUE + PLAIN.replace("RUNTIME", "python3.13"), UNSURE, unread=FOREIGN),
    "CloudFormation, Python inline": Style(CFN + QUEUE + PLAIN.replace("RUNTIME", "python3.13").replace("S3Bucket: b, S3Key: k", "ZipFile: 'def handler(e, c): pass'"), UNSURE, unread=FOREIGN),
    "CloudFormation, a function of another stack": Style(CFN + QUEUE + PLAIN.replace("RUNTIME", "python3.13").replace("FunctionName: !Ref Worker", "FunctionName: !ImportValue worker")),
    "CloudFormation, a dead-letter queue of a function": Style(CFN + QUEUE + PLAIN.replace("RUNTIME", "python3.13").replace("EventSourceArn: !GetAtt Jobs.Arn", "EventSourceArn: arn:aws:dynamodb:eu-west-1:42:table/x/stream/1")),
    "CloudFormation, only queues": Style(CFN + QUEUE + "  Dead: { Type: AWS::SQS::Queue }\nOutputs: { Url: { Value: !Ref Jobs, Export: { Name: jobs } } }\n"),
    "CloudFormation, containers that poll": Style(CFN + QUEUE + "  Task: { Type: AWS::ECS::TaskDefinition, Properties: { ContainerDefinitions: [{ Environment: [{ Name: QUEUE, Value: !Ref Jobs }] }] } }\n"),
    "CloudFormation, a pipe": Style(CFN + QUEUE + "  Pipe: { Type: AWS::Pipes::Pipe, Properties: { Source: !GetAtt Jobs.Arn, Target: !Sub 'arn:aws:states:${AWS::Region}:x' } }\n"),
    "CloudFormation, a nested stack elsewhere": Style(CFN + "  Inner: { Type: AWS::CloudFormation::Stack, Properties: { TemplateURL: https://s3.amazonaws.com/b/t.yaml, Parameters: { A: !Ref AWS::Region } } }\n", unread=("all-parts",)),
    "CloudFormation, all kinds of functions": Style("Mappings: { M: { a: { b: 30 } } }\nConditions: { C: !And [!Not [!Equals [a, b]], !Or [!Equals [a, a], !Equals [b, b]]] }\n" + CFN + QUEUE.replace("VisibilityTimeout: 5", "QueueName: !Join ['-', [!Select [0, !Split [',', 'a,b']], !Sub '${AWS::StackName}', !If [C, x, !Ref AWS::NoValue]]], VisibilityTimeout: !FindInMap [M, a, b], KmsMasterKeyId: !Base64 x, Tags: !GetAZs '', RedrivePolicy: !Cidr [a, 1, 2]") + PLAIN.replace("RUNTIME", "nodejs22.x"), ALONE, left_alone=FOREIGN),
    "CloudFormation, a loop": Style("Transform: AWS::LanguageExtensions\n" + CFN + "  'Fn::ForEach::Each': [N, [A, B], { 'Q${N}': { Type: AWS::SQS::Queue } }]\n"),
    "CloudFormation in JSON": Style('{"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"Jobs": {"Type": "AWS::SQS::Queue"}, "Worker": {"Type": "AWS::Lambda::Function", "Properties": {"Runtime": "dotnet8"}}, "M": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"FunctionName": {"Fn::GetAtt": ["Worker", "Arn"]}, "EventSourceArn": {"Fn::GetAtt": ["Jobs", "Arn"]}}}}}', ALONE, left_alone=FOREIGN),
    "CDK, Node": Style('{"Resources": {"Jobs1": {"Type": "AWS::SQS::Queue", "UpdateReplacePolicy": "Delete"}, "Worker": {"Type": "AWS::Lambda::Function", "Properties": {"Runtime": "nodejs22.x", "Code": {"S3Bucket": {"Fn::Sub": "cdk-hnb659fds-assets-${AWS::AccountId}-${AWS::Region}"}, "S3Key": "x.zip"}}, "Metadata": {"aws:cdk:path": "Stack/Worker/Resource", "aws:asset:path": "asset.x"}}, "Map": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"EventSourceArn": {"Fn::GetAtt": ["Jobs1", "Arn"]}, "FunctionName": {"Ref": "Worker"}}}}, "Parameters": {"BootstrapVersion": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/cdk-bootstrap/hnb659fds/version"}}, "Rules": {"CheckBootstrapVersion": {}}}', ALONE, left_alone=FOREIGN),
    "CDK, Python whose asset is not there": Style('{"Resources": {"Jobs1": {"Type": "AWS::SQS::Queue"}, "Worker": {"Type": "AWS::Lambda::Function", "Properties": {"Runtime": "python3.13", "Handler": "a.b", "Code": {"S3Bucket": "b", "S3Key": "x.zip"}}, "Metadata": {"aws:asset:path": "asset.x"}}, "Map": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"EventSourceArn": {"Fn::GetAtt": ["Jobs1", "Arn"]}, "FunctionName": {"Ref": "Worker"}}}}}', UNSURE, unread=FOREIGN),
    "Serverless Framework, packaged": Style('{"Resources": {"ServerlessDeploymentBucket": {"Type": "AWS::S3::Bucket"}, "WorkerLambdaFunction": {"Type": "AWS::Lambda::Function", "Properties": {"Runtime": "nodejs22.x", "FunctionName": "shop-dev-worker", "Code": {"S3Bucket": {"Ref": "ServerlessDeploymentBucket"}, "S3Key": "k"}}}, "WorkerEventSourceMappingSQSJobs": {"Type": "AWS::Lambda::EventSourceMapping", "DependsOn": ["IamRoleLambdaExecution"], "Properties": {"EventSourceArn": "arn:aws:sqs:eu-west-1:42:jobs", "FunctionName": {"Fn::GetAtt": ["WorkerLambdaFunction", "Arn"]}, "Enabled": true}}}}', ALONE, left_alone=("WorkerLambdaFunction",)),
    "a plan of Terraform": Style('{"format_version": "1.2", "terraform_version": "1.9.0", "planned_values": {"root_module": {"resources": [{"address": "aws_sqs_queue.jobs", "type": "aws_sqs_queue", "values": {}}]}}}', ""),
    "a template of Azure Resource Manager": Style('{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", "resources": []}', ""),
    "a compose file": Style("services:\n  sqs: { image: softwaremill/elasticmq }\n", ""),
}  # fmt: skip

BUS = {
    "type": "Microsoft.ServiceBus/namespaces",
    "name": "[format('bus-{0}', uniqueString(resourceGroup().id))]",
    "sku": {"name": "Standard"},
}
STORE = {"type": "Microsoft.Storage/storageAccounts", "name": "x"}
GROUP = {"type": "Microsoft.Resources/resourceGroups", "name": "rg", "location": "westeurope"}


def bus(name: object, **more: object) -> dict[str, object]:
    """Return a resource of Service Bus."""
    return {"type": "Microsoft.ServiceBus/namespaces/queues", "name": name, **more}


def arm(*resources: object, schema: str = "deploymentTemplate", **sections: object) -> str:
    """Return a template of language 1, in which resources are a list."""
    head = {
        "$schema": f"https://schema.management.azure.com/schemas/2018-05-01/{schema}.json#",
        "contentVersion": "1.0.0.0",
    }
    return json.dumps({**head, **sections, "resources": resources})


def nested(*resources: object, scope: str = "inner") -> dict[str, object]:
    """Return a nested deployment."""
    properties = {
        "expressionEvaluationOptions": {"scope": scope},
        "mode": "Incremental",
        "template": {"resources": resources},
    }
    return {"type": "Microsoft.Resources/deployments", "name": "m", "resourceGroup": "rg", "properties": properties}


LINKED = {
    "type": "Microsoft.Resources/deployments",
    "name": "m",
    "properties": {"templateLink": {"uri": "https://x.test/t.json"}},
}
TOPIC = {"type": "topics", "name": "t", "resources": [{"type": "subscriptions", "name": "s"}]}
ON_AZURE: dict[str, Style] = {
    "no queue": Style(arm(STORE)),
    "a queue beside an app of another language": Style(arm(BUS, bus("bus/jobs")), UNSURE, unread=("jobs",)),
    "a queue inside of its namespace": Style(arm({**BUS, "resources": [{"type": "queues", "name": "jobs"}]}), UNSURE, unread=("jobs",)),
    "queues of a loop": Style(arm(BUS, bus("[concat('b/q-', variables('names')[copyIndex()])]", copy={"name": "q", "count": 2}), variables={"names": ["a", "b"]}), UNSURE, unread=("q-a", "q-b")),
    "a linked template": Style(arm(LINKED), unread=("all-parts",)),
    "topics alone": Style(arm({**BUS, "resources": [TOPIC]})),
    "a deployment of the subscription": Style(arm(GROUP, nested(BUS, bus("b/jobs")), schema="subscriptionDeploymentTemplate"), UNSURE, unread=("jobs",)),
    "a nested deployment with the names of the template around it": Style(arm(nested(bus("[concat('b/', parameters('name'))]"), scope="outer"), parameters={"name": {"type": "string", "defaultValue": "jobs"}}), UNSURE, unread=("jobs",)),
    "comments": Style("// of somebody else\n" + arm(BUS, bus("b/jobs")).replace(" ", " /* here */ ", 1), UNSURE, unread=("jobs",)),
    "wrong types everywhere": Style(arm(bus({}, properties=[1], condition=[], copy=5), {"type": 1, "name": 2, "properties": 3}, "x", variables=[], parameters=[]), UNSURE, unread=("{}",)),
}  # fmt: skip
