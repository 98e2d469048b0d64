#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ansible inventory script for Muster: ansible-inventory -i inventory_muster.py --list

Address and token come from MUSTER_URL and MUSTER_TOKEN, or from the settings that `muster login` saved.
MUSTER_LIMIT selects nodes: gpu[01-08], @room, {tag = prod}. Requires Python only.
"""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import urllib.error
import urllib.parse
import urllib.request


def settings() -> dict[str, str]:
    home = os.environ.get("XDG_CONFIG_HOME") or pathlib.Path.home() / ".config"
    try:
        saved = json.loads((pathlib.Path(home) / "muster" / "cli.json").read_text())
    except (OSError, ValueError):
        saved = {}
    found = {key: os.environ.get(f"MUSTER_{key.upper()}") or saved.get(key) for key in ("url", "token")}
    if not all(found.values()):
        sys.exit("Set MUSTER_URL and MUSTER_TOKEN, or sign in with `muster login`.")
    return found


def fetch(url: str, token: str, limit: str | None) -> dict:
    query = f"?{urllib.parse.urlencode({'limit': limit})}" if limit else ""
    request = urllib.request.Request(
        f"{url.rstrip('/')}/api/inventory{query}", headers={"Authorization": f"Bearer {token}", "Accept": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        try:
            sys.exit(f"Muster: {json.load(error)['error']}")
        except (ValueError, KeyError, TypeError):
            sys.exit(f"Muster at {url} answered with status {error.code}.")
    except (OSError, ValueError) as error:
        sys.exit(f"Muster at {url} is not reachable: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--list", action="store_true", help="all hosts, groups and variables")
    action.add_argument("--host", metavar="NAME", help="the variables of one host")
    args = parser.parse_args()
    inventory = fetch(**settings(), limit=args.host or os.environ.get("MUSTER_LIMIT"))
    print(json.dumps(inventory["_meta"]["hostvars"].get(args.host, {}) if args.host else inventory, indent=2))


if __name__ == "__main__":
    main()
