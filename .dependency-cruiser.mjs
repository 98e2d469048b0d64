import fs from 'node:fs'

// Import rules of the workspace, checked by `npm run check`.

/** Workspace packages that each folder may import at run time. Type-only imports are not restricted. */
const MAY_IMPORT = {
  'apps/api': ['core', 'protocol'],
  'apps/worker': ['core', 'ledger', 'protocol', 'discovery', 'slurm'],
  'apps/console': [],
  'apps/cli': ['ledger'],
  'apps/agent': ['protocol', 'discovery'],
  'apps/standalone': ['core'],
  'packages/core': ['discovery', 'ledger', 'protocol', 'slurm'],
  'packages/ledger': [],
  'packages/protocol': [],
  'packages/discovery': [],
  'packages/slurm': [],
  'packages/lab': ['discovery'],
  'packages/bench': ['standalone', 'lab', 'core', 'protocol', 'discovery', 'slurm'],
}
const folders = Object.keys(MAY_IMPORT)
for (const folder of ['apps', 'packages'].flatMap((parent) => fs.readdirSync(parent).map((name) => `${parent}/${name}`))) {
  if (!MAY_IMPORT[folder]) throw new Error(`${folder} has no rule in .dependency-cruiser.mjs. Add it to MAY_IMPORT.`)
}
const folderOf = (name) => folders.find((folder) => folder.endsWith(`/${name}`))

/** Tests and their fixtures may import anything. */
const TEST_CODE = String.raw`\.test\.tsx?$|/testing/|\.d\.ts$`
/** What a domain of core shows others: public interfaces, also of sub-folders, and definitions without code. */
const CORE_PUBLIC = String.raw`/(index|tables|permissions|audit-actions|change-events|queues)\.ts$`
/** Folders of the console that all its domains use. */
const CONSOLE_SHARED = '^apps/console/src/(graphql|messages|ui)/'
const RUNTIME = { dependencyTypesNot: ['type-only'] }

const packageRules = folders.map((folder) => {
  const allowed = [folder, ...MAY_IMPORT[folder].map(folderOf)]
  return {
    name: `imports-of-${folder.replace('/', '-')}`,
    comment: `${folder} may import at run time only: ${MAY_IMPORT[folder].join(', ') || 'no other package'}.`,
    severity: 'error',
    from: { path: `^${folder}/src/`, pathNot: TEST_CODE },
    to: { path: '^(apps|packages)/', pathNot: `^(${allowed.join('|')})/`, ...RUNTIME },
  }
})

export default {
  forbidden: [
    ...packageRules,
    {
      name: 'credentials-only-in-worker',
      comment: 'Only the worker decrypts credentials.',
      severity: 'error',
      from: { path: '^(apps|packages)/[^/]+/src/', pathNot: `^apps/worker/|^packages/core/src/credentials/|${TEST_CODE}` },
      to: { path: '^packages/core/src/credentials/access' },
    },
    {
      name: 'core-without-transport',
      comment:
        'core speaks neither HTTP nor GraphQL and starts no processes, except for requests to URLs of users in kernel/outbound.',
      severity: 'error',
      from: { path: '^packages/core/src/', pathNot: `^packages/core/src/kernel/outbound/|${TEST_CODE}` },
      to: { path: '^(node:)?(http|https|http2|child_process)$|/node_modules/graphql' },
    },
    {
      name: 'core-domain-borders',
      comment: 'A domain of core imports index.ts, tables.ts and the definition files of another domain.',
      severity: 'error',
      from: { path: '^packages/core/src/([^/]+)/', pathNot: TEST_CODE },
      to: { path: '^packages/core/src/[^/]+/', pathNot: `^packages/core/src/($1|kernel)/|${CORE_PUBLIC}` },
    },
    {
      name: 'core-kernel-without-domains',
      comment: 'The kernel of core imports no domain.',
      severity: 'error',
      from: { path: '^packages/core/src/kernel/', pathNot: TEST_CODE },
      to: { path: '^packages/core/src/', pathNot: '^packages/core/src/kernel/' },
    },
    {
      name: 'core-registry-only-for-apps',
      comment: 'Only apps and tests import the registry.',
      severity: 'error',
      from: { path: '^packages/core/src/', pathNot: TEST_CODE },
      to: { path: '^packages/core/src/registry' },
    },
    {
      name: 'console-shared-without-domains',
      comment: 'graphql, messages and ui of the console import no domain.',
      severity: 'error',
      from: { path: CONSOLE_SHARED, pathNot: TEST_CODE },
      to: { path: '^apps/console/src/', pathNot: String.raw`${CONSOLE_SHARED}|/graphql-env\.d\.ts$` },
    },
    {
      name: 'console-domains-without-pages',
      comment: 'Only pages import other files of app/.',
      severity: 'error',
      from: { path: '^apps/console/src/', pathNot: `^apps/console/src/app/|${TEST_CODE}` },
      to: { path: '^apps/console/src/app/' },
    },
    {
      name: 'relative-imports-stay-in-package',
      comment: 'Import another package by its name, not by a relative path.',
      severity: 'error',
      from: { path: '^(apps|packages)/([^/]+)/src/', pathNot: TEST_CODE },
      to: { dependencyTypes: ['local'], pathNot: '^$1/$2/' },
    },
    {
      name: 'no-cycles',
      comment: 'Files must not import each other in a cycle, type-only imports included.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      comment: 'An import does not resolve to a file or package.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: String.raw`(^|/)(\.next|dist|fixtures)/|\.test\.tsx?$|^packages/bench/peers/` },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'apps/console/tsconfig.json' }, // resolves the console's @/ paths
    combinedDependencies: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
}
