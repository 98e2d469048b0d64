import { defineRelationsPart } from 'drizzle-orm'
import { computeNodes } from '../nodes/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, computeNodes }, (r) => ({
  discoveries: { node: r.one.computeNodes({ from: r.discoveries.nodeId, to: r.computeNodes.id, optional: false }) },
  discoveryEvidence: {},
}))
