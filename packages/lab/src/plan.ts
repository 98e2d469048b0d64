import { type ProfileName, profileOf, profiles, standardRoom } from './profiles.ts'
import type { LabOptions, NodeOptions } from './types.ts'

/** A node to build, with nothing left to default. `tag` is four hex digits of its own, put into invented serial numbers. */
export interface PlannedNode extends Required<Omit<NodeOptions, 'profile'>> {
  profile: ProfileName
  tag: string
}

/** Turns a count or a list into nodes with distinct names and tags. Throws on a name that no host could have. */
export function planNodes({ nodes = 8, bastion = true }: LabOptions): PlannedNode[] {
  const wanted = typeof nodes === 'number' ? countedRoom(nodes, bastion) : nodes
  const seen = new Set<string>()
  return wanted.map((node, index) => {
    const profile = node.profile ?? 'cpu'
    if (!/^[a-z][a-z0-9-]{0,39}$/.test(node.name) || node.name === 'bastion' || seen.has(node.name)) {
      throw new Error(`Lab node name "${node.name}" is not usable: take a distinct one of a-z, 0-9 and "-", not "bastion".`)
    }
    if (!Object.hasOwn(profiles, profile)) {
      throw new Error(`Lab node ${node.name} asks for profile "${profile}"; there are ${Object.keys(profiles).join(', ')}.`)
    }
    seen.add(node.name)
    // An odd multiplier permutes the 16-bit numbers, so that tags look unrelated and never meet.
    const tag = (((index + 1) * 40503) & 0xffff).toString(16).padStart(4, '0')
    return { python: true, tools: true, behindBastion: false, ...node, profile, tag }
  })
}

function countedRoom(count: number, bastion: boolean): NodeOptions[] {
  if (!Number.isInteger(count) || count < 1) throw new Error(`A lab of ${count} nodes cannot be built; ask for 1 or more.`)
  const used = new Map<string, number>()
  return Array.from({ length: count }, (_, index) => {
    const { profile, behindBastion } = standardRoom[index % standardRoom.length]!
    const { prefix } = profileOf(profile)
    const number = (used.get(prefix) ?? 0) + 1
    used.set(prefix, number)
    // Only the first eight are the room of the tour; further nodes are there for their number and stand in the open.
    const hidden = bastion && behindBastion && index < standardRoom.length
    return { name: `${prefix}-${String(number).padStart(2, '0')}`, profile, behindBastion: hidden }
  })
}
