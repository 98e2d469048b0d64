import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Workspace packages that the sources of each part may import. Tests may also use the lab, core's test kit and the product. */
const MAY_IMPORT: Record<string, string[]> = {
  'packages/core': ['discovery'],
  'packages/discovery': [],
  'packages/lab': [],
  'packages/bench': ['lab', 'standalone'],
  'apps/api': ['core'],
  'apps/worker': ['core', 'discovery'],
  'apps/cli': [],
  'apps/console': [],
  'apps/standalone': [],
}
const TESTS_MAY_IMPORT = ['core', 'lab', 'bench', 'standalone']
const SHARED_FILES = ['config', 'context', 'errors', 'events', 'log', 'queue']

type Source = { part: string; file: string; text: string; isTest: boolean; imports: { spec: string; isType: boolean }[] }

const IMPORT = /^\s*(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]/gm
const DYNAMIC_IMPORT = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g

function sources(part: string): Source[] {
  return readdirSync(join(ROOT, part), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mts)$/.test(entry.name) && !/node_modules|\.next|dist/.test(entry.parentPath))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const text = readFileSync(path, 'utf8')
      const file = relative(ROOT, path)
      return {
        part,
        file,
        text,
        isTest: /\.test\.tsx?$|\/testing\/|\/e2e\/|\/test\//.test(file) || /\.config\.ts$/.test(file),
        imports: [
          ...[...text.matchAll(IMPORT)].map((m) => ({ spec: m[2]!, isType: Boolean(m[1]) })),
          ...[...text.matchAll(DYNAMIC_IMPORT)].map((m) => ({ spec: m[1]!, isType: false })),
        ],
      }
    })
}

const all = Object.keys(MAY_IMPORT).flatMap(sources)

describe('borders between the parts', () => {
  it('reads the whole tree', () => {
    expect(new Set(all.map((s) => s.part))).toEqual(new Set(Object.keys(MAY_IMPORT)))
  })

  it.each(Object.entries(MAY_IMPORT))('%s imports only %j', (part, allowed) => {
    const wrong = all
      .filter((s) => s.part === part)
      .flatMap((s) =>
        s.imports
          .map((i) => /^@muster\/([^/]+)/.exec(i.spec)?.[1])
          .filter((name) => name !== undefined)
          .filter(
            (name) => !allowed.includes(name) && !(s.isTest && TESTS_MAY_IMPORT.includes(name)) && !part.endsWith(`/${name}`),
          )
          .map((name) => `${s.file} imports ${name}`),
      )
    expect(wrong).toEqual([])
  })

  it('no relative import leaves its part', () => {
    const wrong = all.flatMap((s) =>
      s.imports
        .filter((i) => i.spec.startsWith('.'))
        .filter((i) => relative(join(ROOT, s.part), resolve(dirname(join(ROOT, s.file)), i.spec)).startsWith('..'))
        .map((i) => `${s.file} imports ${i.spec}`),
    )
    expect(wrong).toEqual([])
  })

  it('only the worker opens credentials', () => {
    const wrong = all
      .filter(
        (s) =>
          s.part !== 'apps/worker' &&
          s.part !== 'packages/core' &&
          s.imports.some((i) => i.spec === '@muster/core/credentials/access'),
      )
      .map((s) => s.file)
    expect(wrong).toEqual([])
  })

  it('the api writes through verbs only', () => {
    const wrong = all
      .filter(
        (s) => s.part === 'apps/api' && !s.isTest && /\b(?:db|tx)\s*\.\s*(?:insert|update|delete|transaction)\s*\(/.test(s.text),
      )
      .map((s) => s.file)
    expect(wrong).toEqual([])
  })
})

describe('inside core', () => {
  const core = all.filter((s) => s.part === 'packages/core' && !s.isTest)
  const domainOf = (file: string) => /^packages\/core\/src\/([^/]+)\//.exec(file)?.[1]
  const target = (s: Source, spec: string) => relative(ROOT, resolve(dirname(join(ROOT, s.file)), spec))
  const domains = ['nodes', 'groups', 'credentials', 'jobs', 'access']

  it('a domain reaches into another through its index or its tables only', () => {
    const wrong = core.flatMap((s) =>
      s.imports
        .filter((i) => i.spec.startsWith('.'))
        .map((i) => target(s, i.spec))
        .filter((to) => domains.includes(domainOf(to) ?? '') && domainOf(to) !== domainOf(s.file) && domainOf(s.file) !== 'db')
        .filter((to) => !/\/(index|tables)\.ts$/.test(to))
        .map((to) => `${s.file} imports ${to}`),
    )
    expect(wrong).toEqual([])
  })

  it('the shared files know no domain but its tables', () => {
    const wrong = core
      .filter((s) => SHARED_FILES.some((name) => s.file === `packages/core/src/${name}.ts`))
      .flatMap((s) =>
        s.imports
          .filter((i) => /^\.\/(nodes|groups|credentials|jobs|access)\/(?!tables\.ts)/.test(i.spec))
          .map((i) => `${s.file} imports ${i.spec}`),
      )
    expect(wrong).toEqual([])
  })

  it('has no HTTP, no GraphQL and no child processes', () => {
    const wrong = core.flatMap((s) =>
      s.imports
        .filter((i) => /^(node:(http|https|child_process)|graphql|graphql-yoga|express)$/.test(i.spec))
        .map((i) => `${s.file} imports ${i.spec}`),
    )
    expect(wrong).toEqual([])
  })

  it('what people may do is authorized and audited in its transaction', () => {
    const wrong = core
      .filter((s) => /\binTransaction\(/.test(s.text) && domainOf(s.file))
      // What a worker reports or a reconciler settles is no person's act: it proves the actor instead.
      .filter((s) => !/\b(requireWorker|requireSystem)\(/.test(s.text))
      .filter((s) => !/\bauthorize\(/.test(s.text) || !/\baudit\(/.test(s.text))
      .map((s) => s.file)
    expect(wrong).toEqual([])
  })
})
