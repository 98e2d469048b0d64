#!/usr/bin/python
# Apache-2.0 (see LICENSE)
"""Checks and installs configuration files of Slurm on a host."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: muster_slurm_config
short_description: Check or install configuration files of Slurm
description:
  - Requires that the files of a folder have expected hashes. Then lets Slurm check the new files, or installs them.
  - Files that the new version does not have are removed. The files before the change are kept in a folder beside them.
options:
  folder:
    description: Folder of the files.
    required: true
    type: path
  files:
    description: Texts by file name. Without any, the files are removed.
    required: true
    type: dict
  expected:
    description: SHA-256 hashes that each file may have, by file name. An empty text means that the file is missing.
    required: true
    type: dict
  path:
    description: Search path of Slurm's programs.
    required: true
    type: str
  new:
    description: Whether the files may be missing, because the host never had them.
    default: false
    type: bool
  install:
    description: Whether to install the files; otherwise Slurm checks them.
    default: false
    type: bool
author: Muster
"""

EXAMPLES = r"""
- name: Check the files
  muster_slurm_config:
    folder: /etc/slurm
    files: {slurm.conf: "ClusterName=prod\n"}
    expected: {slurm.conf: [""]}
    path: /usr/bin:/bin
"""

RETURN = r"""
changed:
  description: Whether a file was, or would be, changed.
  type: bool
"""

import hashlib
import os
import shutil
import stat
import subprocess
import tempfile

from ansible.module_utils.basic import AnsibleModule

# slurm.conf last: programs read it first.
NAMES = ("gres.conf", "cgroup.conf", "topology.conf", "slurm.conf")
KEPT = ".before-muster"
CHECK_SECONDS = 60


def read(path):
    """Content of a file; None when there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def digest(content):
    return "" if content is None else hashlib.sha256(content).hexdigest()


def check(folder, files, path):
    """What Slurm prints when it refuses the files; None when it accepts them. Other files of the folder may be included."""
    candidate = tempfile.mkdtemp()
    try:
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            source = os.path.join(folder, name)
            if os.path.isfile(source) and name not in NAMES:
                shutil.copy(source, candidate)
        for name, content in files.items():
            with open(os.path.join(candidate, name), "wb") as file:
                file.write(content)
        env = {"PATH": path, "LC_ALL": "C", "SLURM_CONF": os.path.join(candidate, "slurm.conf")}
        # Every client of Slurm reads slurm.conf first; this command does nothing else.
        command = ["scontrol", "show", "hostnames", "a"]
        program = shutil.which("scontrol", path=path)
        if program is None:
            return "scontrol was not found in %s" % path
        ran = subprocess.run(command, executable=program, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=CHECK_SECONDS, check=False)
        return None if ran.returncode == 0 else ran.stdout.decode("utf-8", "replace").strip()[:1000]
    except subprocess.TimeoutExpired:
        return "scontrol did not end within %d s" % CHECK_SECONDS
    finally:
        shutil.rmtree(candidate, ignore_errors=True)


def keep(folder, before):
    """Keeps the files before the change."""
    kept = os.path.join(folder, KEPT)
    os.makedirs(kept, mode=0o700, exist_ok=True)
    for name, content in before.items():
        target = os.path.join(kept, name)
        if content is None:
            if os.path.exists(target):
                os.unlink(target)
        else:
            shutil.copy2(os.path.join(folder, name), target)


def install(folder, name, content):
    """Replaces a file by a rename, so that no program reads half of it. Owner and mode stay."""
    target = os.path.join(folder, name)
    temporary = os.path.join(folder, ".%s.muster" % name)
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    try:
        before = os.stat(target)
        os.chmod(temporary, stat.S_IMODE(before.st_mode))
        os.chown(temporary, before.st_uid, before.st_gid)
    except FileNotFoundError:
        os.chmod(temporary, 0o644)
    os.rename(temporary, target)


def main():
    module = AnsibleModule(
        argument_spec={
            "folder": {"type": "path", "required": True},
            # Not secrets: no_log keeps large files out of every result.
            "files": {"type": "dict", "required": True, "no_log": True},
            "expected": {"type": "dict", "required": True},
            "path": {"type": "str", "required": True},
            "new": {"type": "bool", "default": False},
            "install": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    folder = module.params["folder"]
    files = {name: text.encode("utf-8") for name, text in module.params["files"].items()}
    if files and "slurm.conf" not in files or not set(files) <= set(NAMES):
        module.fail_json(msg="files must have slurm.conf, and only %s" % ", ".join(NAMES))
    before = {name: read(os.path.join(folder, name)) for name in NAMES}
    for name in NAMES:
        may_be_missing = module.params["new"] and before[name] is None
        if not may_be_missing and digest(before[name]) not in module.params["expected"].get(name, [""]):
            word = "removed" if before[name] is None else "changed"
            module.fail_json(msg="%s/%s was %s without Muster. Nothing was written. Compare it with the known version, then import or correct it."
                             % (folder, name, word))
    changed = any(files.get(name) != before[name] for name in NAMES)
    if not module.params["install"]:
        problem = check(folder, files, module.params["path"]) if files else None
        if problem is not None:
            module.fail_json(msg="Slurm refuses the new slurm.conf. Nothing was written. %s" % problem)
    elif changed and not module.check_mode:
        try:
            os.makedirs(folder, mode=0o755, exist_ok=True)
            keep(folder, before)
            for name in NAMES:
                if name in files:
                    install(folder, name, files[name])
                elif before[name] is not None:
                    os.unlink(os.path.join(folder, name))
        except OSError as error:
            module.fail_json(msg="%s could not be written: %s. Free or repair its disk, then try again." % (folder, error.strerror))
    module.exit_json(changed=changed and module.params["install"])


if __name__ == "__main__":
    main()
