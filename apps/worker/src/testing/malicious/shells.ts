import type { LabNode } from '@muster/lab'

/** What the shells of malicious accounts do, instead of running commands. `$BYTES` is the size of large outputs. */
const SHELLS = {
  /** Prints lines without end. */
  stdout: 'exec yes flood',
  stderr: 'exec yes flood >&2',
  /** Prints one line without end. */
  line: 'exec cat /dev/zero',
  /** Prints line ends without end. */
  lines: "exec yes ''",
  /** Reads nothing, prints nothing, and ignores signals. */
  silent: "trap '' TERM HUP INT PIPE; sleep 100000 & wait",
  /** Never closes: prints something, then holds its outputs open. */
  open: 'echo hello; exec sleep 100000',
  /** Clears the screen, sets the title, links, and moves the cursor with one byte (C1). */
  escapes: `printf '\\033[2J\\033]0;title\\007\\033]8;;http://x\\033\\\\link\\302\\2331A\\302\\235x\\r\\n'; exit 3`,
  /** Learns the mark of the account check from its script, and repeats each result without end. */
  marks: `mark=$(grep -om1 'muster-[0-9a-f]\\{18\\}'); while :; do for topic in shell become python ansible; do echo "$mark $topic 0 0"; done; done`,
  /** Answers the probe with the right nonce and facts without end. */
  facts: `IFS= read -r head; nonce=\${head##*NONCE=}; printf 'muster-probe/1 %s\\n%s + host\\n' "$nonce" "$nonce"; exec yes 'memory_bytes=1'`,
  /** Answers Ansible with facts of this size. */
  ansible: `printf '{"ansible_facts": {"big": "'; head -c $BYTES /dev/zero | tr '\\0' A; printf '"}, "changed": false}\\n'`,
}
export type MaliciousShell = keyof typeof SHELLS

/** Accounts with these shells on a node, which accept the public key. SSH servers of the node are real; their commands are forced. */
export async function addMaliciousAccounts(
  node: LabNode,
  publicKey: string,
  accounts: Record<string, MaliciousShell>,
  bytes = 0,
): Promise<void> {
  const commands = Object.entries(accounts).map(([user, shell]) => {
    const [home, file] = [`/home/${user}`, `/usr/local/bin/shell-${user}`]
    return `useradd -m -p '*' -s /bin/sh ${user}; install -d -m 0700 -o ${user} ${home}/.ssh
cat >${file} <<'SHELL'
#!/bin/sh
BYTES=${bytes}
${SHELLS[shell]}
SHELL
chmod 0755 ${file}
echo 'command="${file}" ${publicKey}' >${home}/.ssh/authorized_keys; chown ${user} ${home}/.ssh/authorized_keys`
  })
  const { code, stderr } = await node.exec(['sh', '-ec', commands.join('\n')])
  if (code !== 0) throw new Error(`The accounts were not created: ${stderr}`)
}
