import { randomBytes } from 'node:crypto'
import { type Hop, type Login, type NodeAccess, whyNotPass } from '@muster/core/credentials/access'
import { DomainError } from '@muster/core/errors'
import { type Claim, whyNotTarget } from '@muster/core/jobs'
import type { NodeVars } from '@muster/core/variables'
import { isFitPython } from '../ssh/account-script.ts'
import type { RunVars } from './run-vars.ts'

/**
 * One machine that ssh logs in to. The alias names it in every file of the run and in ssh's password prompts; it is random, so
 * that no machine can make ssh ask for another one's password.
 */
export type Machine = {
  alias: string
  host: string
  port: number
  login: Login
  hostKey: string
  /** Alias of the last bastion on the way to it. */
  via: string | null
}
export type Target = {
  name: string
  nodeId: string
  /** Null: the controller itself. */
  machine: Machine | null
  become: NodeAccess['become']
  /** The Python to use there; null: Ansible looks for one, in a round trip of its own. */
  python: typeof USUAL_PYTHON | null
} & NodeVars
/** Where distributions keep theirs, whatever its version becomes: found there by a discovery, it will be there in the run. */
const USUAL_PYTHON = '/usr/bin/python3'

/** Who takes part in a run and how they are reached; `refused` are hosts that cannot be, each with the reason. */
export type RunPlan = {
  targets: Target[]
  bastions: Machine[]
  refused: { name: string; nodeId: string | null; reason: string }[]
  /** Secret extra vars of the run, in the clear. */
  secretVars: Record<string, string>
  /** Secret variables of its hosts in the clear, by the ids that their variables have in place of values. */
  hostSecrets: Map<string, string>
}

/** Work out how each host of a run is reached. What became impossible since the run was accepted is refused host by host. */
export function planRun(
  hosts: Claim['hosts'],
  access: Map<string, NodeAccess | DomainError>,
  secretVars: Record<string, string> = {},
  vars: RunVars = { nodes: new Map(), secrets: new Map() },
  isIsolated = false,
): RunPlan {
  const bastions = new Map<string, Machine>()
  const plan: RunPlan = { targets: [], bastions: [], refused: [], secretVars, hostSecrets: vars.secrets }
  for (const [i, { name, nodeId }] of hosts.entries()) {
    const way = nodeId ? access.get(nodeId) : undefined
    const reason = !nodeId || !way ? 'The node was purged.' : way instanceof DomainError ? way.message : whyNot(way, isIsolated)
    if (reason || !nodeId || !way || way instanceof DomainError) {
      plan.refused.push({ name, nodeId, reason: reason! })
      continue
    }
    const { node, python: found, hops, login, become } = way
    const machine: Machine | null =
      node.connectionType === 'local'
        ? null
        : { alias: alias('n', i), host: node.host, port: node.port, login, hostKey: node.hostKey!, via: bastion(bastions, hops) }
    const python = found?.path === USUAL_PYTHON && isFitPython(found.version ?? '') ? USUAL_PYTHON : null
    plan.targets.push({ name, nodeId, machine, become, python, ...(vars.nodes.get(nodeId) ?? { groups: [], vars: [] }) })
  }
  plan.bastions = [...bastions.values()]
  return plan
}

const alias = (kind: 'n' | 'b', i: number) => `${kind}${i}-${randomBytes(6).toString('hex')}`
/** Whether an alias is a node's, not a bastion's. */
export const isNode = (alias: string): boolean => alias.startsWith('n')

function whyNot({ node, hops }: NodeAccess, isIsolated: boolean): string | null {
  const reason = whyNotTarget(node)
  if (reason) return `The node ${node.name} ${reason}.`
  if (node.connectionType !== 'local') return whyNotPass(hops)
  // Inside it would be told of a machine that is not there, and could change nothing.
  return isIsolated
    ? `The node ${node.name} is the machine of a worker that isolates playbooks: reach it over ssh, or set ANSIBLE_ISOLATION=none for the worker.`
    : null
}

/** The alias of the last of `hops`, each of which becomes one machine of the run however many nodes lie behind it. */
function bastion(known: Map<string, Machine>, hops: Hop[]): string | null {
  let via: string | null = null
  for (const hop of hops) {
    const machine: Machine = known.get(hop.credentialId) ?? {
      alias: alias('b', known.size),
      host: hop.host,
      port: hop.port,
      login: hop.login,
      hostKey: hop.hostKey!,
      via,
    }
    known.set(hop.credentialId, machine)
    via = machine.alias
  }
  return via
}

/** Every secret value of the run, for masking. */
export function secretsOf(plan: RunPlan): string[] {
  const logins = [...plan.targets.flatMap((t) => t.machine?.login ?? []), ...plan.bastions.map((b) => b.login)]
  const values = [
    ...logins.flatMap((login) => [login.privateKey, login.passphrase, login.password]),
    ...plan.targets.map((target) => target.become.password),
    ...Object.values(plan.secretVars),
    ...plan.hostSecrets.values(),
  ]
  return [...new Set(values.filter((value) => value !== undefined && value !== null))]
}
