import { defineRelationsPart } from 'drizzle-orm'
import { credentials } from '../credentials/tables.ts'
import { computeNodes } from '../nodes/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, computeNodes, credentials }, (r) => ({
  credentialRotations: {
    credential: r.one.credentials({
      from: r.credentialRotations.credentialId,
      to: r.credentials.id,
      optional: false,
      alias: 'rotated',
    }),
    leftCredential: r.one.credentials({ from: r.credentialRotations.leftCredentialId, to: r.credentials.id, alias: 'left' }),
    hosts: r.many.credentialRotationHosts({ from: r.credentialRotations.id, to: r.credentialRotationHosts.rotationId }),
  },
  credentialRotationHosts: {
    node: r.one.computeNodes({ from: r.credentialRotationHosts.nodeId, to: r.computeNodes.id, optional: false }),
    rotation: r.one.credentialRotations({
      from: r.credentialRotationHosts.rotationId,
      to: r.credentialRotations.id,
      optional: false,
    }),
  },
}))
