import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from './root.ts'

// Who may import whom when it runs. Types leave no trace, and tests with their fixtures may import anything of the workspace.
const MAY_IMPORT: Record<string, string[]> = {
  'apps/api': ['core', 'protocol'],
  'apps/worker': ['core', 'protocol', 'discovery'],
  'apps/console': [],
  'apps/cli': [],
  'apps/agent': ['protocol', 'discovery'],
  'apps/standalone': [],
  'packages/core': ['discovery', 'protocol'],
  'packages/protocol': [],
  'packages/discovery': [],
  'packages/lab': ['discovery'],
  'packages/bench': ['standalone', 'lab', 'core', 'protocol', 'discovery'],
}
const SHARED = ['context.ts', 'errors.ts', 'events.ts', 'queue.ts']

type Import = { from: string; to: string; typeOnly: boolean }

const folders = ['apps', 'packages'].flatMap((parent) =>
  fs.readdirSync(path.join(root, parent)).map((name) => `${parent}/${name}`),
)
const files = folders.flatMap((folder) =>
  fs.globSync(`${folder}/src/**/*.{ts,tsx}`, { cwd: root }).filter((file) => !/\.test\.tsx?$|\/testing\/|\.d\.ts$/.test(file)),
)
const imports = files.flatMap(importsOf)
const inCore = (file: string) => path.relative('packages/core/src', file)

test('every workspace folder has a rule', () => {
  expect(folders.filter((folder) => !(folder in MAY_IMPORT))).toEqual([])
  expect(files.length).toBeGreaterThan(100)
})

test('a package imports only those that it may', () => {
  const wrong = imports.filter(({ from, to, typeOnly }) => {
    const target = typeOnly ? undefined : /^@muster\/(\w+)/.exec(to)?.[1]
    const own = from.split('/').slice(0, 2).join('/')
    return target && !MAY_IMPORT[own]?.includes(target)
  })
  expect(wrong.map(show)).toEqual([])
})

test('a relative import stays in its package', () => {
  const wrong = imports.filter(
    ({ from, to }) => !to.startsWith('@') && !to.startsWith(`${from.split('/').slice(0, 2).join('/')}/`),
  )
  expect(wrong.filter(({ to }) => files.includes(to)).map(show)).toEqual([])
})

test('only the worker opens credentials', () => {
  const wrong = imports.filter(({ from, to }) => to === '@muster/core/credentials/access' && !from.startsWith('apps/worker/'))
  expect(wrong.map(show)).toEqual([])
})

test('the API writes nothing by itself', () => {
  const wrong = files.filter(
    (file) => file.startsWith('apps/api/') && /\b(db|tx)\s*\.(insert|update|delete|transaction)\(/.test(code(file)),
  )
  expect(wrong).toEqual([])
})

test('core speaks no HTTP, no GraphQL and starts no processes', () => {
  const wrong = imports.filter(
    ({ from, to }) => from.startsWith('packages/core/') && /^(node:(http|https|http2|child_process)|graphql.*)$/.test(to),
  )
  expect(wrong.map(show)).toEqual([])
})

test('in core, a domain shows others its index.ts, and its tables.ts for joins; what all share knows tables at most', () => {
  const wrong = imports.filter(({ from, to, typeOnly }) => {
    if (!from.startsWith('packages/core/src/') || !to.startsWith('packages/core/src/') || typeOnly) return false
    const [source, target] = [inCore(from).split('/'), inCore(to).split('/')]
    if (source[0] === target[0] || target.length === 1 || target[0] === 'db') return false
    const face = SHARED.includes(source[0]!) ? ['tables.ts'] : ['index.ts', 'tables.ts']
    return source[0] !== 'db' && !(target.length === 2 && face.includes(target[1]!))
  })
  expect(wrong.map(show)).toEqual([])
})

test('domains do not import each other in circles', () => {
  const next = new Map<string, string[]>()
  for (const { from, to, typeOnly } of imports)
    if (!typeOnly && files.includes(to)) next.set(from, [...(next.get(from) ?? []), to])
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, trail: string[]) => {
    if (trail.includes(file)) circles.push([...trail.slice(trail.indexOf(file)), file].join(' -> '))
    else if (!done.has(file)) for (const to of next.get(file) ?? []) visit(to, [...trail, file])
    done.add(file)
  }
  for (const file of next.keys()) visit(file, [])
  const domains = (circle: string) => new Set(circle.split(' -> ').map((file) => file.split('/').slice(0, 4).join('/')))
  expect(circles.filter((circle) => domains(circle).size > 1)).toEqual([])
})

/** Imports and re-exports of a file, relative ones as paths from the repository. */
function importsOf(from: string): Import[] {
  return [
    ...code(from).matchAll(
      /^\s*(?:import|export)\s+(type\s)?(?:[\w*{][^'"]*?\sfrom\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm,
    ),
  ].map(([, type, named, dynamic]) => {
    const to = (named ?? dynamic)!
    return {
      from,
      to: to.startsWith('.') ? path.join(path.dirname(from), to) : to,
      typeOnly: Boolean(type) || dynamic !== undefined,
    }
  })
}

function code(file: string): string {
  return fs
    .readFileSync(path.join(root, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
}

function show({ from, to }: Import): string {
  return `${from} imports ${to}`
}
