import { defineRelationsPart } from 'drizzle-orm'
import { jobRuns } from '../runs/tables.ts'
import { jobTemplates } from '../templates/tables.ts'
import * as tables from './tables.ts'

const { triggers, triggerDeliveries } = tables

export const relations = defineRelationsPart({ triggers, triggerDeliveries, jobRuns, jobTemplates }, (r) => ({
  triggers: {
    template: r.one.jobTemplates({ from: r.triggers.templateId, to: r.jobTemplates.id, optional: false }),
    deliveries: r.many.triggerDeliveries({ from: r.triggers.id, to: r.triggerDeliveries.triggerId }),
  },
  triggerDeliveries: {
    trigger: r.one.triggers({ from: r.triggerDeliveries.triggerId, to: r.triggers.id, optional: false }),
    run: r.one.jobRuns({ from: r.triggerDeliveries.jobRunId, to: r.jobRuns.id }),
  },
}))
