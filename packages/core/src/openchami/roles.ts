import type { NodeType } from '../nodes/tables.ts'

/** SMD's roles by the type of a node. */
export const ROLES: Record<NodeType, string> = {
  COMPUTE: 'Compute',
  LOGIN: 'Application',
  CONTROLLER: 'Management',
  STORAGE: 'Storage',
  OTHER: 'Service',
}
