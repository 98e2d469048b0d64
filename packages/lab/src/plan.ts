import { defaultNodes, type ProfileName, profileOf, profiles } from './profiles.ts'
import { controllerNodes, slurmOptions } from './slurm/plan.ts'
import type { LabOptions, NodeOptions } from './types.ts'

/** A node to build, with all defaults applied. `tag` is four unique hex digits, used in simulated serial numbers. */
export interface PlannedNode extends Required<Omit<NodeOptions, 'profile'>> {
  profile: ProfileName
  tag: string
}

/** Turns a count or a list into nodes with distinct names and tags. Throws on an invalid host name. */
export function planNodes(options: LabOptions): PlannedNode[] {
  const { nodes = 8, bastion = true, slurm } = options
  const behindBastion = slurm ? (slurmOptions(slurm).behindBastion ?? false) : false
  const requested = [
    ...(typeof nodes === 'number' ? selectDefaultNodes(nodes, bastion, behindBastion) : nodes),
    ...controllerNodes(options),
  ]
  const seen = new Set<string>()
  return requested.map((node, index) => {
    const profile = node.profile ?? 'cpu'
    if (!/^[a-z][a-z0-9-]{0,39}$/.test(node.name) || node.name === 'bastion' || seen.has(node.name)) {
      throw new Error(`Invalid lab node name "${node.name}": use a unique name of a-z, 0-9 and "-", other than "bastion".`)
    }
    if (!Object.hasOwn(profiles, profile)) {
      throw new Error(`Unknown profile "${profile}" of lab node ${node.name}. Profiles: ${Object.keys(profiles).join(', ')}.`)
    }
    seen.add(node.name)
    // Multiplying by an odd number permutes the 16-bit numbers, so tags look random and are unique.
    const tag = (((index + 1) * 40503) & 0xffff).toString(16).padStart(4, '0')
    return { python: true, tools: true, behindBastion: false, ...node, profile, tag }
  })
}

function selectDefaultNodes(count: number, bastion: boolean, allBehindBastion: boolean): NodeOptions[] {
  if (!Number.isInteger(count) || count < 1) throw new Error(`Cannot create a lab of ${count} nodes; the minimum is 1.`)
  const used = new Map<string, number>()
  return Array.from({ length: count }, (_, index) => {
    const { profile, behindBastion } = defaultNodes[index % defaultNodes.length]!
    const { prefix } = profileOf(profile)
    const number = (used.get(prefix) ?? 0) + 1
    used.set(prefix, number)
    // Only the first eight nodes may be behind the bastion; further nodes are directly reachable.
    const hidden = allBehindBastion || (bastion && behindBastion && index < defaultNodes.length)
    return { name: `${prefix}-${String(number).padStart(2, '0')}`, profile, behindBastion: hidden }
  })
}
