import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Every workspace folder is a project, which extends its own vitest.config.ts if there is one.
// `npm test` sets TEST_DATABASE_URL, a Postgres where tests create databases. `*.long.test.ts` run with MUSTER_LONG_TESTS=1,
// which also makes fault tests try their full counts; 0.1 makes that a tenth (packages/core/src/testing/scale-iterations.ts).
const folders = ['packages', 'apps'].flatMap((parent) =>
  fs
    .readdirSync(path.join(import.meta.dirname, parent))
    .map((name) => path.join(parent, name))
    .filter((folder) => fs.existsSync(path.join(import.meta.dirname, folder, 'package.json'))),
)

/** Projects whose test files share a process, because importing the libraries per file takes longer than the tests. */
const SHARED_PROCESS = [
  'packages/core',
  'packages/discovery',
  'packages/protocol',
  'packages/slurm',
  'apps/api',
  'apps/cli',
  'apps/worker',
]

/** Vite would choose another build of graphql than Node does for the libraries; instances of both cannot be mixed. */
const graphqlAlias = [
  { find: /^graphql$/, replacement: createRequire(path.join(import.meta.dirname, 'apps/api/package.json')).resolve('graphql') },
]

/** Files that take longest, the longest first. They start first: one that starts last would run alone at the end. */
const LONGEST = [
  'apps/cli/src/guides.test.ts',
  'apps/worker/src/ansible/execute-run.lab.test.ts',
  'apps/worker/src/playbooks/templates.lab.test.ts',
  'apps/standalone/src/start.test.ts',
  'apps/api/src/isolation.test.ts',
  'apps/worker/src/ansible/execute-run.test.ts',
  'apps/standalone/src/backup/backup.test.ts',
  'packages/bench/src/faults.test.ts',
  'apps/worker/src/ansible/isolation/isolation.test.ts',
  'apps/worker/src/main.test.ts',
  'apps/cli/src/main.test.ts',
  'packages/lab/src/lab.test.ts',
  'packages/lab/src/ownership.test.ts',
].map((file) => path.join(import.meta.dirname, file))

/** Vitest orders by project, and by durations of earlier runs, which a fresh clone does not have. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => (LONGEST.includes(moduleId) ? LONGEST.indexOf(moduleId) : LONGEST.length)
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: folders.map((folder) => {
      const root = path.join(import.meta.dirname, folder)
      const projectConfig = path.join(root, 'vitest.config.ts')
      return {
        ...(fs.existsSync(projectConfig) ? { extends: projectConfig } : {}),
        root,
        resolve: { alias: graphqlAlias },
        test: {
          name: folder,
          isolate: !SHARED_PROCESS.includes(folder),
          // Most tests wait for processes most of the time. Must be set per project: projects do not inherit it.
          maxWorkers: 6,
          include: ['{src,test}/**/*.test.ts'],
          // Detects hanging tests, with room for real databases, sshd and Ansible on a busy machine.
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // How long `expect.poll` waits for its condition.
          expect: { poll: { timeout: 120_000, interval: 20 } },
          exclude: process.env.MUSTER_LONG_TESTS ? [] : ['**/*.long.test.ts'],
        },
      }
    }),
  },
})
