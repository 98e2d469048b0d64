import type { Keeper } from '../namespaces/keeper.ts'
import type { PlannedNode } from '../plan.ts'
import type { LabState } from '../registry.ts'
export async function upOnLoopback(_state: LabState, _plan: PlannedNode[]): Promise<Keeper> {
  throw new Error('x')
}
