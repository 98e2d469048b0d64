import type { Login, NodeAccess } from '@muster/core/credentials/access'
import type { RotationStep } from '@muster/core/rotations'
import { RUN_FROM_STDIN } from './account-script.ts'
import type { ConnectOptions } from './connect.ts'
import { openSession } from './open-session.ts'
import { SshFailure } from './ssh-failure.ts'

type Secret = Omit<Login, 'username'> & {
  /** Public half of `privateKey` in authorized_keys format. */
  publicKey?: string
}
export type Secrets = Record<'next' | 'previous', Secret>

const KEY_FILE = 'file=$HOME/.ssh/authorized_keys'

/** Adds the key of the first line of the input to the account's keys. Appending keeps links, owner and permissions. */
const ADD_KEY = `umask 077
IFS= read -r key
${KEY_FILE}
mkdir -p "$HOME/.ssh" && touch "$file" || exit 1
grep -qxF -- "$key" "$file" && exit 0
if [ -s "$file" ] && [ -n "$(tail -c 1 "$file")" ]; then key="
$key"; fi
printf '%s\\n' "$key" >>"$file"`

/** Removes the lines with the key of the first line of the input. The file is replaced, so that it is never incomplete. */
const REMOVE_KEY = `umask 077
IFS= read -r key
${KEY_FILE}
grep -qF -- "$key" "$file" 2>/dev/null || exit 0
file=$(readlink -f "$file") && cp -p "$file" "$file.muster" || exit 1
grep -vF -- "$key" "$file" >"$file.muster"
if [ $? -gt 1 ]; then rm -f "$file.muster"; exit 1; fi
mv -f "$file.muster" "$file"`

/** Sets the password of the account. Input: the previous and the new one. printf is part of the shell: no secret is in a process list. */
const SET_PASSWORD = `PATH=$PATH:/usr/sbin:/sbin
IFS= read -r old
IFS= read -r new
if [ "$(id -u)" = 0 ]; then printf '%s:%s\\n' "$(id -un)" "$new" | LC_ALL=C chpasswd 2>&1
else printf '%s\\n%s\\n%s\\n' "$old" "$new" "$new" | LC_ALL=C passwd 2>&1; fi`

/**
 * Performs one step of a rotation on a node. Every step can be repeated: it first checks what the node accepts.
 * @returns null, or why the step failed, with the state of the node and the next step
 * @throws the signal's reason when it fires
 */
export async function rotateSecret(
  access: NodeAccess,
  step: RotationStep,
  { next, previous }: Secrets,
  options: ConnectOptions,
): Promise<string | null> {
  const node = secretsOf(access, options)
  if (step === 'REMOVE') return node.run(next, REMOVE_KEY, [withoutComment(previous.publicKey)])
  const [wanted, other] = step === 'INSTALL' ? [next, previous] : [previous, next]
  if (step === 'RESTORE' && next.publicKey !== undefined) return node.run(previous, REMOVE_KEY, [withoutComment(next.publicKey)])
  if ((await node.loginFailure(wanted)) === null) return null
  const failure =
    wanted.publicKey === undefined
      ? await node.run(other, SET_PASSWORD, [other.password ?? '', wanted.password ?? ''])
      : await node.run(other, ADD_KEY, [wanted.publicKey])
  const rejection = await node.loginFailure(wanted)
  if (rejection === null) return null
  if (failure !== null) return failure
  if (wanted.publicKey !== undefined)
    return `The key was added to ~/.ssh/authorized_keys, but the node does not accept it: ${rejection} Check AuthorizedKeysFile of its SSH server. The previous key still works.`
  return (await node.loginFailure(other)) === null
    ? `The password was not changed: ${rejection}`
    : `Neither the previous nor the new password works: ${rejection} Reset the password on the node.`
}

const withoutComment = (publicKey = ''): string => publicKey.split(' ').slice(0, 2).join(' ')

function secretsOf(access: NodeAccess, options: ConnectOptions) {
  const connect = ({ publicKey: _publicKey, ...secret }: Secret) =>
    openSession({ ...access, login: { username: access.login.username, ...secret } }, options)
  const failureOf = (error: unknown): string => {
    if (options.signal?.aborted || !(error instanceof SshFailure)) throw error
    return error.summary
  }
  return {
    /** Why the node does not accept the secret; null when it does. */
    async loginFailure(secret: Secret): Promise<string | null> {
      try {
        ;(await connect(secret)).close()
        return null
      } catch (error) {
        return failureOf(error)
      }
    },
    /** Runs a script with the lines as its input. @returns why it failed, else null */
    async run(secret: Secret, script: string, lines: string[]): Promise<string | null> {
      try {
        const session = await connect(secret)
        try {
          const stdin = `${script}\nEND\n${lines.map((line) => `${line}\n`).join('')}`
          const { code, stdout, stderr } = await session.exec(RUN_FROM_STDIN, {
            stdin,
            timeoutMs: options.timeoutMs * 2,
            maxBytes: 64 * 1024,
            ...(options.signal ? { signal: options.signal } : {}),
          })
          if (code === 0) return null
          return `The node could not change it: ${lastLine(`${stdout}${stderr}`, lines) || `exit code ${code}`}.`
        } finally {
          session.close()
        }
      } catch (error) {
        return failureOf(error)
      }
    },
  }
}

/** Last line of a command's output, without the secrets. */
function lastLine(output: string, secrets: string[]): string {
  let text = output
  for (const secret of secrets) if (secret) text = text.replaceAll(secret, '***')
  const lines = text.split('\n').map((line) => line.replace(/[^\x20-\x7e]/g, '').trim())
  return (lines.findLast((line) => line !== '') ?? '').slice(0, 300).replace(/\.$/, '')
}
