# SPDX-License-Identifier: Apache-2.0
"""Ansible inventory plugin: nodes, groups and variables of Muster."""
from __future__ import annotations

DOCUMENTATION = """
name: muster
short_description: Nodes, groups and variables of Muster
description:
  - Reads the inventory of a Muster installation over HTTP, with the same hosts, groups and variables as its own runs.
  - Secret variables are excluded. Strings are never evaluated as templates.
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
    description: Address of the Muster console.
    type: str
    required: true
    env:
      - name: MUSTER_URL
  token:
    description: An API token; the role viewer suffices. Prefer the environment variable to the file.
    type: str
    required: true
    env:
      - name: MUSTER_TOKEN
  limit:
    description: Selects nodes with the syntax of a run's limit, for example C(gpu[01-08]), C(@room), C({tag = prod}).
    type: str
    env:
      - name: MUSTER_LIMIT
  known_hosts:
    description:
      - File to which the approved host keys of the nodes and their bastions are written, so that ssh accepts these keys only.
      - An SSH client configuration is written beside it, as C(PATH.ssh_config); it reads C(~/.ssh/config) as well.
    type: path
    env:
      - name: MUSTER_KNOWN_HOSTS
  validate_certs:
    description: Whether to verify the server's certificate.
    type: bool
    default: true
  timeout:
    description: Request timeout in seconds.
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
import os
import shlex
from urllib.error import HTTPError
from urllib.parse import urlencode

from ansible.errors import AnsibleParserError
from ansible.module_utils.urls import open_url
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable
from ansible.utils.display import Display
from ansible.utils.unsafe_proxy import wrap_var

display = Display()


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    NAME = "muster"

    def verify_file(self, path):
        return super().verify_file(path) and path.endswith(("muster.yml", "muster.yaml"))

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path)
        self._read_config_data(path)
        self.load_cache_plugin()
        key = self.get_cache_key(path)
        inventory_data = self._cache.get(key) if cache and self.get_option("cache") else None
        if inventory_data is None:
            inventory_data = json.loads(self._fetch("inventory"))
            if self.get_option("cache"):
                self._cache[key] = inventory_data
        self._fill(inventory_data, self._write_known_hosts())

    def _fetch(self, endpoint):
        url = self.get_option("url").rstrip("/")
        limit = self.get_option("limit")
        try:
            response = open_url(
                f"{url}/api/{endpoint}{'?' + urlencode({'limit': limit}) if limit else ''}",
                headers={"Authorization": f"Bearer {self.get_option('token')}"},
                validate_certs=self.get_option("validate_certs"),
                timeout=self.get_option("timeout"),
                http_agent="muster-inventory",
            )
            return response.read().decode()
        except HTTPError as error:
            message = f"Muster: {self._reason(error)}"
            if error.code in (401, 403):
                # Ansible turns errors of inventory plugins into warnings and continues without hosts.
                display.error(message)
                raise SystemExit(4) from error
            raise AnsibleParserError(message) from error
        except (OSError, ValueError) as error:
            raise AnsibleParserError(f"Muster at {url} is not reachable: {error}") from error

    def _write_known_hosts(self):
        """Writes the approved host keys. Returns the ssh arguments that use them; empty without the option known_hosts."""
        path = self.get_option("known_hosts")
        if not path:
            return ""
        config = f"{path}.ssh_config"
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
        # ssh passes -F on to the connections of ProxyJump, but no other option.
        contents = {
            path: self._fetch("known_hosts"),
            config: f'Host *\n  UserKnownHostsFile "{path}"\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n'
            "Include ~/.ssh/config\n",
        }
        for name, content in contents.items():
            with open(f"{name}.new", "w", encoding="utf-8") as file:
                file.write(content)
            os.replace(f"{name}.new", name)
        return f"-F {shlex.quote(config)}"

    @staticmethod
    def _reason(error):
        try:
            return json.loads(error.read())["error"]
        except (ValueError, KeyError, TypeError):
            return f"the server answered with status {error.code}"

    def _fill(self, data, ssh_args):
        strict = self.get_option("strict")
        groups = {name: group for name, group in data.items() if name != "_meta"}
        for name in groups:
            if name != "all":
                self.inventory.add_group(name)
        for name, group in groups.items():
            for host in group.get("hosts", []):
                self.inventory.add_host(host, group=name)
            if name != "all":
                for child in group.get("children", []):
                    self.inventory.add_child(name, child)
        for host, variables in data["_meta"]["hostvars"].items():
            for name, value in variables.items():
                self.inventory.set_variable(host, name, text_only(value))
            if ssh_args:
                own = variables.get("ansible_ssh_common_args", "")
                self.inventory.set_variable(host, "ansible_ssh_common_args", f"{ssh_args} {own}".strip())
            known = self.inventory.get_host(host).get_vars()
            self._set_composite_vars(self.get_option("compose"), known, host, strict=strict)
            self._add_host_to_composed_groups(self.get_option("groups"), known, host, strict=strict)
            self._add_host_to_keyed_groups(self.get_option("keyed_groups"), known, host, strict=strict)


def text_only(value):
    """Marks all strings in the value as unsafe, so that Ansible never evaluates them."""
    if isinstance(value, dict):
        if set(value) == {"__ansible_unsafe"}:
            return wrap_var(value["__ansible_unsafe"])
        return {wrap_var(key): text_only(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [text_only(inner) for inner in value]
    return wrap_var(value)
