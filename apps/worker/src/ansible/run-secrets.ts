import type { ParsedKey } from 'ssh2'
import { loginKey } from '../ssh/login-key.ts'
import type { Machine, RunPlan } from './plan-run.ts'
import { socketPaths } from './run-files.ts'
import { serveSecrets } from './serve-secrets.ts'

/**
 * Hands out a run's secrets over two sockets in its private directory: an ssh-agent that signs with its keys, and one that
 * answers with passwords. Both live in this process: nothing of them is on disk, in an argument or an environment, and when the
 * worker dies they are gone.
 */
export async function serveRunSecrets(sshDir: string, plan: RunPlan): Promise<{ close(): void }> {
  const machines = [...plan.bastions, ...plan.targets.flatMap((target) => target.machine ?? [])]
  const sockets = socketPaths(sshDir)
  const keys = agentKeys(machines)
  const passwords = new Map(machines.map((machine) => [machine.alias, machine.login.password]))
  const vars = new Map([...Object.entries(plan.secretVars), ...plan.hostSecrets])
  const becomes = new Map(plan.targets.map((target) => [target.machine?.alias ?? target.nodeId, target.become.password]))
  return serveSecrets(sockets, keys, (question) => answer(question, passwords, becomes, vars))
}

function agentKeys(machines: Machine[]): ParsedKey[] {
  const byText = new Map<string, ParsedKey>()
  for (const { login } of machines)
    if (login.privateKey && !byText.has(login.privateKey))
      byText.set(login.privateKey, loginKey(login.privateKey, login.passphrase))
  return [...byText.values()]
}

/**
 * `become ALIAS` and `var NAME` from the lookup plugin, `ssh PROMPT` from ssh by way of askpass. ssh puts the alias into the
 * prompts that it makes (`user@ALIAS's password: `) and in front of those that a server makes (`(user@ALIAS) …`). No server knows
 * its alias or another's, so none can ask for a password that is not its own. User names may hold an @ (`j.doe@corp.example`).
 */
function answer(
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
