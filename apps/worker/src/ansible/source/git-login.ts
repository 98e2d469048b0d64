import { mkdir, rm, writeFile } from 'node:fs/promises'
import type { GitLogin } from '@muster/core/credentials/access'
import { loginKey } from '../../ssh/login-key.ts'
import { socketPaths } from '../run-files.ts'
import { serveSecrets } from '../serve-secrets.ts'

/** What git is started with so that it can sign in, until `close`. */
export type GitAccess = { env: NodeJS.ProcessEnv; close(): Promise<void> }

/**
 * Let git sign in at the server of `url` and nowhere else. The secrets stay in this process, behind sockets of their own that are
 * gone before the playbook starts: nothing of them is on disk, in an argument or an environment.
 * @param sshDir the run's; short, and without characters that ssh would split at
 */
export async function openGitAccess(
  url: string,
  login: GitLogin,
  { sshDir, playbooks }: { sshDir: string; playbooks: string },
): Promise<GitAccess> {
  const dir = `${sshDir}/g`
  await mkdir(dir, { mode: 0o700 })
  const key = login.privateKey === undefined ? null : loginKey(login.privateKey, login.passphrase)
  const sockets = socketPaths(dir)
  const files = { config: `${dir}/config`, knownHosts: `${dir}/known_hosts`, publicKey: `${dir}/k.pub` }
  const texts: [string, string][] = [
    [files.config, sshConfig(login.username, sockets.agent, files)],
    [files.knownHosts, login.hostKey ? `repository ${login.hostKey}\n` : ''],
    ...(key ? [[files.publicKey, `${key.type} ${key.getPublicSSH().toString('base64')}\n`] as [string, string]] : []),
  ]
  await Promise.all(texts.map(([path, text]) => writeFile(path, text, { mode: 0o600 })))
  const served = await serveSecrets(sockets, key ? [key] : [], (question) => answerGit(question, url, login))
  return {
    env: {
      GIT_SSH: `${playbooks}/plugins/git-ssh`,
      GIT_SSH_VARIANT: 'ssh',
      MUSTER_SSH_CONFIG: files.config,
      GIT_ASKPASS: `${playbooks}/plugins/askpass.py`,
      MUSTER_SOCKET: sockets.secrets,
    },
    async close() {
      served.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** git asks `Username for 'https://host': ` and `Password for 'https://user@host': `, naming where it is by then: perhaps elsewhere. */
function answerGit(question: string, url: string, { username, password }: GitLogin): string | null {
  const [, what, place] = /^ssh (Username|Password) for '([^']+)': $/.exec(question) ?? []
  if (!place || !URL.canParse(place)) return null
  const [asked, meant] = [new URL(place), new URL(url)]
  if (asked.protocol !== meant.protocol || asked.host !== meant.host) return null
  return what === 'Username' ? username : (password ?? null)
}

/** With this key and this host key, and nothing of the user that the worker runs as. A user that the URL names comes first. */
function sshConfig(user: string, agent: string, files: { knownHosts: string; publicKey: string }): string {
  return `Host *
  User ${user}
  IdentityAgent ${agent}
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
