"""Test intrinsic functions: their values, and the errors for those that cannot be resolved."""

from __future__ import annotations

from typing import Any

import pytest

from recoverable_operate.templates import TemplateError, parse_document
from recoverable_operate.templates._intrinsics import Scope, resolve

SCOPE = Scope(
    parameters={"Stage": "test", "Size": "10", "Names": ["a", "b"], "AWS::Region": "us-east-1"},
    mappings={"ByStage": {"test": {"Visibility": 120}, 10: {"Visibility": 60}}},
    conditions={
        "IsTest": {"Fn::Equals": [{"Ref": "Stage"}, "test"]},
        "IsProduction": {"Fn::Not": [{"Condition": "IsTest"}]},
        "IsNumber": {"Fn::Equals": [10, {"Ref": "Size"}]},
        "IsWrong": {"Ref": "Stage"},
    },
    resources={"Orders": {"Type": "AWS::SQS::Queue"}, "Table": {"Type": "AWS::DynamoDB::Table"}},
    attributes={"Orders": {"Ref": "http://broker/orders", "Arn": "arn:orders"}},
)

WRITTEN = [
    ("plain", "plain"),
    ("!Ref Stage", "test"),
    ("!Ref Names", ["a", "b"]),
    ("!Ref Orders", "http://broker/orders"),
    ("!GetAtt Orders.Arn", "arn:orders"),
    ("!GetAtt [Orders, Arn]", "arn:orders"),
    ("{Fn::GetAtt: [Orders, Arn]}", "arn:orders"),
    ("!Sub '${Stage}-orders in ${AWS::Region}'", "test-orders in us-east-1"),
    ("!Sub '${Orders.Arn} and ${Orders}'", "arn:orders and http://broker/orders"),
    ("!Sub '${!Literal}'", "${Literal}"),
    ("!Sub ['${Name}-${Stage}', {Name: !Ref Size}]", "10-test"),
    ("!FindInMap [ByStage, !Ref Stage, Visibility]", 120),
    ("!FindInMap [ByStage, !Ref Size, Visibility]", 60),
    ("!If [IsTest, yes it is, no]", "yes it is"),
    ("!If [IsProduction, 1, !Ref Size]", "10"),
    ("!If [IsNumber, 1, 2]", 1),
    ("!Join ['-', [a, !Ref Stage, 1]]", "a-test-1"),
    ("!Select [1, !Ref Names]", "b"),
    ("!Select [0, !Split [',', 'x,y']]", "x"),
    ("{a: !Ref AWS::NoValue, b: 1}", {"b": 1}),
    ("[!Ref AWS::NoValue, !Ref Stage]", ["test"]),
    ("!And [!Condition IsTest, !Condition IsProduction]", False),
    ("!Or [!Condition IsTest, !Condition IsProduction]", True),
    ("{deep: [{deeper: !Ref Stage}]}", {"deep": [{"deeper": "test"}]}),
]

NOT_WORKED_OUT = [
    ("!ImportValue other", "Fn::ImportValue is not supported here"),
    ("!Ref Nobody", "Ref Nobody: there is no such resource or parameter; the template has: AWS::Region, Names"),
    ("!Ref Table", "here there is no such value of AWS::DynamoDB::Table; there is none"),
    ("!GetAtt Orders.Colour", "GetAtt Orders.Colour: .* there is Arn, Ref"),
    ("!Sub '${Nobody}'", "Ref Nobody"),
    ("!If [Never, 1, 2]", "no condition 'Never'; the template has: IsNumber, IsProduction, IsTest, IsWrong"),
    ("!If [IsWrong, 1, 2]", "this one gives 'test'"),
    ("!If [IsTest, 1]", "Fn::If cannot be used with"),
    ("!FindInMap [ByStage, dev, Visibility]", "Fn::FindInMap cannot be used with"),
    ("!Select [9, [a]]", "Fn::Select cannot be used with"),
]


def value_of(written: str) -> Any:
    return resolve(parse_document(f"Value: {written}")["Value"], SCOPE)


@pytest.mark.parametrize(("written", "value"), WRITTEN)
def test_an_intrinsic_function_comes_to_its_value(written: str, value: Any) -> None:
    assert value_of(written) == value


@pytest.mark.parametrize(("written", "said"), NOT_WORKED_OUT)
def test_what_cannot_be_worked_out_is_said(written: str, said: str) -> None:
    with pytest.raises(TemplateError, match=said):
        value_of(written)


@pytest.mark.parametrize(("text", "said"), [("a: [", "not valid YAML"), ("- a", "mapping with the section Resources")])
def test_a_text_that_is_no_template_is_refused(text: str, said: str) -> None:
    with pytest.raises(TemplateError, match=said):
        parse_document(text)
