import type { NodeAccess } from '@muster/core/credentials/access'

/**
 * Runs the lines of its input up to END; the rest of the input is theirs. Any login shell must pass it unchanged, including csh and
 * fish: hence no newline, no `!` and no backslash before a quote. The script comes by stdin, so that no secret is in a process list;
 * `read` consumes no byte beyond its line.
 */
export const RUN_FROM_STDIN = `sh -c 'eval "$(while IFS= read -r line; do case $line in END) break;; esac; printf "%s\\n" "$line"; done)"'`

// What Ansible's module wrapper and the modules of the shipped playbooks import.
const PYTHON_PROBE = `
import sys
mark = sys.argv[1]
say = lambda *words: (sys.stdout.write(" ".join((mark,) + words) + "\\n"), sys.stdout.flush())
say("python", "%d.%d.%d" % sys.version_info[:3], sys.executable)
missing = []
for name in ("json", "zipfile", "base64", "tempfile", "shutil", "subprocess", "selectors", "hashlib", "socket", "platform", "pwd", "grp", "runpy", "logging"):
    try:
        __import__(name)
    except Exception:
        missing.append(name)
if missing:
    say("ansible", "missing", ",".join(missing))
    sys.exit(0)
import os, shutil, tempfile
home = os.path.expanduser("~")
scratch = None
try:
    scratch = tempfile.mkdtemp(prefix=".muster-", dir=home)
    with open(os.path.join(scratch, "room"), "wb") as file:
        file.write(b"0" * 4194304)
        file.flush()
        os.fsync(file.fileno())
    say("ansible", "ok", home)
except Exception as error:
    say("ansible", "unwritable", home, str(getattr(error, "strerror", None) or error))
finally:
    if scratch:
        shutil.rmtree(scratch, True)
`

const PYTHONS = [
  ...[14, 13, 12, 11, 10, 9, 8].map((minor) => `python3.${minor}`),
  'python3',
  '/usr/libexec/platform-python',
  'python3.7',
  'python3.6',
  'python',
]

/** Lines that become another user; the password, if any, is the next line of the input. */
function becomeLines({ method, password }: NodeAccess['become']): string[] {
  const ask =
    method === 'su'
      ? 'su "$user" -c true'
      : password === null
        ? 'sudo -n -u "$user" -- true </dev/null'
        : 'sudo -k -S -p "" -u "$user" -- true'
  return [
    `if [ "$(id -un)" = "$user" ]; then say become already`,
    `elif ! command -v ${method} >/dev/null 2>&1; then say become absent`,
    // -k ignores cached credentials: they would accept a wrong password.
    `else out=$(LC_ALL=C $limit ${ask} 2>&1); say become $? "$(printf '%s' "$out" | tr '\\n' ' ')"; fi`,
  ]
}

/**
 * Checks an account in one round trip: whether its shell runs commands, whether it can become another user, and whether it has a
 * Python for Ansible. Every result is a line that begins with `mark`: `shell UID SYSTEM`, `become …`, `python VERSION PATH`,
 * `ansible …`, `end`.
 * @param mark unguessable word without spaces
 * @param limitS time limit for becoming the other user, in seconds
 * @returns input for {@link RUN_FROM_STDIN}
 */
export function accountScript(mark: string, become: NodeAccess['become'], limitS: number): string {
  const script = [
    `say() { printf '%s\\n' "${mark} $*"; }`,
    'IFS= read -r user',
    'say shell "$(id -u)" "$(uname -s)"',
    'limit=',
    `if command -v timeout >/dev/null 2>&1; then limit="timeout ${limitS}"; fi`,
    ...becomeLines(become),
    'py=',
    `for p in ${PYTHONS.join(' ')}; do if command -v "$p" >/dev/null 2>&1; then py=$p; break; fi; done`,
    'if [ -z "$py" ]; then say python absent; else',
    `"$py" -c '${PYTHON_PROBE}' "${mark}" </dev/null 2>&1 || say python broken`,
    'fi',
    'say end',
  ]
  return `${script.join('\n')}\nEND\n${become.user}\n${become.password ?? ''}\n`
}
