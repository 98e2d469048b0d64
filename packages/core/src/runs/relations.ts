import { defineRelationsPart } from 'drizzle-orm'
import { computeNodes } from '../nodes/tables.ts'
import { jobTemplates, playbookBundles } from '../templates/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, computeNodes, jobTemplates, playbookBundles }, (r) => ({
  jobArtifacts: { run: r.one.jobRuns({ from: r.jobArtifacts.jobRunId, to: r.jobRuns.id, optional: false }) },
  jobRunEvents: {},
  jobRunHosts: {
    run: r.one.jobRuns({ from: r.jobRunHosts.jobRunId, to: r.jobRuns.id, optional: false }),
    node: r.one.computeNodes({ from: r.jobRunHosts.nodeId, to: r.computeNodes.id }),
  },
  jobRuns: {
    template: r.one.jobTemplates({ from: r.jobRuns.templateId, to: r.jobTemplates.id, optional: false }),
    bundle: r.one.playbookBundles({ from: r.jobRuns.bundleId, to: r.playbookBundles.id }),
    hosts: r.many.jobRunHosts({ from: r.jobRuns.id, to: r.jobRunHosts.jobRunId }),
    artifacts: r.many.jobArtifacts({ from: r.jobRuns.id, to: r.jobArtifacts.jobRunId }),
    parent: r.one.jobRuns({ from: r.jobRuns.parentRunId, to: r.jobRuns.id, alias: 'parent' }),
    retries: r.many.jobRuns({ from: r.jobRuns.id, to: r.jobRuns.parentRunId, alias: 'parent' }),
  },
  runSecrets: {},
}))
