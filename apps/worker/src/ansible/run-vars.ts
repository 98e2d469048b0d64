import type { Ctx } from '@muster/core/context'
import { openSecretVars } from '@muster/core/credentials/access'
import type { JobRun } from '@muster/core/jobs'
import { type EffectiveVar, type NodeVars, varsOfNodes } from '@muster/core/variables'
import { quoted, unsafeYaml } from './unsafe-yaml.ts'

/** The variables of a run's hosts below its extra vars, by node id, and the secret ones among them in the clear, by their ids. */
export type RunVars = { nodes: Map<string, NodeVars>; secrets: Map<string, string> }

/** Work out which variables hold on each host: here and not by Ansible, so that its own precedence cannot order our layers anew. */
export async function resolveRunVars(ctx: Ctx, run: Pick<JobRun, 'extraVars'>, nodeIds: string[]): Promise<RunVars> {
  const nodes = await varsOfNodes(ctx, nodeIds, { vars: run.extraVars })
  const ids = [...nodes.values()].flatMap(({ vars }) => vars.flatMap((each) => each.secretId ?? []))
  return { nodes, secrets: await openSecretVars(ctx, [...new Set(ids)]) }
}

/** A lookup at the moment when a task needs it; strings that it gives are not evaluated. */
const secretLookup = (key: string): string => quoted(`{{ lookup('muster_secret', 'var', '${key}') }}`)

/**
 * Names of extra vars that are not the same on all hosts: with deep merging, dictionaries that are laid into one of a layer below.
 * They stand in each host's `muster_merged`, as what stands in the file of extra vars goes before all that hosts have.
 */
export function mergedNames(hosts: { vars: EffectiveVar[] }[], extraVars: JobRun['extraVars']): Set<string> {
  const isMerged = ({ layer, name, value }: EffectiveVar) => layer === 'run' && value !== extraVars[name]
  return new Set(hosts.flatMap(({ vars }) => vars.filter(isMerged).map((each) => each.name)))
}

/**
 * A host's variables as entries of YAML, all strings unsafe.
 * @param isController the host is this machine: what Ansible itself reads could run a command on it and is left out
 */
export function hostEntries(vars: EffectiveVar[], merged: Set<string>, isController: boolean): string[] {
  const own = vars.filter((each) => each.layer !== 'run' && !(isController && each.name.startsWith('ansible_')))
  const laid = vars.filter((each) => merged.has(each.name)).map((each) => `${quoted(each.name)}: ${unsafeYaml(each.value)}`)
  return [
    ...own.map(({ name, value, secretId }) => `${quoted(name)}: ${secretId ? secretLookup(secretId) : unsafeYaml(value)}`),
    ...(laid.length > 0 ? [`muster_merged: {${laid.join(', ')}}`] : []),
  ]
}
