import { defineRelationsPart } from 'drizzle-orm'
import { credentials } from '../credentials/tables.ts'
import { computeNodes, nodeBmcs } from '../nodes/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, computeNodes, credentials, nodeBmcs }, (r) => ({
  bmcReadings: {
    bmc: r.one.nodeBmcs({ from: r.bmcReadings.bmcId, to: r.nodeBmcs.id, optional: false }),
  },
  powerRuns: {
    items: r.many.powerRunItems({ from: r.powerRuns.id, to: r.powerRunItems.runId }),
  },
  powerRunItems: {
    run: r.one.powerRuns({ from: r.powerRunItems.runId, to: r.powerRuns.id, optional: false }),
    node: r.one.computeNodes({ from: r.powerRunItems.nodeId, to: r.computeNodes.id }),
  },
  bmcDiscoveries: {
    credential: r.one.credentials({ from: r.bmcDiscoveries.credentialId, to: r.credentials.id, alias: 'bmcDiscovery' }),
    found: r.many.foundBmcs({ from: r.bmcDiscoveries.id, to: r.foundBmcs.discoveryId }),
  },
  foundBmcs: {
    discovery: r.one.bmcDiscoveries({ from: r.foundBmcs.discoveryId, to: r.bmcDiscoveries.id, optional: false }),
    node: r.one.computeNodes({ from: r.foundBmcs.nodeId, to: r.computeNodes.id }),
  },
}))
