import { NotFound } from '@muster/core/errors'
import { done } from './filters.ts'
import type { Answer, OpenchamiRequest } from './request.ts'

/** What components can have here, by the names of SMD. */
const VALUES: Record<string, string[]> = {
  Arch: ['X86', 'ARM', 'UNKNOWN', 'Other'],
  Class: ['River'],
  Flag: ['OK', 'Warning', 'Alert', 'Unknown'],
  NetType: ['Ethernet'],
  Role: ['Compute', 'Service', 'System', 'Application', 'Storage', 'Management'],
  State: ['Unknown', 'Populated', 'Off', 'On', 'Standby', 'Ready'],
  Type: ['Node', 'NodeBMC'],
}

export const ready = (): Answer => done('HSM is healthy')
export const liveness = (): Answer => ({ status: 204 })
export const values = (): Answer => ({ status: 200, body: VALUES })

export function valuesOf({ params: { kind } }: OpenchamiRequest): Answer {
  const name = Object.keys(VALUES).find((each) => each.toLowerCase() === kind!.toLowerCase())
  if (name === undefined) throw new NotFound(`There are no values of ${kind}. Use ${Object.keys(VALUES).join(', ')}.`)
  return { status: 200, body: { [name]: VALUES[name] } }
}
