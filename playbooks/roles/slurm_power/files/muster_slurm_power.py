#!/usr/bin/env python3
# Apache-2.0 (see LICENSE)
"""SuspendProgram and ResumeProgram of slurmctld: asks Muster to power nodes off or on.

Repeats the request while Muster does not answer or nodes wait, for a limited time. Logs to syslog; the exit code is 1 when a node was
not powered.
"""

import http.client
import json
import os
import ssl
import sys
import syslog
import time
import urllib.error
import urllib.request

CONFIG = "/etc/muster-slurm/power.json"
REQUEST_SECONDS = 30
FIRST_PAUSE_SECONDS = 1
LONGEST_PAUSE_SECONDS = 15
MAX_ANSWER_BYTES = 4 << 20


class Refused(Exception):
    """Repeating the request does not help."""


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token is for one address only."""

    def redirect_request(self, *args, **kwargs):
        return None


def read_config():
    with open(CONFIG, encoding="utf-8") as file:
        config = json.load(file)
    if not config["url"].startswith("https://"):
        raise Refused("the address of Muster is not https")
    return config


def opener_of(config):
    context = ssl.create_default_context(cadata=config["ca"] or None)
    # No proxy: the address is the one that an administrator has set.
    return urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context), NoRedirects())


def post(opener, config, verb, hostlist):
    """Sends one request. Raises Refused, or OSError when it may succeed later."""
    body = json.dumps({"verb": verb.upper(), "nodes": hostlist}).encode("utf-8")
    headers = {"Authorization": "Bearer " + config["token"], "Content-Type": "application/json"}
    request = urllib.request.Request(config["url"].rstrip("/") + "/api/slurm/power", data=body, headers=headers, method="POST")
    try:
        with opener.open(request, timeout=REQUEST_SECONDS) as response:
            return json.loads(response.read(MAX_ANSWER_BYTES).decode("utf-8"))
    except urllib.error.HTTPError as error:
        text = error.read(2000).decode("utf-8", "replace")
        if error.code < 500 and error.code != 429:
            raise Refused("Muster answered %d: %s" % (error.code, text.strip())) from None
        raise OSError("Muster answered %d" % error.code) from None
    except http.client.HTTPException as error:
        raise OSError("the answer of Muster is incomplete: %r" % error) from None
    except ValueError as error:
        raise OSError("the answer of Muster is no JSON: %s" % error) from None


def run(verb, hostlist):
    """Returns the problems of nodes that were not powered."""
    config = read_config()
    opener = opener_of(config)
    # Some releases of Ansible write numbers of templates as text.
    deadline = time.monotonic() + float(config["seconds"][verb])
    pause = FIRST_PAUSE_SECONDS
    problems = []
    while True:
        try:
            answer = post(opener, config, verb, hostlist)
            problems += ["%(name)s: %(reason)s" % node for node in answer["refused"]]
            if answer["accepted"]:
                syslog.syslog(syslog.LOG_INFO, "%s %s" % (verb, answer["accepted"]))
            if not answer["waiting"]:
                return problems
            hostlist = ",".join(node["name"] for node in answer["waiting"])
            waiting = ["%(name)s: %(reason)s" % node for node in answer["waiting"]]
        except OSError as error:
            waiting = ["%s: %s" % (hostlist, error)]
        if time.monotonic() + pause > deadline:
            return problems + waiting
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)


def main():
    verb = os.path.basename(sys.argv[0])
    syslog.openlog("muster-slurm", syslog.LOG_PID, syslog.LOG_DAEMON)
    if verb not in ("suspend", "resume") or len(sys.argv) != 2:
        syslog.syslog(syslog.LOG_ERR, "call it as suspend or resume, with a hostlist")
        return 2
    try:
        problems = run(verb, sys.argv[1])
    except (Refused, OSError, ValueError, KeyError) as error:
        problems = ["%s: %s" % (sys.argv[1], error)]
    # slurmctld shows no output of its programs: what is not in syslog is lost.
    except Exception as error:  # pylint: disable=broad-except
        problems = ["%s: unexpected %r" % (sys.argv[1], error)]
    for problem in problems:
        syslog.syslog(syslog.LOG_ERR, "%s failed: %s" % (verb, problem))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
