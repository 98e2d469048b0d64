# SPDX-License-Identifier: Apache-2.0
"""Muster's nodes, groups and variables as an inventory of Ansible."""
from __future__ import annotations

DOCUMENTATION = """
name: muster
short_description: Nodes, groups and variables of Muster
description:
  - Reads the inventory of a Muster installation over HTTP - the same hosts, groups and variables as its own runs have.
  - Secret variables are left out. Strings stay text, whatever templates they hold.
  - The configuration is a file whose name ends in C(muster.yml) or C(muster.yaml).
extends_documentation_fragment:
  - constructed
  - inventory_cache
options:
  plugin:
    description: Marks a configuration of this plugin.
    required: true
    choices: [muster]
  url:
    description: Where Muster is, as in a browser.
    type: str
    required: true
    env:
      - name: MUSTER_URL
  token:
    description: An API token; viewers' tokens are enough. Better given in the environment than in the file.
    type: str
    required: true
    env:
      - name: MUSTER_TOKEN
  limit:
    description: Only these nodes, written as the limit of a run, for example C(gpu[01-08]), C(@room), C({tag = prod}).
    type: str
    env:
      - name: MUSTER_LIMIT
  validate_certs:
    description: Whether the server's certificate must be one that is trusted.
    type: bool
    default: true
  timeout:
    description: Seconds to wait for an answer.
    type: int
    default: 60
"""

EXAMPLES = """
# muster.yml, with MUSTER_TOKEN in the environment
plugin: muster
url: https://muster.example.com
limit: "{accelerator.vendor = amd and tag = prod}"
keyed_groups:
  - key: ansible_user
    prefix: user
"""

import json
from urllib.error import HTTPError
from urllib.parse import urlencode

from ansible.errors import AnsibleParserError
from ansible.module_utils.urls import open_url
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable
from ansible.utils.unsafe_proxy import wrap_var


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    NAME = "muster"

    def verify_file(self, path):
        return super().verify_file(path) and path.endswith(("muster.yml", "muster.yaml"))

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path)
        self._read_config_data(path)
        self.load_cache_plugin()
        key = self.get_cache_key(path)
        answer = self._cache.get(key) if cache and self.get_option("cache") else None
        if answer is None:
            answer = self._fetch()
            if self.get_option("cache"):
                self._cache[key] = answer
        self._fill(answer)

    def _fetch(self):
        url = self.get_option("url").rstrip("/")
        limit = self.get_option("limit")
        try:
            response = open_url(
                f"{url}/api/inventory{'?' + urlencode({'limit': limit}) if limit else ''}",
                headers={"Authorization": f"Bearer {self.get_option('token')}", "Accept": "application/json"},
                validate_certs=self.get_option("validate_certs"),
                timeout=self.get_option("timeout"),
                http_agent="muster-inventory",
            )
            return json.loads(response.read())
        except HTTPError as error:
            raise AnsibleParserError(f"Muster: {self._reason(error)}") from error
        except (OSError, ValueError) as error:
            raise AnsibleParserError(f"Muster at {url} is not reached: {error}") from error

    @staticmethod
    def _reason(error):
        try:
            return json.loads(error.read())["error"]
        except (ValueError, KeyError, TypeError):
            return f"the answer is {error.code}"

    def _fill(self, answer):
        strict = self.get_option("strict")
        for name, group in answer.items():
            if name == "_meta":
                continue
            if name != "all":
                self.inventory.add_group(name)
            for host in group.get("hosts", []):
                self.inventory.add_host(host, group=name)
        for host, variables in answer["_meta"]["hostvars"].items():
            for name, value in variables.items():
                self.inventory.set_variable(host, name, text_only(value))
            known = self.inventory.get_host(host).get_vars()
            self._set_composite_vars(self.get_option("compose"), known, host, strict=strict)
            self._add_host_to_composed_groups(self.get_option("groups"), known, host, strict=strict)
            self._add_host_to_keyed_groups(self.get_option("keyed_groups"), known, host, strict=strict)


def text_only(value):
    """The value with strings that Ansible never evaluates."""
    if isinstance(value, dict):
        if set(value) == {"__ansible_unsafe"}:
            return wrap_var(value["__ansible_unsafe"])
        return {wrap_var(key): text_only(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [text_only(inner) for inner in value]
    return wrap_var(value)
