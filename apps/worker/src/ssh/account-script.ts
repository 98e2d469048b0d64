import type { NodeAccess } from '@muster/core/credentials/access'

/** Oldest Python on a node that the supported ansible-core versions still speak to, as [major, minor]. */
export const OLDEST_PYTHON = [3, 8] as const

/** @param version as Python prints it: `3.11.2` */
export function isFitPython(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > OLDEST_PYTHON[0] || (major === OLDEST_PYTHON[0] && minor >= OLDEST_PYTHON[1])
}

/**
 * Runs the lines it reads up to END, and leaves the rest of its input to them. It must go through any login shell as it
 * is, csh and fish too: hence no newline, no `!` and no backslash before a quote. The script itself comes by stdin, so
 * that no secret stands in a process list; `read` takes no byte more than its line.
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

/** How the script asks for another user's rights; the password, if any, is the next line of its input. */
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
    // -k: a password that was right a minute ago must not count for one that is wrong now.
    `else out=$(LC_ALL=C $limit ${ask} 2>&1); say become $? "$(printf '%s' "$out" | tr '\\n' ' ')"; fi`,
  ]
}

/**
 * What is asked of an account in one round trip: does its shell run commands, does it become another user, is there a
 * Python that Ansible can use. Every answer is a line that begins with `mark`: `shell UID SYSTEM`, `become …`,
 * `python VERSION PATH`, `ansible …`, `end`.
 * @param mark unguessable word without blanks
 * @param limitS seconds for becoming the other user
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
