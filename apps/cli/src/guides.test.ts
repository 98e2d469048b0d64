import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Product, startProduct } from '@muster/bench/product'
import type { Lab } from '@muster/lab'
import { given } from '@muster/lab/given'
import type { Command } from 'commander'
import { buildSchema, type GraphQLSchema, isInputObjectType, isInterfaceType, isObjectType, parse, validate } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeEnvironment } from '../../../packages/core/src/testing/index.ts'
import { program } from './main.ts'
import {
  asExpected,
  asPattern,
  type Block,
  codeSpans,
  idsOf,
  musterCommands,
  readGuide,
  squeeze,
  whyNotRun,
} from './testing/guide.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const guides = ['docs/operate.md', 'docs/integrate.md'].map((path) => ({ path, ...readGuide(join(ROOT, path)) }))

describe('the guides name what there is', () => {
  const schema = buildSchema(readFileSync(join(ROOT, 'apps/api/schema.graphql'), 'utf8'))

  it.each(guides)('commands of $path', ({ blocks, prose }) => {
    const shown = blocks.filter((block) => block.language === 'sh').map((block) => block.text)
    const commands = [...shown, ...codeSpans(prose)].flatMap(musterCommands)
    expect(commands.flatMap((words) => whyNoCommand(words) ?? [])).toEqual([])
  })

  it.each(guides)('fields and arguments of $path', ({ blocks, prose }) => {
    const wrong = blocks
      .filter((block) => block.language === 'graphql')
      .flatMap(({ line, text }) => validate(schema, parse(text)).map((error) => `line ${line}: ${error.message}`))
    expect([...wrong, ...codeSpans(prose).flatMap((code) => whyNoField(schema, code) ?? [])]).toEqual([])
  })

  it('lists what cannot run here', () => {
    const left = guides.flatMap(({ path, blocks }) => blocks.flatMap((b) => (whyNotRun(b) ? `${path}: ${whyNotRun(b)}` : [])))
    expect(left).toEqual([
      'docs/operate.md: stops the product that the examples run on',
      'docs/operate.md: needs a Vault or OpenBao',
    ])
  })
})

describe('the guides as they stand, one after the other, with the product and a lab', () => {
  let product: Product
  let lab: Lab
  let home: string
  let env: Record<string, string>

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'muster-guides-'))
    const nodes = [
      { name: 'gpu01', profile: 'h100x8' as const },
      { name: 'gpu02', profile: 'h100x8' as const },
      { name: 'gpu03', profile: 'mi300x8' as const },
    ]
    ;[product, lab] = await Promise.all([startProduct({}), given.lab({ nodes })])
    env = shellEnvironment(home)
    giveFiles(home, lab)
    await sh(`muster login ${product.url}/sign-in?token=${product.linkToken}`, home, env)
    const { token } = JSON.parse(readFileSync(join(home, '.config/muster/cli.json'), 'utf8')) as { token: string }
    Object.assign(env, { MUSTER_URL: product.url, MUSTER_TOKEN: token })
  }, 600_000)
  afterAll(async () => {
    await product?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  it.each(guides)('$path', { timeout: 1_200_000 }, async ({ path, blocks }) => {
    const wrong: string[] = []
    for (const [i, block] of blocks.entries())
      if (!whyNotRun(block))
        await carryOut(block, blocks[i + 1]).catch((error: Error) => wrong.push(`${path}:${block.line}: ${error.message}`))
    expect(wrong.join('\n\n')).toBe('')
  })

  /** Run one block; what its guide shows below it, as text or JSON, must be what it said. */
  async function carryOut(block: Block, next: Block | undefined): Promise<void> {
    const [, file] = /^# (\S+\.yml)\n/.exec(block.text) ?? []
    if (block.language === 'yaml' && file) writeFileSync(join(home, file), block.text)
    if (block.language === 'sh') {
      const { code, out, err } = await sh(block.text, home, env)
      expect(code, `${err}\n${out}`).toBe(Number(/^exit=(\d+)/.exec(block.rest)?.[1] ?? 0))
      if (next?.language === 'text') expect(asPattern(next.text).test(squeeze(out)), `it said\n${err}\n${out}`).toBe(true)
    }
    if (block.language === 'graphql') {
      const { data, errors } = await ask(
        block.text,
        JSON.parse(block.rest || '{}', (_, value) => filled(value)),
      )
      expect(errors).toBeUndefined()
      const refused = Object.values(data!).filter((value) => value && typeof value === 'object' && 'message' in value)
      expect(refused).toEqual([])
      for (const [name, id] of idsOf(data)) env[name] = id
      if (next?.language === 'json') {
        const shown = JSON.parse(next.text) as unknown
        expect(asExpected(shown, data)).toEqual(shown)
      }
    }
  }

  /** `$NAME` in variables of an operation: the last id in an answer by that name, or a variable of the shell. */
  function filled(value: unknown): unknown {
    if (typeof value !== 'string' || !value.startsWith('$')) return value
    const found = env[value.slice(1)]
    if (found === undefined) throw new Error(`nothing before gave ${value}`)
    return found
  }

  async function ask(query: string, variables: unknown) {
    const response = await fetch(`${product.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${env.MUSTER_TOKEN}` },
      body: JSON.stringify({ query, variables }),
    })
    return (await response.json()) as { data?: Record<string, unknown>; errors?: unknown[] }
  }
})

/** Run a shell text; what it sets is set for the next ones, in `env`. */
async function sh(text: string, home: string, env: Record<string, string>) {
  const kept = join(home, '.kept')
  const script = `set -euo pipefail; set -a; trap 'env -0 > ${kept}' EXIT\n${text}`
  const child = spawn('bash', ['-c', script], { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => (said.out += chunk))
  child.stderr.on('data', (chunk) => (said.err += chunk))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  for (const pair of readFileSync(kept, 'utf8').split('\0').filter(Boolean)) {
    const [, name, value] = /^(\w+)=(.*)$/s.exec(pair) ?? []
    if (name && value !== undefined) env[name] = value
  }
  return { code, ...said }
}

/** `muster`, Ansible and git as a person has them. */
function shellEnvironment(home: string): Record<string, string> {
  const bin = join(home, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'muster'), `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'apps/cli/src/main.ts')}' "$@"\n`)
  chmodSync(join(bin, 'muster'), 0o755)
  const ansible = process.env.ANSIBLE_PLAYBOOK ? [dirname(process.env.ANSIBLE_PLAYBOOK)] : []
  return {
    ...nodeEnvironment,
    PATH: [bin, ...ansible, process.env.PATH].join(delimiter),
    HOME: home,
    EDITOR: 'true',
    LC_ALL: 'C.UTF-8',
    MUSTER_SOURCE: ROOT,
  }
}

/** What the guides say that their reader has: a key, a list of machines, and their fingerprints. */
function giveFiles(home: string, lab: Lab): void {
  writeFileSync(join(home, 'ops_key'), lab.credentials.sshKey.privateKey, { mode: 0o600 })
  writeFileSync(
    join(home, 'nodes.csv'),
    ['name,host,port', ...lab.nodes.map((n) => `${n.name},${n.host},${n.port}`), ''].join('\n'),
  )
  writeFileSync(join(home, 'fingerprints'), lab.nodes.map((n) => `${n.name} ${n.hostKeyFingerprint}\n`).join(''))
}

/** What is wrong with a command of the guides, as far as its names go: words and options. */
function whyNoCommand(words: string[]): string | null {
  let command: Command = program()
  const rest = [...words]
  while (rest[0] && !rest[0].startsWith('-') && command.commands.length > 0) {
    const next = command.commands.find((one) => one.name() === rest[0] || one.aliases().includes(rest[0]!))
    if (!next && command.registeredArguments.length === 0) return `muster ${words.join(' ')}: there is no ${rest[0]}`
    if (!next) break
    command = next
    rest.shift()
  }
  const known = command.options.flatMap((option) => [option.short, option.long])
  const strange = rest.filter((word) => /^--?[a-zA-Z]/.test(word) && !known.includes(word.split('=')[0]!))
  return strange.length > 0 ? `muster ${words.join(' ')}: there is no ${strange.join(', ')}` : null
}

/** What is wrong with code that is about GraphQL: `Type.field`, `field(argument: …)` and `fieldOfSomething`. */
function whyNoField(schema: GraphQLSchema, code: string): string | null {
  const types = Object.values(schema.getTypeMap()).filter((t) => isObjectType(t) || isInterfaceType(t) || isInputObjectType(t))
  const [, owner, field] = /^([A-Z]\w+)\.([a-z]\w*)$/.exec(code) ?? []
  if (owner) {
    const type = types.find((t) => t.name === owner)
    return type && field! in type.getFields() ? null : `there is no ${code}`
  }
  const [, name, given] = /^([a-z]+[A-Z]\w*|queue|workers)(?:\(([^{)]*)[^)]*\))?$/.exec(code) ?? []
  if (!name) return null
  const args = (given?.match(/\b[a-z]\w*(?=:|,|$)/gi) ?? []).filter((word) => !/^[A-Z]/.test(word))
  const fields = types.flatMap((t): { name: string; args?: readonly { name: string }[] }[] => Object.values(t.getFields()))
  const isField = fields.some((f) => f.name === name && args.every((arg) => f.args?.some((one) => one.name === arg)))
  const isArgument = args.length === 0 && fields.some((f) => f.args?.some((one) => one.name === name))
  return isField || isArgument ? null : `there is no ${code}`
}
