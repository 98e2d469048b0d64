#!/usr/bin/env python3
"""A minimal systemctl for lab nodes, which run no systemd. Packages and Ansible use it to manage services.

Supports Type=simple, Type=notify as simple, Type=forking with a PID file, and Type=oneshot with drop-ins, enabling, and the target multi-user. Reads unit files from systemd's folders;
a service's output is in /var/log/UNIT.log. `default` starts all enabled services.
"""

import os
import pwd
import shlex
import signal
import subprocess
import sys
import time

UNIT_FOLDERS = ["/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"]
WANTS = "/etc/systemd/system/multi-user.target.wants"
STATE = "/run/systemd/lab-services"


def full(name):
    return name if "." in name else name + ".service"


def files_of(unit):
    main = next((os.path.join(place, unit) for place in UNIT_FOLDERS if os.path.lexists(os.path.join(place, unit))), None)
    folders = [os.path.join(place, unit + ".d") for place in UNIT_FOLDERS]
    extra = [os.path.join(folder, name) for folder in folders if os.path.isdir(folder) for name in sorted(os.listdir(folder))]
    return main, extra


def read(unit):
    main, extra = files_of(unit)
    values = {}
    for file in [main] + extra:
        for line in open(file).read().replace("\\\n", " ").splitlines():
            key, equals, value = line.strip().partition("=")
            if equals and not key.startswith(("#", ";")):
                values[key] = values.get(key, []) + [value.strip()] if value.strip() else []
    return values


def masked(unit):
    main, _ = files_of(unit)
    return main is not None and os.path.realpath(main) == "/dev/null"


def enabled(unit):
    return os.path.lexists(os.path.join(WANTS, unit))


def pid_of(unit):
    """Pid of the service, 0 for a completed oneshot, None when it is not running."""
    try:
        pid = int(open(os.path.join(STATE, unit)).read())
        if pid == 0 or open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "Z":
            return pid
    except (OSError, ValueError):
        pass
    return None


def environment(values):
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
    lines = [word for value in values.get("Environment", []) for word in shlex.split(value)]
    for file in values.get("EnvironmentFile", []):
        try:
            lines += [line.strip() for line in open(file.lstrip("-"))]
        except OSError:
            if not file.startswith("-"):
                raise
    for line in lines:
        name, equals, value = line.partition("=")
        if equals and not name.startswith("#"):
            env[name] = " ".join(shlex.split(value)) if value[:1] in "'\"" else value
    return env


def arguments(command, env):
    words = []
    for word in shlex.split(command.lstrip("-@+!")):
        if word.startswith("$") and not word.startswith("${"):
            words += shlex.split(env.get(word[1:], ""))
        else:
            words.append(word.replace("${", "{").format_map(env) if "${" in word else word)
    return words


def start(unit):
    if pid_of(unit) is not None:
        return 0
    main, _ = files_of(unit)
    if main is None or masked(unit):
        print(f"Failed to start {unit}: Unit {unit} {'is masked' if main else 'not found'}.", file=sys.stderr)
        return 5
    values = read(unit)
    env = environment(values)
    kind = values.get("Type", ["simple"])[-1].replace("notify", "simple")
    oneshot = kind == "oneshot"
    user = pwd.getpwnam(values["User"][-1]) if values.get("User") else None
    log = open(f"/var/log/{unit}.log", "ab")
    identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
    options = {"env": env, "stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "start_new_session": True, **identity}
    os.makedirs(STATE, exist_ok=True)
    for name in values.get("RuntimeDirectory", []):
        os.makedirs(os.path.join("/run", name), exist_ok=True)
        if user:
            os.chown(os.path.join("/run", name), user.pw_uid, user.pw_gid)
    for command in values.get("ExecStartPre", []) + ([] if kind == "simple" else values.get("ExecStart", [])):
        if subprocess.run(arguments(command, env), **options).returncode != 0 and not command.startswith("-"):
            return failed(unit)
    pid = 0
    if kind == "forking":
        pid = int(open(values["PIDFile"][-1]).read())
    elif not oneshot:
        process = subprocess.Popen(arguments(values["ExecStart"][-1], env), **options)
        pid = process.pid
        # Detects services that fail immediately. systemd would detect later failures too.
        for _ in range(10):
            if process.poll() is not None:
                return failed(unit)
            time.sleep(0.01)
    with open(os.path.join(STATE, unit), "w") as file:
        file.write(str(pid))
    return 0


def failed(unit):
    print(f'Job for {unit} failed because the control process exited with error code. See "/var/log/{unit}.log".', file=sys.stderr)
    return 1


def stop(unit):
    pid = pid_of(unit)
    try:
        if pid:
            group = os.getpgid(pid)
            os.killpg(group, signal.SIGTERM)
            deadline = time.monotonic() + 5
            while pid_of(unit) and time.monotonic() < deadline:
                time.sleep(0.01)
            os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass
    if pid is not None:
        os.unlink(os.path.join(STATE, unit))
    return 0


def show(unit):
    main, _ = files_of(unit)
    load = "not-found" if main is None else "masked" if masked(unit) else "loaded"
    active = pid_of(unit) is not None
    print(f"Id={unit}\nLoadState={load}\nActiveState={'active' if active else 'inactive'}")
    print(f"SubState={'running' if active else 'dead'}\nUnitFileState={state(unit) if main else ''}")
    return 0


def state(unit):
    return "masked" if masked(unit) else "enabled" if enabled(unit) else "disabled"


def is_enabled(unit):
    if files_of(unit)[0] is None:
        print(f"Failed to get unit file state for {unit}: No such file or directory", file=sys.stderr)
        return 1
    print(state(unit))
    return 0 if enabled(unit) else 1


def is_active(unit):
    print("active" if pid_of(unit) is not None else "inactive")
    return 0 if pid_of(unit) is not None else 3


def enable(unit):
    main, _ = files_of(unit)
    if main is None:
        print(f"Failed to enable unit: Unit file {unit} does not exist.", file=sys.stderr)
        return 1
    if not enabled(unit):
        os.makedirs(WANTS, exist_ok=True)
        os.symlink(main, os.path.join(WANTS, unit))
    return 0


def disable(unit):
    if enabled(unit):
        os.unlink(os.path.join(WANTS, unit))
    return 0


VERBS = {
    "start": start,
    "stop": stop,
    "restart": lambda unit: stop(unit) or start(unit),
    "reload-or-restart": lambda unit: stop(unit) or start(unit),
    "try-restart": lambda unit: 0 if pid_of(unit) is None else stop(unit) or start(unit),
    "show": show,
    "is-active": is_active,
    "is-enabled": is_enabled,
    "enable": enable,
    "disable": disable,
}


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    verb, units = (words[0], [full(word) for word in words[1:]]) if words else ("", [])
    if verb in ("daemon-reload", "set-environment", "unset-environment"):
        return 0
    if verb == "default":
        return max([start(unit) for unit in sorted(os.listdir(WANTS))], default=0)
    if verb not in VERBS or not units:
        print(f"The lab's systemctl does not support: {' '.join(sys.argv[1:])}", file=sys.stderr)
        return 1
    return max(VERBS[verb](unit) for unit in units)


if __name__ == "__main__":
    sys.exit(main())
