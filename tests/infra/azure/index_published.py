"""A script for a bare interpreter: loads the published app with nothing on the path but what was installed beside it."""

from __future__ import annotations

import importlib.util
import json
import sys

if __name__ == "__main__":
    folder, packages = sys.argv[1:]
    sys.path[:0] = [packages, folder]
    import function_app

    import recoverable

    [function] = function_app.app.get_functions()
    imported = "azure.servicebus" in sys.modules
    found = [importlib.util.find_spec(name) is not None for name in ("azure.servicebus", "azure.identity")]
    print(  # noqa: T201
        json.dumps(
            {
                "function": json.loads(function.get_function_json())["bindings"],
                "the package": (recoverable.__file__ or "").removeprefix(folder),
                "the SDK is at hand": all(found),
                "the SDK is imported": imported,
            }
        )
    )
