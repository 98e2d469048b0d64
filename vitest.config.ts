import fs from 'node:fs'
import path from 'node:path'
import { defineConfig } from 'vitest/config'

// Every workspace folder with tests is a project; one that needs more than this has a vitest.config.ts of its own, which is extended.
// `npm test` gives them TEST_DATABASE_URL, a Postgres in which they may make databases. `*.long.test.ts` run with MUSTER_LONG_TESTS=1,
// which also makes fault tests try their full counts; 0.1 makes that a tenth (packages/core/src/testing/often.ts).
const folders = ['packages', 'apps'].flatMap((parent) =>
  fs
    .readdirSync(path.join(import.meta.dirname, parent))
    .map((name) => path.join(parent, name))
    .filter((folder) => fs.existsSync(path.join(import.meta.dirname, folder, 'package.json'))),
)

/** Many small files that leave nothing behind in their process: reading the libraries anew for each would take longer than its tests. */
const sharing = ['packages/core', 'packages/discovery', 'packages/protocol', 'apps/api', 'apps/cli']

export default defineConfig({
  test: {
    projects: folders.map((folder) => {
      const root = path.join(import.meta.dirname, folder)
      const own = path.join(root, 'vitest.config.ts')
      return {
        ...(fs.existsSync(own) ? { extends: own } : {}),
        root,
        test: {
          name: folder,
          isolate: !sharing.includes(folder),
          // Most of them wait for processes of their own most of the time. A project takes this from nowhere else.
          maxWorkers: 4,
          include: ['{src,test}/**/*.test.ts'],
          // Not what a test may take, but when it hangs: real databases, sshd and Ansible are slow on a busy machine.
          testTimeout: 300_000,
          hookTimeout: 300_000,
          exclude: process.env.MUSTER_LONG_TESTS ? [] : ['**/*.long.test.ts'],
        },
      }
    }),
  },
})
