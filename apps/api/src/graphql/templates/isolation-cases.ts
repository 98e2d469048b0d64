import { uploadPlaybookBundle } from '@muster/core/templates'
import { zip } from '@muster/core/testing'
import { defineIsolation, EMPTY_PAGE, NOT_FOUND } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  objects: async ({ tenant, run }) => ({
    JobTemplate: { id: run.templateId },
    PlaybookBundle: await uploadPlaybookBundle(tenant.admin, { name: 'theirs.zip', content: zip([{ path: 'site.yml' }]) }),
  }),
  cases: {
    'Query.jobTemplates': { query: () => '{ it: jobTemplates { totalCount } }', answer: { it: { totalCount: 9 } } },
    'Query.playbookBundles': { query: () => '{ it: playbookBundles { edges { node { id } } } }', answer: { it: EMPTY_PAGE } },
    'Query.jobTemplate': {
      query: () => '{ it: jobTemplate(name: "connectivity_check") { runs: name } }',
      answer: { it: { runs: 'connectivity_check' } },
    },
    'Mutation.createJobTemplate': {
      query: ({ theirs }) =>
        `mutation { it: createJobTemplate(input: { name: "stolen", settings: { source: BUNDLE, bundleId: "${theirs.PlaybookBundle}", playbookPath: "site.yml" } }) { __typename } }`,
      answer: { it: { __typename: 'InvalidInputError' } },
    },
    'Mutation.updateJobTemplate': {
      query: ({ theirs }) =>
        `mutation { it: updateJobTemplate(input: { id: "${theirs.JobTemplate}", settings: { forks: 1 } }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.archiveJobTemplate': {
      query: ({ theirs }) => `mutation { it: archiveJobTemplate(input: { id: "${theirs.JobTemplate}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.restoreJobTemplate': {
      query: ({ theirs }) =>
        `mutation { it: restoreJobTemplate(input: { id: "${theirs.JobTemplate}", version: 1 }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.deletePlaybookBundle': {
      query: ({ theirs }) => `mutation { it: deletePlaybookBundle(input: { id: "${theirs.PlaybookBundle}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    // The same content creates a separate bundle.
    'Mutation.uploadPlaybookBundle': {
      query: () =>
        `mutation { it: uploadPlaybookBundle(input: { name: "mine.zip", content: "${zip([{ path: 'site.yml' }]).toString('base64')}" }) { __typename ... on UploadPlaybookBundlePayload { bundle { name } } } }`,
      answer: { it: { __typename: 'UploadPlaybookBundlePayload', bundle: { name: 'mine.zip' } } },
    },
  },
})
