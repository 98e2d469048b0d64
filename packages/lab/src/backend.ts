import type { LabState } from './registry.ts'
import type { FaultName, LabHost } from './types.ts'

/** Operations of a lab mode on a running lab. They work in the owner and in any other process of the same user. */
export interface Backend {
  host(state: LabState, host: { name: string; host: string; port: number }): LabHost
  /** Faults that this mode does not support, with the reason. */
  unavailable(state: LabState): Partial<Record<FaultName, string>>
  /** Injects the fault and records it for `heal`. */
  inject(state: LabState, node: string, fault: FaultName, args: object): Promise<void>
  /** Reverts all recorded faults and returns when the node answers. */
  heal(state: LabState, node: string): Promise<void>
  ready(state: LabState, node: string): Promise<string>
}
