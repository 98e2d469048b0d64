import type { ParsedKey } from 'ssh2'
import { loginKey } from '../../ssh/login-key.ts'
import type { Machine, RunPlan } from '../inventory/plan-run.ts'
import { socketPaths } from '../run-directory/run-paths.ts'
import { serveSecrets } from './serve-secrets.ts'

/**
 * Serves a run's secrets over two sockets in its private directory: an SSH agent that signs with its keys, and one that returns
 * passwords. Both run in this process: no secret is on disk, in an argument or in an environment.
 */
export async function serveRunSecrets(sshDir: string, plan: RunPlan): Promise<{ close(): void }> {
  const machines = [...plan.bastions, ...plan.targets.flatMap((target) => target.machine ?? [])]
  const sockets = socketPaths(sshDir)
  const keys = agentKeys(machines)
  const passwords = new Map(machines.map((machine) => [machine.alias, machine.login.password]))
  const vars = new Map([...Object.entries(plan.secretVars), ...plan.hostSecrets])
  const becomes = new Map(plan.targets.map((target) => [target.machine?.alias ?? target.nodeId, target.become.password]))
  return serveSecrets(sockets, keys, (question) => findSecret(question, passwords, becomes, vars))
}

function agentKeys(machines: Machine[]): ParsedKey[] {
  const byText = new Map<string, ParsedKey>()
  for (const { login } of machines)
    if (login.privateKey && !byText.has(login.privateKey))
      byText.set(login.privateKey, loginKey(login.privateKey, login.passphrase))
  return [...byText.values()]
}

/**
 * Questions are `become ALIAS` and `var NAME` from the lookup plugin, and `ssh PROMPT` from SSH through askpass. SSH puts the alias
 * into its own prompts (`user@ALIAS's password: `) and before those of a server (`(user@ALIAS) …`). No server knows an alias, so none
 * can ask for another one's password. User names may contain an @ (`j.doe@corp.example`).
 */
function findSecret(
  question: string,
  passwords: Map<string, string | undefined>,
  becomes: Map<string, string | null>,
  vars: Map<string, string>,
): string | null {
  const [, kind, rest] = /^(become|var|ssh) (.*)$/s.exec(question) ?? []
  if (kind === 'become') return becomes.get(rest!) ?? null
  if (kind === 'var') return vars.get(rest!) ?? null
  if (kind !== 'ssh') return null
  const [, own, prefixed] = /^[^()]*@([^@()]*)'s password: $|^\([^()]*@([^@()]*)\) /s.exec(rest!) ?? []
  return passwords.get(own ?? prefixed ?? '') ?? null
}
