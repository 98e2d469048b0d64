# SPDX-License-Identifier: Apache-2.0
"""Tells Muster's worker what a run does, as it happens.

Every event is one line of JSON on the descriptor that MUSTER_EVENTS_FD names. `stdout` is what Ansible's default callback,
from which this one inherits, shows for it; text that anything else shows in between (warnings, -vvv) becomes events of its
own, so that all `stdout` in order is the log. It uses what callbacks are promised, and sys.stdout, and nothing else of
Ansible's inside: it runs under ansible-core 2.14 and newer.
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

import json
import os
import select
import signal
import sys
import threading
import time

from ansible.plugins.callback.default import CallbackModule as Default

# The worker masks secrets first and cuts to its own, lower limits then: a secret must not be cut in two before that.
SLACK = 8 * 1024
MAX_LINE = 16 * 1024 + SLACK
MAX_STDOUT = 256 * 1024 + SLACK
MAX_VALUE = 64 * 1024 + SLACK
MAX_RESULT = 1024 * 1024
TRUNCATED = "_muster_truncated"
# The module of `collect_facts`, and the key under which it returns the probe's whole output.
PROBE_ACTION = "muster_probe"
PROBE_KEY = "muster_probe_output"


class Channel:
    """The descriptor to the worker. Writing blocks while the worker is behind; that is what slows a flood down."""

    def __init__(self, fd):
        os.set_inheritable(fd, False)
        self.fd = fd
        self.pid = os.getpid()
        self.lock = threading.RLock()
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        """A lifeline: without its worker a run must end, for another worker may be about to start it again."""
        poll = select.poll()
        # No event at all: POLLHUP and POLLERR are always told.
        poll.register(self.fd, 0)
        poll.poll()
        self.give_up()

    def give_up(self):
        """End the process group. Ansible's own handler also ends its workers, which may lead groups of their own."""
        os.killpg(0, signal.SIGTERM)
        time.sleep(2)
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
                self.give_up()


def cut_text(text):
    if text.endswith("\n"):
        text = text[:-1]
    text = text[:MAX_STDOUT]
    if len(text) > MAX_LINE:
        text = "\n".join(line[:MAX_LINE] for line in text.split("\n"))
    return text


class Screen:
    """Stands in for sys.stdout and sys.stderr: whatever is shown goes to the event under way in its thread, or makes one."""

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
        shown = getattr(self.local, "shown", None)
        if shown is not None:
            # One event's text is bounded; what is beyond is not even held.
            if self.local.room > 0:
                shown.append(text[: self.local.room])
                self.local.room -= len(text)
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


def value_of(result):
    """The result's data: ansible-core 2.19 made it public and is going to take the old name away."""
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
    """The tasks of a block in order, nested ones included, for a host on which nothing fails."""
    for entry in list(block.block) + list(block.always):
        if hasattr(entry, "block"):
            yield from main_path(entry)
        else:
            yield entry


def final_task(play):
    """
    UUID of the play's last task; None when the tasks that follow are known only at run time. This reads Ansible's parsed
    play. If another version refuses that, hosts count as done only when the play ends.
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
        self._began = {}
        self._play_name = None
        # Of the last play, whose hosts are through when their batch is: its id, and the hosts of the batch under way.
        self._last_play = None
        self._is_last_play = False
        self._batch = set()
        # The last task of the last play on the path without a failure, and hosts that notified a handler in that play.
        self._final_task = None
        self._notified = set()
        sys.stdout = Screen(sys.stdout, self._channel, self._local)
        sys.stderr = Screen(sys.stderr, self._channel, self._local)

    def _tell(self, kind, show, **fields):
        """Run `show`, which displays something, and send it as one event."""
        outer = getattr(self._local, "shown", None), getattr(self._local, "room", 0)
        self._local.shown, self._local.room = [], MAX_STDOUT
        try:
            show()
        finally:
            shown = "".join(self._local.shown)
            self._local.shown, self._local.room = outer
            self._channel.emit(kind, shown, play=self._play_name, **fields)

    def _result(self, kind, show, result, is_end=True, **more):
        task, host = task_of(result), host_of(result).get_name()
        data = value_of(result)
        fields = self._task(task)
        if task.action.rpartition(".")[2] == PROBE_ACTION and isinstance(data, dict):
            # Not for display: it is as long as the tools of the node are talkative.
            fields["evidence"] = data.pop(PROBE_KEY, None)
        began = self._began.pop((host, str(task._uuid)), None) if is_end else None
        if began is not None:
            fields["ms"] = round((time.monotonic() - began) * 1000)
        if is_end and self._finishes_host(kind, host, task, data, more):
            more["done"] = [host]
        # Before the default callback strips its copy for display. `_dump_results` honours no_log.
        dumped = json.loads(self._dump_results(data), parse_constant=str)
        self._tell(kind, show, host=host, changed=bool(data.get("changed")), result=cut_result(dumped), **fields, **more)

    def _finishes_host(self, kind, host, task, data, more):
        """Whether the host has nothing left to do. Handlers that it notified run after its last task."""
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
            # Ansible would only warn, and change all hosts at once.
            self._channel.emit("output", f"This version of Ansible does not take serial from Muster: {error}\n")
            self._channel.give_up()
        self._tell("run_start", lambda: super(CallbackModule, self).v2_playbook_on_start(playbook))

    def _prepare(self, plays):
        """
        What the run was started with goes before what the plays say. Ansible has no option for `serial` and
        `max_fail_percentage`; it asks each play for them, after this.
        """
        for name in ("serial", "max_fail_percentage"):
            given = os.environ.get(f"MUSTER_{name.upper()}")
            for play in plays if given else []:
                setattr(play, name, json.loads(given))
                if getattr(play, name) != json.loads(given):
                    raise ValueError(f"a play does not take {name}")
        return plays[-1]._uuid if plays else None

    def v2_playbook_on_play_start(self, play):
        self._play_name = play.get_name()
        if self._batch:
            self._channel.emit("batch_end", done=sorted(self._batch))
        self._batch = set()
        self._is_last_play = play._uuid == self._last_play
        self._final_task = final_task(play) if self._is_last_play else None
        self._notified = set()
        self._tell("play_start", lambda: super(CallbackModule, self).v2_playbook_on_play_start(play))

    def v2_playbook_on_task_start(self, task, is_conditional):
        show = lambda: super(CallbackModule, self).v2_playbook_on_task_start(task, is_conditional)
        self._tell("task_start", show, **self._task(task))

    def v2_playbook_on_cleanup_task_start(self, task):
        show = lambda: super(CallbackModule, self).v2_playbook_on_cleanup_task_start(task)
        self._tell("task_start", show, **self._task(task))

    def v2_playbook_on_handler_task_start(self, task):
        show = lambda: super(CallbackModule, self).v2_playbook_on_handler_task_start(task)
        self._tell("task_start", show, **self._task(task))

    def v2_runner_on_start(self, host, task):
        self._began[(host.get_name(), str(task._uuid))] = time.monotonic()
        if self._is_last_play:
            self._batch.add(host.get_name())
        show = lambda: super(CallbackModule, self).v2_runner_on_start(host, task)
        self._tell("host_start", show, host=host.get_name(), **self._task(task))

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
        self._tell("diff", show, host=host_of(result).get_name(), **self._task(task_of(result)))

    # The rest

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
        self._tell("notice", show, host=host.get_name() if host is not None else None)

    def v2_playbook_on_stats(self, stats):
        sys.stdout.finish()
        sys.stderr.finish()
        hosts = {host: stats.summarize(host) for host in sorted(stats.processed)}
        self._play_name = None
        self._tell("stats", lambda: super(CallbackModule, self).v2_playbook_on_stats(stats), hosts=hosts)
