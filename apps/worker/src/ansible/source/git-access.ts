import { mkdir, rm, writeFile } from 'node:fs/promises'
import type { GitLogin } from '@muster/core/credentials/access'
import { loginKey } from '../../ssh/login-key.ts'
import { socketPaths } from '../run-directory/run-paths.ts'
import { ANSIBLE_CONTENT } from '../run-directory/shipped-playbooks.ts'
import { serveSecrets } from '../secrets/serve-secrets.ts'

/** Environment with which git can sign in until `close`. */
export type GitAccess = { env: NodeJS.ProcessEnv; close(): Promise<void> }

/**
 * Lets git sign in to the server of `url` only. The secrets stay in this process, behind sockets that are closed before the playbook
 * starts: none is on disk, in an argument or in an environment.
 * @param sshDir the run's SSH directory
 * @param address the address to connect to; null when the URL has it
 */
export async function openGitAccess(
  url: string,
  login: GitLogin,
  { sshDir, address }: { sshDir: string; address: string | null },
): Promise<GitAccess> {
  const dir = `${sshDir}/g`
  await mkdir(dir, { mode: 0o700 })
  const key = login.privateKey === undefined ? null : loginKey(login.privateKey, login.passphrase)
  const sockets = socketPaths(dir)
  const files = { config: `${dir}/config`, knownHosts: `${dir}/known_hosts`, publicKey: `${dir}/k.pub` }
  const texts: [string, string][] = [
    [files.config, sshConfig(login.username, sockets.agent, address, files)],
    [files.knownHosts, login.hostKey ? `repository ${login.hostKey}\n` : ''],
    ...(key ? [[files.publicKey, `${key.type} ${key.getPublicSSH().toString('base64')}\n`] as [string, string]] : []),
  ]
  await Promise.all(texts.map(([path, text]) => writeFile(path, text, { mode: 0o600 })))
  const served = await serveSecrets(sockets, key ? [key] : [], (question) => answerGitPrompt(question, url, login))
  return {
    env: {
      GIT_SSH: `${ANSIBLE_CONTENT}/plugins/git-ssh`,
      GIT_SSH_VARIANT: 'ssh',
      MUSTER_SSH_CONFIG: files.config,
      GIT_ASKPASS: `${ANSIBLE_CONTENT}/plugins/askpass.py`,
      MUSTER_SOCKET: sockets.secrets,
    },
    async close() {
      served.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Git prompts with `Username for 'https://host': ` and `Password for 'https://user@host': `; after a redirect the host differs. */
function answerGitPrompt(question: string, url: string, { username, password }: GitLogin): string | null {
  const [, kind, prompted] = /^ssh (Username|Password) for '([^']+)': $/.exec(question) ?? []
  if (!prompted || !URL.canParse(prompted)) return null
  const [actual, expected] = [new URL(prompted), new URL(url)]
  if (actual.protocol !== expected.protocol || actual.host !== expected.host) return null
  return kind === 'Username' ? username : (password ?? null)
}

/** Uses only this key and host key, and no settings of the worker's user. A user in the URL takes precedence. */
function sshConfig(
  user: string,
  agent: string,
  address: string | null,
  files: { knownHosts: string; publicKey: string },
): string {
  return `Host *
  User ${user}
${address ? `  HostName ${address}\n` : ''}  IdentityAgent ${agent}
  IdentityFile ${files.publicKey}
  IdentitiesOnly yes
  PreferredAuthentications publickey
  HostKeyAlias repository
  UserKnownHostsFile ${files.knownHosts}
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  UpdateHostKeys no
  CheckHostIP no
  VerifyHostKeyDNS no
  BatchMode yes
  ClearAllForwardings yes
  PermitLocalCommand no
  ControlMaster no
  ControlPath none
  ConnectTimeout 20
  ServerAliveInterval 10
`
}
