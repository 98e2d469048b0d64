import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { root } from './root.ts'

// `npm run bench -- NAME` installs the programs that the benchmark starts.
type SystemPackages = {
  PROGRAMS: Record<string, { find: string[] }>
  needs: { lab: string[] }
  benchNeeds: Record<string, string[]>
}
const { PROGRAMS, needs, benchNeeds }: SystemPackages = await import(
  pathToFileURL(path.join(root, 'bin/setup/system-packages.mjs')).href
)
const benches = path.join(root, 'packages/bench/src/benches')
const names = fs.readdirSync(benches).map((file) => path.basename(file, '.ts'))

/** A source and the sources of the benchmarks that it imports or starts. */
function reachable(file: string, seen = new Map<string, string>()): Map<string, string> {
  if (seen.has(file)) return seen
  const text = fs.readFileSync(file, 'utf8')
  seen.set(file, text)
  for (const [, name] of text.matchAll(/'([\w./-]+\.(?:ts|pl|mjs))'/g)) {
    const next = path.resolve(path.dirname(file), name!)
    if (next.startsWith(path.join(root, 'packages/bench/')) && fs.existsSync(next)) reachable(next, seen)
  }
  return seen
}

/** Programs that the sources name: in a call that starts one, in quotes, or as the language of a script. */
function programsOf(sources: Map<string, string>): string[] {
  const known = Object.values(PROGRAMS).flatMap(({ find }) => find)
  const found = [...sources].flatMap(([file, text]) => [
    ...[...text.matchAll(/(?:spawn|spawnSync|execFile|execFileSync)\)?\('([\w-]+)'/g)].map(([, program]) => program!),
    ...known.filter((program) => text.includes(`'${program}'`)),
    ...(file.endsWith('.pl') ? ['perl'] : []),
  ])
  return [...new Set(found)]
}

/** Programs that need no entry: npm is part of Node, taskset of util-linux. */
const ALWAYS = ['npm', 'taskset']

test.each(names)('installs the programs of %s', (name) => {
  const purposes = [...needs.lab, ...(benchNeeds[name] ?? [])]
  const installed = purposes.flatMap((purpose) => PROGRAMS[purpose]!.find)
  const missing = programsOf(reachable(path.join(benches, `${name}.ts`))).filter(
    (program) => ![...installed, ...ALWAYS].includes(program),
  )
  expect(missing).toEqual([])
})

test('finds the programs of benchmarks', () => {
  expect(Object.keys(benchNeeds).filter((name) => !names.includes(name))).toEqual([])
  expect(programsOf(reachable(path.join(benches, 'heartbeats.ts')))).toEqual(
    expect.arrayContaining(['etcd', 'openssl', 'taskset']),
  )
  expect(programsOf(reachable(path.join(benches, 'discovery.ts')))).toEqual(expect.arrayContaining(['clush', 'pdsh']))
  expect(programsOf(reachable(path.join(benches, 'events.ts')))).toContain('perl')
})
