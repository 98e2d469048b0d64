import type { LabState } from './registry.ts'
import type { FaultName, LabHost } from './types.ts'

/** What a mode of the lab can do to a running lab, from its owner or from any other process of the same user. */
export interface Backend {
  host(state: LabState, at: { name: string; host: string; port: number }): LabHost
  /** Faults that this mode cannot cause here, with the reason. */
  unavailable(state: LabState): Partial<Record<FaultName, string>>
  /** Causes the fault and remembers it for `heal`. */
  cause(state: LabState, node: string, fault: FaultName, args: object): Promise<void>
  /** Undoes what was caused, and returns when the node answers. */
  heal(state: LabState, node: string): Promise<void>
  ready(state: LabState, node: string): Promise<string>
}
