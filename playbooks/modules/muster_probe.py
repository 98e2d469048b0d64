#!/usr/bin/python
# Apache-2.0 (see LICENSE)
"""Runs Muster's probe on a node in one Ansible task: the same shell script that onboarding runs over SSH."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: muster_probe
short_description: Discover a node's hardware and system
description:
  - Runs Muster's probe script with the node's C(sh) and returns its output. Changes nothing and leaves no files.
options:
  script:
    description: The text of C(packages/discovery/src/probe.sh). Never shown in results.
    required: true
    type: str
  tool_seconds:
    description: Time limit in seconds for the tools of each vendor, which run in parallel.
    default: 10
    type: int
author: Muster
"""

EXAMPLES = r"""
- name: Probe the node
  muster_probe:
    script: "{{ lookup('ansible.builtin.file', lookup('ansible.builtin.env', 'MUSTER_PROBE_SCRIPT')) }}"
"""

RETURN = r"""
muster_probe_output:
  description: Output of the script for C(parseProbe) of @muster/discovery. At most 1 MiB.
  type: str
rc:
  description: Exit code of the shell; null after a timeout.
  type: int
"""

import os
import shlex
import signal
import subprocess

from ansible.module_utils.basic import AnsibleModule

OUTPUT_LIMIT = 2 * 1024 * 1024
# The probe enforces its own time limits; this one ends a shell that hangs anyway.
SECONDS_BEYOND_CLOCK = 20


def run_probe(script, tool_seconds):
    """Runs the script with sh. Returns (exit code or None, output as text)."""
    shell = subprocess.Popen(
        ["/bin/sh", "-s"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # The probe starts itself again in one session per vendor, for which it needs its own text.
    text = "MUSTER_TOOL_SECONDS=%d\nMUSTER_SCRIPT=%s\neval \"$MUSTER_SCRIPT\"\n" % (tool_seconds, shlex.quote(script))
    try:
        output, _ = shell.communicate(text.encode("utf-8"), timeout=tool_seconds + SECONDS_BEYOND_CLOCK)
        code = shell.returncode
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)
        output, _ = shell.communicate()
        code = None
    return code, output[:OUTPUT_LIMIT].decode("utf-8", "replace")


def main():
    module = AnsibleModule(
        argument_spec={
            # Not a secret: no_log keeps the script of 20 kB out of every result.
            "script": {"type": "str", "required": True, "no_log": True},
            "tool_seconds": {"type": "int", "default": 10},
        },
        supports_check_mode=True,
    )
    seconds = module.params["tool_seconds"]
    if not 1 <= seconds <= 25:
        module.fail_json(msg="tool_seconds is %d: it must be 1 to 25" % seconds)
    try:
        code, probe = run_probe(module.params["script"], seconds)
    except OSError as error:
        module.fail_json(msg="the probe could not be started with /bin/sh: %s" % error)
    if "muster-probe/1 " not in probe:
        module.fail_json(msg="the probe did not run: sh exited with %s and printed no probe output" % code, rc=code, muster_probe_output=probe)
    module.exit_json(changed=False, rc=code, muster_probe_output=probe)


if __name__ == "__main__":
    main()
