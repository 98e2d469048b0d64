# SPDX-License-Identifier: Apache-2.0
"""Sends the events of a run to Muster's worker.

Each event is a line of JSON on the file descriptor in MUSTER_EVENTS_FD. `stdout` is the output of Ansible's default callback,
the base class, for the event. Other output (warnings, -vvv) becomes separate events, so all `stdout` in order is the log.
Uses the public callback interface and sys.stdout only, with exceptions noted below; runs on ansible-core 2.14 and newer.
"""
from __future__ import annotations

DOCUMENTATION = """
name: muster
type: stdout
short_description: Muster's event stream
description: Writes JSON lines for Muster's worker to an inherited descriptor.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
requirements:
  - set as stdout in configuration
"""

import fcntl
import json
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import threading
import time

from ansible.errors import AnsibleError
from ansible.plugins.callback.default import CallbackModule as Default
from ansible.plugins.connection import ssh

# The worker masks secrets before it truncates to its own, lower limits. A secret must not be split before that.
SLACK = 8 * 1024
MAX_LINE = 16 * 1024 + SLACK
MAX_STDOUT = 256 * 1024 + SLACK
MAX_VALUE = 64 * 1024 + SLACK
MAX_RESULT = 1024 * 1024
TRUNCATED = "_muster_truncated"
# Output of one command on a node, which Ansible holds in memory.
MAX_OUTPUT = 32 * 1024 * 1024
PIPE_SIZE = 1024 * 1024
# Linux; Python before 3.10 does not have it.
F_SETPIPE_SZ = 1031
# Module of `collect_facts`, and the result key with the output of the probe.
PROBE_ACTION = "muster_probe"
PROBE_KEY = "muster_probe_output"


class Channel:
    """Descriptor to the worker. Writes block while the worker is behind, which limits the event rate."""

    def __init__(self, fd):
        os.set_inheritable(fd, False)
        self.fd = fd
        self.pid = os.getpid()
        self.lock = threading.RLock()
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        """Ends the run when its worker dies, because another worker may restart the run."""
        poll = select.poll()
        # No event mask: POLLHUP and POLLERR are always reported.
        poll.register(self.fd, 0)
        poll.poll()
        self.terminate()

    def terminate(self):
        """Ends the process group and Ansible's workers, which lead process groups of their own."""
        os.killpg(0, signal.SIGTERM)
        time.sleep(2)
        # Ansible's own handler ends the workers, but on a busy machine it may not have run yet.
        for worker in multiprocessing.active_children():
            try:
                os.killpg(worker.pid, signal.SIGKILL)
            except OSError:
                pass
        os._exit(1)

    def emit(self, kind, stdout=None, **fields):
        if os.getpid() != self.pid:
            return
        event = {key: value for key, value in fields.items() if value is not None}
        event["kind"] = kind
        event["t"] = time.time()
        if stdout:
            event["stdout"] = cut_text(stdout)
        data = json.dumps(event).encode() + b"\n"
        with self.lock:
            try:
                while data:
                    data = data[os.write(self.fd, data) :]
            except OSError:
                self.terminate()


def cut_text(text):
    if text.endswith("\n"):
        text = text[:-1]
    text = text[:MAX_STDOUT]
    if len(text) > MAX_LINE:
        text = "\n".join(line[:MAX_LINE] for line in text.split("\n"))
    return text


class Screen:
    """Replaces sys.stdout and sys.stderr: output becomes part of the current event of its thread, or a separate event."""

    def __init__(self, real, channel, local):
        self.real = real
        self.channel = channel
        self.local = local
        self.rest = ""
        self.encoding = "utf-8"
        self.errors = "replace"

    def write(self, text):
        if os.getpid() != self.channel.pid:
            return self.real.write(text)
        captured = getattr(self.local, "captured", None)
        if captured is not None:
            # Limits the memory of one event; further text is discarded.
            if self.local.remaining > 0:
                captured.append(text[: self.local.remaining])
                self.local.remaining -= len(text)
            return len(text)
        with self.channel.lock:
            lines, newline, rest = (self.rest + text).rpartition("\n")
            self.rest = rest[:MAX_LINE]
        if newline:
            self.channel.emit("output", lines + newline)
        return len(text)

    def finish(self):
        if self.rest:
            self.channel.emit("output", self.rest)
            self.rest = ""

    def flush(self):
        if os.getpid() != self.channel.pid:
            self.real.flush()

    def isatty(self):
        return False

    def writable(self):
        return True

    def reconfigure(self, **_ignored):
        pass

    def __getattr__(self, name):
        return getattr(self.real, name)


class LimitedPipe:
    """Output of a process, which is killed when it exceeds MAX_OUTPUT."""

    def __init__(self, pipe, process):
        self.pipe = pipe
        self.process = process
        self.remaining = MAX_OUTPUT
        try:
            # Ansible copies all output so far for each read: larger reads make a flood cheaper.
            fcntl.fcntl(pipe, F_SETPIPE_SZ, PIPE_SIZE)
        except OSError:
            pass

    def read(self, size=-1):
        # Not the pipe's own read(), which reads on while a node sends.
        data = os.read(self.pipe.fileno(), PIPE_SIZE) if size < 0 else self.pipe.read(size)
        self.remaining -= len(data or b"")
        if self.remaining < 0:
            self.process.kill()
            raise AnsibleError(
                f"The node sent more than {MAX_OUTPUT // 1024**2} MiB for one command, so the connection was closed. "
                "Print less, or write to a file and fetch it."
            )
        return data

    def __getattr__(self, name):
        return getattr(self.pipe, name)


class LimitedPopen(subprocess.Popen):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for name in ("stdout", "stderr"):
            if getattr(self, name):
                setattr(self, name, LimitedPipe(getattr(self, name), self))


class LimitedSubprocess:
    """Replaces the module subprocess of the SSH plugin, which reads without a limit and has no setting for one."""

    Popen = LimitedPopen

    def __getattr__(self, name):
        return getattr(subprocess, name)


def value_of(result):
    """Data of the result. ansible-core 2.19 made the attribute public and deprecated the old name."""
    return result.result if hasattr(result, "result") else result._result


def task_of(result):
    return result.task if hasattr(result, "task") else result._task


def host_of(result):
    return result.host if hasattr(result, "host") else result._host


def cut_result(data):
    text = json.dumps(data)
    if len(text) <= MAX_RESULT:
        return data
    kept = {TRUNCATED: True}
    for key, value in data.items():
        if isinstance(value, str):
            kept[key] = value[:MAX_VALUE]
        elif len(json.dumps(value)) <= MAX_VALUE:
            kept[key] = value
    return kept if len(json.dumps(kept)) <= MAX_RESULT * 2 else {TRUNCATED: True, "msg": str(data.get("msg", ""))[:MAX_VALUE]}


def main_path(block):
    """Tasks of a block in order, including nested ones, for a host without failures."""
    for entry in list(block.block) + list(block.always):
        if hasattr(entry, "block"):
            yield from main_path(entry)
        else:
            yield entry


def final_task(play):
    """
    UUID of the play's last task; None when the last tasks are known at run time only. Uses Ansible's internal representation
    of the play; if another version changes it, hosts count as done when the play ends.
    """
    try:
        tasks = [
            task
            for block in play.compile()
            for task in main_path(block)
            if not is_action(task, "meta") and task.evaluate_tags(play.only_tags, play.skip_tags, all_vars={})
        ]
    except Exception:
        return None
    if not tasks or is_action(tasks[-1], "include_tasks", "include_role"):
        return None
    return str(tasks[-1]._uuid)


def is_action(task, *names):
    return str(task.action).rpartition(".")[2] in names


class CallbackModule(Default):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "muster"

    def __init__(self):
        super().__init__()
        self._local = threading.local()
        self._channel = Channel(int(os.environ["MUSTER_EVENTS_FD"]))
        ssh.subprocess = LimitedSubprocess()
        self._began = {}
        self._play_name = None
        # Last play, whose hosts are done at the end of their batch: its ID, and the hosts of the current batch.
        self._last_play = None
        self._is_last_play = False
        self._batch = set()
        # UUID of the last task of the last play, and hosts that notified a handler in that play.
        self._final_task = None
        self._notified = set()
        sys.stdout = Screen(sys.stdout, self._channel, self._local)
        sys.stderr = Screen(sys.stderr, self._channel, self._local)

    def _emit(self, kind, show, **fields):
        """Runs `show` and sends its output as one event."""
        outer = getattr(self._local, "captured", None), getattr(self._local, "remaining", 0)
        self._local.captured, self._local.remaining = [], MAX_STDOUT
        try:
            show()
        finally:
            captured = "".join(self._local.captured)
            self._local.captured, self._local.remaining = outer
            self._channel.emit(kind, captured, play=self._play_name, **fields)

    def _result(self, kind, show, result, is_end=True, **more):
        task, host = task_of(result), host_of(result).get_name()
        data = value_of(result)
        fields = self._task(task)
        if task.action.rpartition(".")[2] == PROBE_ACTION and isinstance(data, dict):
            # Not displayed, because it can be large.
            fields["evidence"] = data.pop(PROBE_KEY, None)
        began = self._began.pop((host, str(task._uuid)), None) if is_end else None
        if began is not None:
            fields["ms"] = round((time.monotonic() - began) * 1000)
        if is_end and self._finishes_host(kind, host, task, data, more):
            more["done"] = [host]
        # Before the default callback removes keys for display. `_dump_results` respects no_log.
        dumped = json.loads(self._dump_results(data), parse_constant=str)
        self._emit(kind, show, host=host, changed=bool(data.get("changed")), result=cut_result(dumped), **fields, **more)

    def _finishes_host(self, kind, host, task, data, more):
        """Whether the host has finished the play. Notified handlers run after its last task."""
        if self._final_task is None or str(task._uuid) != self._final_task:
            return False
        if kind not in ("ok", "skipped") and not more.get("ignored"):
            return False
        return host not in self._notified and not (data.get("changed") and task.notify)

    def _task(self, task):
        return {"task": task.get_name(), "uuid": str(task._uuid), "action": task.action}

    # Plays and tasks

    def v2_playbook_on_start(self, playbook):
        try:
            self._last_play = self._prepare(playbook.get_plays())
        except Exception as error:
            # Ansible would only print a warning and run on all hosts at once.
            self._channel.emit("output", f"This version of Ansible does not support serial set by Muster: {error}\n")
            self._channel.terminate()
        self._emit("run_start", lambda: super(CallbackModule, self).v2_playbook_on_start(playbook))

    def _prepare(self, plays):
        """
        Overrides `serial` and `max_fail_percentage` of all plays with the values of the run. Ansible has no options for them
        and reads them from each play later.
        """
        for name in ("serial", "max_fail_percentage"):
            given = os.environ.get(f"MUSTER_{name.upper()}")
            for play in plays if given else []:
                setattr(play, name, json.loads(given))
                if getattr(play, name) != json.loads(given):
                    raise ValueError(f"a play rejects {name}")
        return plays[-1]._uuid if plays else None

    def v2_playbook_on_play_start(self, play):
        self._play_name = play.get_name()
        if self._batch:
            self._channel.emit("batch_end", done=sorted(self._batch))
        self._batch = set()
        self._is_last_play = play._uuid == self._last_play
        self._final_task = final_task(play) if self._is_last_play else None
        self._notified = set()
        self._emit("play_start", lambda: super(CallbackModule, self).v2_playbook_on_play_start(play))

    def v2_playbook_on_task_start(self, task, is_conditional):
        show = lambda: super(CallbackModule, self).v2_playbook_on_task_start(task, is_conditional)
        self._emit("task_start", show, **self._task(task))

    def v2_playbook_on_cleanup_task_start(self, task):
        show = lambda: super(CallbackModule, self).v2_playbook_on_cleanup_task_start(task)
        self._emit("task_start", show, **self._task(task))

    def v2_playbook_on_handler_task_start(self, task):
        show = lambda: super(CallbackModule, self).v2_playbook_on_handler_task_start(task)
        self._emit("task_start", show, **self._task(task))

    def v2_runner_on_start(self, host, task):
        self._began[(host.get_name(), str(task._uuid))] = time.monotonic()
        if self._is_last_play:
            self._batch.add(host.get_name())
        show = lambda: super(CallbackModule, self).v2_runner_on_start(host, task)
        self._emit("host_start", show, host=host.get_name(), **self._task(task))

    # Results

    def v2_runner_on_ok(self, result):
        self._result("ok", lambda: super(CallbackModule, self).v2_runner_on_ok(result), result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        show = lambda: super(CallbackModule, self).v2_runner_on_failed(result, ignore_errors=ignore_errors)
        self._result("failed", show, result, ignored=bool(ignore_errors))

    def v2_runner_on_unreachable(self, result):
        ignored = bool(getattr(task_of(result), "ignore_unreachable", False))
        self._result("unreachable", lambda: super(CallbackModule, self).v2_runner_on_unreachable(result), result, ignored=ignored)

    def v2_runner_on_skipped(self, result):
        self._result("skipped", lambda: super(CallbackModule, self).v2_runner_on_skipped(result), result)

    def v2_runner_item_on_ok(self, result):
        self._result("item_ok", lambda: super(CallbackModule, self).v2_runner_item_on_ok(result), result, is_end=False)

    def v2_runner_item_on_failed(self, result):
        self._result("item_failed", lambda: super(CallbackModule, self).v2_runner_item_on_failed(result), result, is_end=False)

    def v2_runner_item_on_skipped(self, result):
        self._result("item_skipped", lambda: super(CallbackModule, self).v2_runner_item_on_skipped(result), result, is_end=False)

    def v2_runner_retry(self, result):
        self._result("retry", lambda: super(CallbackModule, self).v2_runner_retry(result), result, is_end=False)

    def v2_on_file_diff(self, result):
        show = lambda: super(CallbackModule, self).v2_on_file_diff(result)
        self._emit("diff", show, host=host_of(result).get_name(), **self._task(task_of(result)))

    # Other events

    def v2_runner_on_async_poll(self, result):
        self._notice(lambda: super(CallbackModule, self).v2_runner_on_async_poll(result), host_of(result))

    def v2_runner_on_async_ok(self, result):
        self._notice(lambda: super(CallbackModule, self).v2_runner_on_async_ok(result), host_of(result))

    def v2_runner_on_async_failed(self, result):
        self._notice(lambda: super(CallbackModule, self).v2_runner_on_async_failed(result), host_of(result))

    def v2_playbook_on_include(self, included_file):
        self._notice(lambda: super(CallbackModule, self).v2_playbook_on_include(included_file))

    def v2_playbook_on_notify(self, handler, host):
        self._notified.add(host.get_name())
        self._notice(lambda: super(CallbackModule, self).v2_playbook_on_notify(handler, host), host)

    def v2_playbook_on_no_hosts_matched(self):
        self._notice(lambda: super(CallbackModule, self).v2_playbook_on_no_hosts_matched())

    def v2_playbook_on_no_hosts_remaining(self):
        self._notice(lambda: super(CallbackModule, self).v2_playbook_on_no_hosts_remaining())

    def _notice(self, show, host=None):
        self._emit("notice", show, host=host.get_name() if host is not None else None)

    def v2_playbook_on_stats(self, stats):
        sys.stdout.finish()
        sys.stderr.finish()
        hosts = {host: stats.summarize(host) for host in sorted(stats.processed)}
        self._play_name = None
        self._emit("stats", lambda: super(CallbackModule, self).v2_playbook_on_stats(stats), hosts=hosts)
