import { defineRelationsPart } from 'drizzle-orm'
import { credentials } from '../credentials/tables.ts'
import { computeNodes } from '../nodes/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, computeNodes, credentials }, (r) => ({
  connectionTests: {
    node: r.one.computeNodes({ from: r.connectionTests.nodeId, to: r.computeNodes.id, optional: false }),
    credential: r.one.credentials({ from: r.connectionTests.credentialId, to: r.credentials.id }),
  },
}))
