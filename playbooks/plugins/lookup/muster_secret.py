# SPDX-License-Identifier: Apache-2.0
"""Asks Muster's worker for a secret of one host at the moment it is needed, over the run's private socket.

So that no password stands in the inventory, in a file, in an argument or in the environment.
"""
from __future__ import annotations

DOCUMENTATION = """
name: muster_secret
short_description: A secret of the run's own hosts
description: Reads a secret from Muster's worker over the socket that MUSTER_SOCKET names.
options:
  _terms:
    description: Words of the question, for example C(become) and the host's alias.
    required: true
"""

import os
import socket

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(10)
            sock.connect(os.environ["MUSTER_SOCKET"])
            sock.sendall((" ".join(terms) + "\n").encode())
            answer = b""
            while chunk := sock.recv(4096):
                answer += chunk
        if not answer.startswith(b"ok "):
            raise AnsibleError("Muster's worker has no such secret")
        return [answer[3:].decode()]
