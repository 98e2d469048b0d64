import { defineRelationsPart } from 'drizzle-orm'
import { computeNodes } from '../nodes/tables.ts'
import { credentialRotations } from '../rotations/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, computeNodes, credentialRotations }, (r) => ({
  credentialKeys: {},
  credentials: {
    via: r.one.credentials({ from: r.credentials.viaId, to: r.credentials.id, alias: 'via' }),
    secretStore: r.one.secretStores({ from: r.credentials.secretStoreId, to: r.secretStores.id }),
    nodes: r.many.computeNodes({ from: r.credentials.id, to: r.computeNodes.credentialId, alias: 'credential' }),
    rotations: r.many.credentialRotations({ from: r.credentials.id, to: r.credentialRotations.credentialId, alias: 'rotated' }),
  },
  reencryptFailures: {},
  secretStores: { credentials: r.many.credentials({ from: r.secretStores.id, to: r.credentials.secretStoreId }) },
}))
