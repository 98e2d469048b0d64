import { defineRelationsPart } from 'drizzle-orm'
import { computeNodes } from '../nodes/tables.ts'
import { jobTemplates, playbookBundles } from '../templates/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, computeNodes, jobTemplates, playbookBundles }, (r) => ({
  jobArtifacts: { run: r.one.jobRuns({ from: r.jobArtifacts.jobRunId, to: r.jobRuns.id, optional: false }) },
  jobRunEvents: {},
  jobRunBatches: {
    run: r.one.jobRuns({ from: r.jobRunBatches.jobRunId, to: r.jobRuns.id, optional: false, alias: 'batches' }),
    childRun: r.one.jobRuns({ from: r.jobRunBatches.childRunId, to: r.jobRuns.id, alias: 'childRun' }),
  },
  jobRunSlurmNodes: {
    run: r.one.jobRuns({ from: r.jobRunSlurmNodes.jobRunId, to: r.jobRuns.id, optional: false }),
  },
  jobRunHosts: {
    run: r.one.jobRuns({ from: r.jobRunHosts.jobRunId, to: r.jobRuns.id, optional: false }),
    node: r.one.computeNodes({ from: r.jobRunHosts.nodeId, to: r.computeNodes.id }),
  },
  jobRuns: {
    template: r.one.jobTemplates({ from: r.jobRuns.templateId, to: r.jobTemplates.id, optional: false }),
    bundle: r.one.playbookBundles({ from: r.jobRuns.bundleId, to: r.playbookBundles.id }),
    hosts: r.many.jobRunHosts({ from: r.jobRuns.id, to: r.jobRunHosts.jobRunId }),
    batches: r.many.jobRunBatches({ from: r.jobRuns.id, to: r.jobRunBatches.jobRunId, alias: 'batches' }),
    slurmNodes: r.many.jobRunSlurmNodes({ from: r.jobRuns.id, to: r.jobRunSlurmNodes.jobRunId }),
    /** The batch for which another run started this one. */
    batchOf: r.one.jobRunBatches({ from: r.jobRuns.id, to: r.jobRunBatches.childRunId, alias: 'childRun' }),
    artifacts: r.many.jobArtifacts({ from: r.jobRuns.id, to: r.jobArtifacts.jobRunId }),
    parent: r.one.jobRuns({ from: r.jobRuns.parentRunId, to: r.jobRuns.id, alias: 'parent' }),
    retries: r.many.jobRuns({ from: r.jobRuns.id, to: r.jobRuns.parentRunId, alias: 'parent' }),
  },
  runSecrets: {},
}))
