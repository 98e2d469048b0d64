import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { ENTRIES } from './commands/index.ts'
import { commandsOf, program } from './main.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))
/** Standard output of `muster` in its own process, because the library prints with `console.log`. */
const muster = (...args: string[]) => execFileSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' })

it('prints a completion script for each shell', () => {
  for (const [shell, text] of [
    ['bash', 'complete -F __muster_complete muster'],
    ['zsh', '#compdef muster'],
    ['fish', 'complete -c muster'],
  ] as const)
    expect(muster('completion', shell)).toContain(text)
})

it('completes commands, subcommands and option values', () => {
  const complete = (...words: string[]) => muster('complete', '--', ...words)
  expect(complete('alert')).toMatch(/^alert\t.*\nalert-route\t/)
  expect(complete('node', 'l')).toMatch(/^list\tlist nodes$/m)
  expect(complete('node', 'list', '--no')).toMatch(/^--no-headers\t/m)
  expect(complete('node', 'list', '-o', '')).toMatch(/^wide\t/m)
})

it('describes every command and loads only the requested one', async () => {
  const all = await program()
  expect([...commandsOf(all)].filter((command) => !command.description()).map((command) => command.name())).toEqual([])
  const one = await program((entry) => entry.name === 'node')
  expect(one.commands.filter((command) => command.commands.length > 0).map((command) => command.name())).toEqual(['node'])
  expect(one.commands.map((command) => command.name())).toEqual(ENTRIES.map((entry) => entry.name))
})
