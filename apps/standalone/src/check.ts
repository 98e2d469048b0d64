import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { deadLinks } from './dead-links.ts'
import { root } from './root.ts'
import { step } from './say.ts'

// `npm run check`: all that can be known without a database. Every check is done and every failure shown; exit code 1 on any.
const bin = (name: string) => path.join(root, 'node_modules/.bin', name)
const checks: [title: string, () => Promise<void>][] = [
  ['Format and lint', () => run([bin('biome'), 'ci', '--colors=off', '.'])],
  ['Types', () => run([bin('tsc'), '-p', 'tsconfig.json'])],
  ['Types of the console', () => run([bin('turbo'), 'run', 'check', '--output-logs=errors-only'])],
  ['Borders between packages', () => run([bin('vitest'), 'run', 'boundaries'])],
  ['The GraphQL schema is printed', () => run([process.execPath, 'apps/api/src/print-schema.ts', '--check'])],
  ['Migrations cover the tables', migrationsAreComplete],
  ['Links in the documentation', linksLead],
]

const failures: string[] = []
// Two at a time: each of the slow ones keeps a core busy.
const queue = [...checks]
await Promise.all(
  [1, 2].map(async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [title, check] = next
      await step(title, check).catch((error: Error) => failures.push(`${title}:\n${error.message}`))
    }
  }),
)
if (failures.length) process.stdout.write(`\n${failures.join('\n\n')}\n`)
process.exit(failures.length ? 1 : 0)

async function run([program, ...args]: string[]): Promise<void> {
  const child = spawn(program!, args, { cwd: root, env: { ...process.env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(output.trim().split('\n').slice(-60).join('\n'))
}

/** drizzle-kit, given a copy of the migrations, must find nothing to add. */
async function migrationsAreComplete(): Promise<void> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-check-'))
  try {
    fs.cpSync(path.join(root, 'drizzle'), dir, { recursive: true })
    const before = fs.readdirSync(dir, { recursive: true }).length
    await run([
      bin('drizzle-kit'),
      'generate',
      '--dialect=postgresql',
      '--schema=./packages/core/src/db/schema.ts',
      `--out=${dir}`,
    ])
    if (fs.readdirSync(dir, { recursive: true }).length !== before) {
      throw new Error('The tables have changed and no migration says how. Run `npx drizzle-kit generate --name=what_it_does`.')
    }
  } finally {
    fs.rmSync(dir, { recursive: true, force: true })
  }
}

async function linksLead(): Promise<void> {
  const files = fs.globSync(['*.md', 'docs/**/*.md', '{apps,packages,playbooks}/**/*.md'], {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  })
  const dead = files.flatMap((file) => deadLinks(path.join(root, file)).map((link) => `${file}: ${link}`))
  if (dead.length) throw new Error(dead.join('\n'))
}
