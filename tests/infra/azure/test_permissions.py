"""What the function's identity may do, held against what the host and the package call: nothing more, nothing less."""

from __future__ import annotations

import re

from infra.azure.bicep import ROOT, SOURCE, Deployment

DEPLOYED = Deployment()
ASSIGNED = DEPLOYED.of_type("Microsoft.Authorization/roleAssignments")
PACKAGE = ROOT / "adapters" / "recoverable"

ROLES = {
    "4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0": "Azure Service Bus Data Receiver",
    "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39": "Azure Service Bus Data Sender",
    "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": "Storage Blob Data Owner",
    "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3": "Storage Table Data Contributor",
    "3913510d-42f4-4e42-8a64-420c390055eb": "Monitoring Metrics Publisher",
}
"""Ids of roles (Microsoft, "Azure built-in roles")."""

NEEDED = {
    ("Azure Service Bus Data Receiver", "ordersQueue"),  # the trigger
    ("Azure Service Bus Data Sender", "ordersQueue"),  # the copy of a delayed retry, or of a deferral
    ("Azure Service Bus Data Sender", "errorQueue"),  # the copy of what is given up
    ("Azure Service Bus Data Sender", "placedQueue"),  # what the handler sends
    ("Storage Blob Data Owner", "storage"),  # the host's own storage ("Connecting to host storage with an identity")
    ("Monitoring Metrics Publisher", "insights"),  # the log ("Require Microsoft Entra authentication")
}


LIMITED = Deployment({"rateLimitAfter": 50}).of_type("Microsoft.Authorization/roleAssignments")
"""What is assigned when the rate is to be limited."""


def role(resource: str) -> str:
    """Return the role that an assignment gives."""
    definition: str = LIMITED[resource]["properties"]["roleDefinitionId"]
    return ROLES[definition.rsplit("/", 1)[1]]


def test_each_role_is_given_on_one_entity_and_no_other_is() -> None:
    assert {(role(name), config["scope"]) for name, config in ASSIGNED.items()} == NEEDED


def test_a_rate_limit_adds_one_role_on_the_one_table_that_the_instances_share() -> None:
    added = {(role(name), config["scope"]) for name, config in LIMITED.items()} - NEEDED

    assert (added, len(LIMITED)) == ({("Storage Table Data Contributor", "circuits")}, len(NEEDED) + 1)


def test_a_stamp_adds_the_right_to_receive_from_the_one_queue_that_it_reads() -> None:
    stamped = Deployment({"stampDeadLetters": True})
    added = stamped.of_type("Microsoft.Authorization/roleAssignments").keys() - ASSIGNED.keys()

    assert added == {"mayReceiveDeadLetters"}
    config = stamped.config("mayReceiveDeadLetters")
    role_id = config["properties"]["roleDefinitionId"].rsplit("/", 1)[1]
    assert (ROLES[role_id], config["scope"]) == ("Azure Service Bus Data Receiver", "deadLetterQueue")


def test_all_roles_are_those_of_the_functions_identity() -> None:
    holders = {
        (config["properties"]["principalId"], config["properties"]["principalType"]) for config in LIMITED.values()
    }

    assert holders == {("<identity.properties.principalId>", "ServicePrincipal")}


def test_the_function_has_that_identity_and_no_other() -> None:
    assert DEPLOYED.config("functionApp")["identity"] == {
        "type": "UserAssigned",
        "userAssignedIdentities": {"<identity.id>": {}},
    }


def test_each_assignment_has_a_name_of_its_own() -> None:
    assert len({config["name"] for config in LIMITED.values()}) == len(LIMITED)


def test_the_package_opens_senders_of_queues_and_nothing_else() -> None:
    opened = {
        name
        for file in PACKAGE.rglob("*.py")
        for name in re.findall(r"\.get_\w*(?:sender|receiver)\b", file.read_text())
    }

    assert opened == {".get_queue_sender"}


def test_there_is_no_key_to_leak() -> None:
    allowed = {
        "serviceBus": DEPLOYED.properties("serviceBus")["disableLocalAuth"],
        "insights": DEPLOYED.properties("insights")["DisableLocalAuth"],
        "storage": not DEPLOYED.properties("storage")["allowSharedKeyAccess"],
    }

    assert allowed == {"serviceBus": True, "insights": True, "storage": True}
    assert re.findall(r"listKeys|AccountKey|SharedAccessKey|authorizationRules", SOURCE, re.IGNORECASE) == []


def test_blobs_are_not_public_and_all_goes_encrypted() -> None:
    storage, app = DEPLOYED.properties("storage"), DEPLOYED.properties("functionApp")

    assert (storage["allowBlobPublicAccess"], storage["supportsHttpsTrafficOnly"], app["httpsOnly"]) == (
        False,
        True,
        True,
    )
    assert (storage["minimumTlsVersion"], DEPLOYED.properties("serviceBus")["minimumTlsVersion"]) == ("TLS1_2", "1.2")


def test_the_first_deployment_finds_its_container_open() -> None:
    waits = DEPLOYED.config("functionApp")["dependsOn"]

    assert [(role(name), ASSIGNED[name]["scope"]) for name in waits] == [("Storage Blob Data Owner", "storage")]
