import { randomBytes } from 'node:crypto'
import { unapprovedHopReason } from '@muster/core/credentials'
import type { Hop, Login, NodeAccess } from '@muster/core/credentials/access'
import { DomainError } from '@muster/core/errors'
import { defaultPython } from '@muster/core/nodes'
import type { Claim } from '@muster/core/run-queue'
import { nodeBlockedReason } from '@muster/core/runs'
import type { NodeVars } from '@muster/core/variables'
import type { FactVars, RunVars } from './run-vars.ts'

/**
 * A machine that SSH logs in to. Its alias is used in every file of the run and in SSH's password prompts. It is random, so that no
 * machine can make SSH ask for the password of another one.
 */
export type Machine = {
  alias: string
  host: string
  port: number
  login: Login
  hostKey: string
  /** Alias of the last bastion before it. */
  via: string | null
}
export type Target = {
  name: string
  nodeId: string
  /** Null for the controller itself. */
  machine: Machine | null
  become: NodeAccess['become']
  /** Null: Ansible discovers the interpreter, which costs a round trip. */
  python: string | null
  facts: FactVars
} & NodeVars

/** The hosts of a run and how to reach them. `rejected` are the hosts that cannot be reached, each with the reason. */
export type RunPlan = {
  targets: Target[]
  bastions: Machine[]
  rejected: { name: string; nodeId: string | null; reason: string }[]
  /** Decrypted secret extra vars. */
  secretVars: Record<string, string>
  /** Decrypted secret variables of its hosts, by secret ID. */
  hostSecrets: Map<string, string>
}

/** Plans how each host of a run is reached. Hosts that became unreachable since the run was accepted are rejected one by one. */
export function planRun(
  hosts: Claim['hosts'],
  access: Map<string, NodeAccess | DomainError>,
  secretVars: Record<string, string> = {},
  vars: RunVars = { nodes: new Map(), facts: new Map(), secrets: new Map() },
  isIsolated = false,
): RunPlan {
  const bastions = new Map<string, Machine>()
  const plan: RunPlan = { targets: [], bastions: [], rejected: [], secretVars, hostSecrets: vars.secrets }
  for (const [i, { name, nodeId }] of hosts.entries()) {
    const route = nodeId ? access.get(nodeId) : undefined
    const reason =
      !nodeId || !route
        ? 'The node was purged.'
        : route instanceof DomainError
          ? route.message
          : rejectionReason(route, isIsolated)
    if (reason || !nodeId || !route || route instanceof DomainError) {
      plan.rejected.push({ name, nodeId, reason: reason! })
      continue
    }
    const { node, python: found, hops, login, become } = route
    const machine: Machine | null =
      node.connectionType === 'local'
        ? null
        : { alias: alias('n', i), host: node.host, port: node.port, login, hostKey: node.hostKey!, via: bastion(bastions, hops) }
    const python = defaultPython(found)
    plan.targets.push({
      name,
      nodeId,
      machine,
      become,
      python,
      facts: vars.facts.get(nodeId) ?? {},
      ...(vars.nodes.get(nodeId) ?? { groups: [], vars: [] }),
    })
  }
  plan.bastions = [...bastions.values()]
  return plan
}

const alias = (kind: 'n' | 'b', i: number) => `${kind}${i}-${randomBytes(6).toString('hex')}`
/** Whether an alias belongs to a node, not to a bastion. */
export const isNodeAlias = (alias: string): boolean => alias.startsWith('n')

function rejectionReason({ node, hops }: NodeAccess, isIsolated: boolean): string | null {
  const reason = nodeBlockedReason(node)
  if (reason) return `The node ${node.name} cannot run playbooks: ${reason}.`
  if (node.connectionType !== 'local') return unapprovedHopReason(hops)
  // An isolated playbook sees another file system and cannot change the machine.
  return isIsolated
    ? `The node ${node.name} is the worker's own machine, and the worker isolates playbooks. Use connection type ssh for the node, or set ANSIBLE_ISOLATION=none for the worker.`
    : null
}

/** Returns the alias of the last of `hops`. Each bastion becomes one machine of the run, however many nodes are behind it. */
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
