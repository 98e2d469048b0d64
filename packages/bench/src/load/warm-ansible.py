"""Runs ansible-playbook repeatedly in forks of one process with preloaded modules.

usage: warm-ansible.py libraries|all
Each line on stdin is a JSON list of arguments of ansible-playbook; prints `EXIT code` after each run.
"""
import importlib
import json
import os
import sys

LIBRARIES = [
    'concurrent.futures', 'ctypes', 'getpass', 'json', 'logging', 'multiprocessing', 'queue', 'shutil', 'subprocess',
    'tempfile', 'threading', 'uuid', 'yaml', 'jinja2', 'jinja2.nativetypes', 'packaging.version',
    'cryptography.hazmat.primitives.ciphers', 'cryptography.hazmat.primitives.hmac', 'cryptography.hazmat.backends',
]
ANSIBLE = [
    'ansible.cli.playbook', 'ansible.executor.playbook_executor', 'ansible.executor.task_queue_manager',
    'ansible.plugins.strategy.linear', 'ansible.plugins.connection.ssh', 'ansible.plugins.callback.default',
    'ansible.plugins.action.normal', 'ansible.plugins.inventory.yaml', 'ansible.plugins.inventory.ini',
]

for name in LIBRARIES + (ANSIBLE if sys.argv[1] == 'all' else []):
    importlib.import_module(name)
print('READY', flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        arguments = json.loads(line)
        from ansible.cli.playbook import main

        sys.stdin = open(os.devnull)
        try:
            main(['ansible-playbook', *arguments])
        finally:
            sys.stdout.flush()
    print('EXIT', os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
