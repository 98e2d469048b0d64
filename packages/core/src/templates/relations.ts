import { defineRelationsPart } from 'drizzle-orm'
import { credentials } from '../credentials/tables.ts'
import { jobRuns } from '../runs/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, credentials, jobRuns }, (r) => ({
  jobTemplates: {
    runs: r.many.jobRuns({ from: r.jobTemplates.id, to: r.jobRuns.templateId }),
    bundle: r.one.playbookBundles({ from: r.jobTemplates.bundleId, to: r.playbookBundles.id }),
    gitCredential: r.one.credentials({ from: r.jobTemplates.gitCredentialId, to: r.credentials.id }),
    versions: r.many.jobTemplateVersions({ from: r.jobTemplates.id, to: r.jobTemplateVersions.templateId }),
  },
  jobTemplateVersions: {},
  playbookBundles: {},
}))
