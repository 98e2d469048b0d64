import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { commandsOf, HELP, program } from '../main.ts'

const SOURCES = fileURLToPath(new URL('..', import.meta.url))
const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))

it('accepts -o name, -o wide and --no-headers in every list', async () => {
  const lists = [...commandsOf(await program())].filter((command) => command.name() === 'list')
  expect(lists.length).toBeGreaterThan(10)
  for (const list of lists) {
    const options = new Map(list.options.map((option) => [option.long, option]))
    expect(options.get('--output')?.argChoices, list.parent?.name()).toEqual(['table', 'wide', 'name', 'json', 'yaml'])
    expect(options.has('--no-headers'), list.parent?.name()).toBe(true)
  }
})

it('explains every environment variable in its help', () => {
  const files = globSync('**/*.ts', { cwd: SOURCES, exclude: ['**/*.test.ts', 'testing/**'] })
  const used = files.flatMap((file) =>
    [...readFileSync(`${SOURCES}/${file}`, 'utf8').matchAll(/process\.env\.(\w+)/g)].map(([, name]) => name!),
  )
  expect(used).toContain('MUSTER_TOKEN')
  expect(execFileSync(process.execPath, [MAIN, '--help'], { encoding: 'utf8' })).toContain(HELP.trim())
  // Set by the terminal.
  expect(used.filter((name) => name !== 'TERM' && !HELP.includes(name))).toEqual([])
})

it('loads only what a command needs, because loading takes longer than most commands run', () => {
  const hook = 'import{registerHooks}from"node:module";registerHooks({load(u,c,n){process.stderr.write(u+"\\n");return n(u,c)}})'
  const modules = (...args: string[]) =>
    spawnSync(process.execPath, ['--import', `data:text/javascript,${hook}`, MAIN, ...args], { encoding: 'utf8' })
      .stderr.split('\n')
      .filter((url) => url.startsWith('file:'))
  for (const args of [['--version'], ['--help'], []]) {
    const loaded = modules(...args)
    expect(loaded.filter((url) => /\/commands\//.test(url)).map((url) => url.split('/').at(-2))).toEqual(['commands'])
    expect(loaded.length, args.join(' ')).toBeLessThan(20)
  }
  const folders = modules('queue', '--help').flatMap((url) => /\/commands\/(.+)\/[^/]+$/.exec(url)?.[1] ?? [])
  expect([...new Set(folders)]).toEqual(['run-queue'])
})
