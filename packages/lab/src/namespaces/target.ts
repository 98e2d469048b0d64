import path from 'node:path'
import type { LabState } from '../registry.ts'
import { hiddenBridge, openBridge, portOf } from './network.ts'
import { labRoot } from './start.ts'

/** The host that a fault is injected into. `dir` is its directory on the lab's tmpfs, as a path of this machine. */
export interface FaultTarget {
  state: LabState
  name: string
  dir: string
  supervisor: number
  /** The node's bridge port. */
  port: string
  /** Named network namespace of the port; null for the lab's. */
  netns: string | null
  bridge: string
}

export function targetOf(state: LabState, name: string): FaultTarget {
  const index = state.nodes.findIndex((node) => node.name === name)
  const hidden = state.nodes[index]?.behindBastion ?? false
  return {
    state,
    name,
    dir: path.join(labRoot(state), 'nodes', name),
    supervisor: state.supervisors[0]!.pid,
    port: portOf(index < 0 ? state.nodes.length : index),
    netns: hidden ? 'bastion' : null,
    bridge: hidden ? hiddenBridge : openBridge,
  }
}
