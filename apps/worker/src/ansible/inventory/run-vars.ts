import type { Ctx } from '@muster/core/context'
import { decryptSecretVars } from '@muster/core/credentials'
import type { JobRun } from '@muster/core/runs'
import { type EffectiveVar, hostVariables, type NodeVars, varsOfNodes } from '@muster/core/variables'
import { quoted, unsafeYaml } from './unsafe-yaml.ts'

/** Variables that describe a host. A set variable replaces the fact of that name. */
export type FactVars = Record<string, unknown>

/** Variables of a run's hosts by node ID, without the run's extra vars; `secrets` holds decrypted values by secret ID. */
export type RunVars = { nodes: Map<string, NodeVars>; facts: Map<string, FactVars>; secrets: Map<string, string> }

/** Resolves the effective variables of each host here, because Ansible's precedence would reorder the layers. */
export async function resolveRunVars(ctx: Ctx, run: Pick<JobRun, 'extraVars'>, nodeIds: string[]): Promise<RunVars> {
  const [nodes, facts] = await Promise.all([varsOfNodes(ctx, nodeIds, { vars: run.extraVars }), hostVariables(ctx, nodeIds)])
  const ids = [...nodes.values()].flatMap(({ vars }) => vars.flatMap((each) => each.secretId ?? []))
  return { nodes, facts, secrets: await decryptSecretVars(ctx, [...new Set(ids)]) }
}

/** Looks the secret up when a task needs it; Ansible does not evaluate the returned string. */
const secretLookup = (key: string): string => quoted(`{{ lookup('muster_secret', 'var', '${key}') }}`)

/**
 * Names of extra vars that differ between hosts: with deep merging, dictionaries that are merged into one of a lower layer.
 * They are stored in each host's `muster_merged`, because the extra vars file overrides every host variable.
 */
export function mergedNames(hosts: { vars: EffectiveVar[] }[], extraVars: JobRun['extraVars']): Set<string> {
  const isMerged = ({ layer, name, value }: EffectiveVar) => layer === 'run' && value !== extraVars[name]
  return new Set(hosts.flatMap(({ vars }) => vars.filter(isMerged).map((each) => each.name)))
}

/**
 * Renders a host's variables as YAML entries with every string `!unsafe`.
 * @param isController the host is this machine: variables that Ansible itself reads could run a command here and are omitted
 */
export function hostEntries(
  { vars, facts }: { vars: EffectiveVar[]; facts: FactVars },
  merged: Set<string>,
  isController: boolean,
): string[] {
  const names = new Set(vars.map((each) => each.name))
  const defaults = Object.entries(facts).filter(([name]) => !names.has(name))
  const own = vars.filter((each) => each.layer !== 'run' && !(isController && each.name.startsWith('ansible_')))
  const mergedEntries = vars
    .filter((each) => merged.has(each.name))
    .map((each) => `${quoted(each.name)}: ${unsafeYaml(each.value)}`)
  return [
    ...defaults.map(([name, value]) => `${quoted(name)}: ${unsafeYaml(value)}`),
    ...own.map(({ name, value, secretId }) => `${quoted(name)}: ${secretId ? secretLookup(secretId) : unsafeYaml(value)}`),
    ...(mergedEntries.length > 0 ? [`muster_merged: {${mergedEntries.join(', ')}}`] : []),
  ]
}
