import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { step } from '../print.ts'
import { root } from '../root.ts'
import { deadLinks } from './dead-links.ts'
import { findApiWrites, findCrowdedFolders, MAX_FILES_PER_FOLDER } from './source-rules.ts'

// `npm run check`: every check that needs no database. Runs all checks and prints all failures; exit code 1 on any failure.
const bin = (name: string) => path.join(root, 'node_modules/.bin', name)
const cache = (name: string) => path.join(root, '.tool/cache', name)
const failures: string[] = []
/** Path of ansible-lint; undefined where it cannot be installed. */
const lint = process.env.MUSTER_ANSIBLE_LINT

const checks: [title: string, check: () => unknown][] = [
  ['Types', () => checkTypes('.')],
  ['Types of the console and its browser tests', () => checkTypes('apps/console', 'apps/console/e2e')],
  ['Format and lint', () => run(bin('biome'), 'ci', '--colors=off', '.')],
  ...(lint ? ([['Playbooks pass the production profile of ansible-lint', () => lintPlaybooks(lint)]] as typeof checks) : []),
  ['Imports between packages and domains, import cycles', checkImports],
  ['Source rules', checkSources],
  ['GraphQL schema is up to date', () => run(process.execPath, 'apps/api/src/print-schema.ts', '--check')],
  ['GraphQL schema is compatible with the last release', () => run(process.execPath, 'apps/api/src/contract.ts', '--check')],
  ['GraphQL documents of the clients match the schema', checkDocuments],
  ['Table of permissions is up to date', () => run(process.execPath, 'apps/api/src/print-permissions.ts', '--check')],
  ['CLI reference is up to date', () => run(process.execPath, 'apps/cli/src/print-reference.ts', '--check')],
  ['Migrations match the tables', checkMigrations],
  ['Links in the documentation', checkLinks],
]

// Two at a time: each of the slow ones uses a core.
const queue = [...checks]
await Promise.all(
  [1, 2].map(async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [title, check] = next
      await step(title, async () => check()).catch((error: Error) => failures.push(`${title}:\n${error.message}`))
    }
  }),
)
if (failures.length) process.stdout.write(`\n${failures.join('\n\n')}\n`)
process.exit(failures.length ? 1 : 0)

/** Runs a program in the repository. */
function run(program: string, ...args: string[]): Promise<string> {
  return runIn(root, { ...process.env, NO_COLOR: '1' }, program, ...args)
}

/** Returns the output of a program. Throws with the end of it on a non-zero exit code. */
async function runIn(cwd: string, env: NodeJS.ProcessEnv, program: string, ...args: string[]): Promise<string> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(output.trim().split('\n').slice(-60).join('\n'))
  return output
}

/** Type-checks TypeScript projects with the native compiler, incrementally. */
async function checkTypes(...projects: string[]): Promise<void> {
  const tsc = path.join(root, 'node_modules/typescript-native/bin/tsc')
  const errors: string[] = []
  // Incremental checks miss modules that were installed or removed since, so a new lockfile starts a new state.
  const lockfile = createHash('sha256')
    .update(fs.readFileSync(path.join(root, 'pnpm-lock.yaml')))
    .digest('hex')
    .slice(0, 12)
  for (const project of projects) {
    const state = cache(`types-${lockfile}/${project.replaceAll(/\W/g, '-')}.tsbuildinfo`)
    const args = ['--project', project, '--noEmit', '--pretty', 'false', '--incremental', '--tsBuildInfoFile', state]
    // Each checker evaluates shared types again: the default of four takes 1.6 times the CPU time of one.
    args.push('--checkers', String(Math.max(1, Math.min(4, Math.floor(os.availableParallelism() / 2)))))
    await run(process.execPath, tsc, ...args).catch((error: Error) => errors.push(error.message))
  }
  if (errors.length) throw new Error(errors.join('\n'))
}

/** Checks the rules of .dependency-cruiser.mjs. */
async function checkImports(): Promise<void> {
  // Runs in this Node, because the one on PATH may be too old for dependency-cruiser.
  const depcruise = path.join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs')
  const args = ['apps', 'packages', '--config', '.dependency-cruiser.mjs', '--progress', 'none']
  await run(process.execPath, depcruise, ...args)
}

function checkSources(): void {
  const crowded = findCrowdedFolders(root)
  const writes = findApiWrites(root)
  if (crowded.length) throw new Error(`Split folders with more than ${MAX_FILES_PER_FOLDER} source files:\n${crowded.join('\n')}`)
  if (writes.length) throw new Error(`The API writes to the database; move these writes to packages/core:\n${writes.join('\n')}`)
}

/** Validates the documents of the CLI, the console and the benchmarks: gql.tada types an unknown field as `unknown`. */
function checkDocuments(): Promise<string> {
  const tada = path.join(root, 'apps/cli/node_modules/.bin/gql.tada')
  return run(tada, 'check', '--fail-on-warn', '--tsconfig', 'tsconfig.documents.json')
}

/** Runs drizzle-kit on a copy of the migrations; it must not generate another one. */
async function checkMigrations(): Promise<void> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-check-'))
  try {
    fs.cpSync(path.join(root, 'drizzle'), dir, { recursive: true })
    const before = fs.readdirSync(dir, { recursive: true }).length
    const schema = './packages/core/src/*/tables.ts'
    await run(bin('drizzle-kit'), 'generate', '--dialect=postgresql', `--schema=${schema}`, `--out=${dir}`)
    if (fs.readdirSync(dir, { recursive: true }).length !== before) {
      throw new Error('The tables have changed without a migration. Run `npx drizzle-kit generate --name=CHANGE`.')
    }
  } finally {
    fs.rmSync(dir, { recursive: true, force: true })
  }
}

/** Lints playbooks and roles, unless they are the same as in the last run that passed: it takes half a minute. */
async function lintPlaybooks(lint: string): Promise<void> {
  const playbooks = path.join(root, 'playbooks')
  const files = fs.globSync('**/*', { cwd: playbooks, withFileTypes: true }).filter((entry) => entry.isFile())
  const hash = createHash('sha256')
  for (const file of files.map(({ parentPath, name }) => path.join(parentPath, name)).sort())
    hash.update(`${path.relative(playbooks, file)}\0`).update(fs.readFileSync(file))
  const stamp = cache('ansible-lint')
  const state = hash.digest('hex')
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === state) return
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-lint-'))
  try {
    const env = {
      PATH: `${path.dirname(lint)}:${process.env.PATH}`,
      HOME: home,
      LANG: 'C.UTF-8',
      ANSIBLE_LIBRARY: path.join(playbooks, 'modules'),
    }
    const output = await runIn(playbooks, env, lint, '--offline', '--nocolor', '--strict')
    if (!/Passed: 0 failure\(s\), 0 warning\(s\)/.test(output) || !output.includes("'production'")) throw new Error(output)
    fs.writeFileSync(stamp, state)
  } finally {
    fs.rmSync(home, { recursive: true, force: true })
  }
}

function checkLinks(): void {
  const files = fs.globSync(['*.md', 'docs/**/*.md', '{apps,packages,playbooks}/**/*.md'], {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  })
  const dead = files.flatMap((file) => deadLinks(path.join(root, file)).map((link) => `${file}: ${link}`))
  if (dead.length) throw new Error(dead.join('\n'))
}
