import { defineRelationsPart } from 'drizzle-orm'
import { jobRuns } from '../runs/tables.ts'
import { jobTemplates } from '../templates/tables.ts'
import * as tables from './tables.ts'

const { schedules, scheduleFirings } = tables

export const relations = defineRelationsPart({ schedules, scheduleFirings, jobRuns, jobTemplates }, (r) => ({
  schedules: {
    template: r.one.jobTemplates({ from: r.schedules.templateId, to: r.jobTemplates.id }),
    firings: r.many.scheduleFirings({ from: r.schedules.id, to: r.scheduleFirings.scheduleId }),
  },
  scheduleFirings: {
    schedule: r.one.schedules({ from: r.scheduleFirings.scheduleId, to: r.schedules.id, optional: false }),
    run: r.one.jobRuns({ from: r.scheduleFirings.jobRunId, to: r.jobRuns.id }),
  },
}))
