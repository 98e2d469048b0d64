import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Product, startProduct } from '@muster/bench/product'
import { canRunSlurm, type Lab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import type { Command } from 'commander'
import { buildSchema, type GraphQLSchema, isInputObjectType, isInterfaceType, isObjectType, parse, validate } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeEnvironment } from '../../../packages/core/src/testing/index.ts'
import { buildBundle } from '../packaging/build.ts'
import { program } from './main.ts'
import {
  asExpected,
  asPattern,
  type Block,
  codeSpans,
  idsOf,
  musterCommands,
  readGuide,
  runBlockedReason,
  squeeze,
} from './testing/guide.ts'
import { plantCanaries } from './testing/plant-canaries.ts'
import { type Canary, databasePlaces, findSecrets, formsOf, readFiles } from './testing/search-secrets.ts'

const SAMPLER = fileURLToPath(new URL('./testing/sample-processes.ts', import.meta.url))

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const guides = [
  'docs/operate.md',
  'docs/schedules.md',
  'docs/integrate.md',
  'docs/agents.md',
  'docs/slurm.md',
  'docs/secure.md',
  'docs/manifests.md',
  'docs/boot.md',
].map((path) => ({
  path,
  ...readGuide(join(ROOT, path)),
}))

describe('names in the guides', () => {
  const schema = buildSchema(readFileSync(join(ROOT, 'apps/api/schema.graphql'), 'utf8'))

  it.each(guides)('commands of $path exist', async ({ blocks, text: prose }) => {
    const muster = await program()
    const shown = blocks.filter((block) => block.language === 'sh').map((block) => block.text)
    const commands = [...shown, ...codeSpans(prose)].flatMap(musterCommands)
    expect(commands.flatMap((words) => invalidCommand(muster, words) ?? [])).toEqual([])
  })

  it.each(guides)('fields and arguments of $path exist', ({ blocks, text: prose }) => {
    const wrong = blocks
      .filter((block) => block.language === 'graphql')
      .flatMap(({ line, text }) => validate(schema, parse(text)).map((error) => `line ${line}: ${error.message}`))
    expect([...wrong, ...codeSpans(prose).flatMap((code) => invalidField(schema, code) ?? [])]).toEqual([])
  })

  it('lists the blocks that are not run', () => {
    const left = guides.flatMap(({ path, blocks }) =>
      blocks.flatMap((b) => (runBlockedReason(b) ? `${path}: ${runBlockedReason(b)}` : [])),
    )
    expect(left).toEqual([
      'docs/operate.md: needs a BMC',
      'docs/operate.md: needs a BMC',
      'docs/operate.md: needs BMCs',
      'docs/operate.md: stops the product that the examples run on',
      'docs/operate.md: needs a secret store',
      'docs/operate.md: backs up the installation of npm start',
      'docs/operate.md: starts another installation',
      'docs/operate.md: starts another version',
      'docs/operate.md: needs an installation administrator',
      'docs/agents.md: takes minutes; packaging.test.ts builds',
      'docs/agents.md: installs a package on this machine',
      'docs/agents.md: needs systemd',
      'docs/agents.md: needs a changed key',
      'docs/agents.md: needs a running service',
      'docs/agents.md: needs systemd',
      'docs/slurm.md: needs slurmrestd',
      'docs/slurm.md: needs slurmrestd',
      'docs/slurm.md: needs slurmdbd',
      'docs/slurm.md: needs nodes that the inventory lacks',
      'docs/slurm.md: takes nodes out of service',
      'docs/slurm.md: needs a Slurm controller',
      'docs/slurm.md: needs a Slurm controller',
      'docs/slurm.md: installs Slurm on nodes',
      'docs/slurm.md: needs a managed cluster',
      'docs/slurm.md: needs a managed cluster and BMCs',
      'docs/slurm.md: needs a salt-api',
      'docs/slurm.md: needs a salt-api',
      'docs/secure.md: needs a member who has accepted',
      "docs/secure.md: removes the owner's password",
      'docs/secure.md: needs a mail server',
      'docs/secure.md: changes a user',
      'docs/secure.md: needs a Slurm cluster',
      'docs/secure.md: signs in to another installation',
      'docs/secure.md: needs a provider',
      'docs/secure.md: needs a person with a browser',
      'docs/secure.md: settings of the API',
      'docs/secure.md: settings of the API',
      'docs/secure.md: needs an owner',
      'docs/secure.md: the hash depends on the installation',
      'docs/secure.md: needs a chain',
      'docs/secure.md: starts another installation',
      'docs/secure.md: needs nginx',
      'docs/secure.md: starts containers, as containers.long.test.ts does',
      'docs/secure.md: needs the certificate',
      'docs/secure.md: starts another installation',
      'docs/boot.md: needs the machines of the lab',
      'docs/boot.md: writes to a folder of the system',
    ])
  })
})

describe('the guides, executed in order with the product and a lab', () => {
  let product: Product
  let lab: Lab
  let home: string
  let env: Record<string, string>
  /** Records the command lines and environments of all children of the API and the worker. */
  let sampler: ChildProcess | undefined

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'muster-guides-'))
    const nodes = [
      { name: 'gpu01', profile: 'h100x8' as const },
      { name: 'gpu02', profile: 'h100x8' as const },
      { name: 'gpu03', profile: 'mi300x8' as const },
    ]
    ;[product, lab] = await Promise.all([startProduct({}), createLab({ nodes, slurm: canRunSlurm() })])
    env = await shellEnvironment(home)
    writeInputFiles(home, lab)
    Object.assign(env, await slurmVariables(lab))
    await sh(`muster login '${product.url}/sign-in#token=${product.linkToken}' --installation-admin`, home, env)
    const { token } = JSON.parse(readFileSync(join(home, '.config/muster/cli.json'), 'utf8')) as { token: string }
    Object.assign(env, { MUSTER_URL: product.url, MUSTER_TOKEN: token, ...agentSettings(home, product.url) })
    const pids = [product.pid('api'), product.pid('worker')].map(String)
    sampler = spawn(process.execPath, [SAMPLER, join(home, 'processes'), ...pids], { stdio: 'ignore' })
  }, 600_000)
  afterAll(async () => {
    sampler?.kill()
    await product?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  const runnable = guides.filter(({ path }) => path !== 'docs/slurm.md' || canRunSlurm())
  it.each(runnable)('$path', { timeout: 1_200_000 }, async ({ path, blocks }) => {
    const failures: string[] = []
    for (const [i, block] of blocks.entries())
      if (!runBlockedReason(block))
        await execute(block, blocks[i + 1]).catch((error: Error) => failures.push(`${path}:${block.line}: ${error.message}`))
    expect(failures.join('\n\n')).toBe('')
  })

  it('secrets of 20 kinds appear in no table, log, artifact, error, file or process', { timeout: 600_000 }, async () => {
    const guideSecrets = [
      { kind: 'API token of the guides', value: env.MUSTER_TOKEN! },
      { kind: 'webhook secret of the guides', value: readFileSync(join(home, 'pager.secret'), 'utf8').trim() },
      { kind: 'trigger secret of the guides', value: readFileSync(join(home, 'check-node.secret'), 'utf8').trim() },
      { kind: 'secret variable of the guides', value: 'bluefin tuna' },
    ]
    const planted = await plantCanaries(product, lab)
    const canaries = [...planted.canaries, ...guideSecrets]
    expect(new Set(canaries.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(20)
    const processes = { name: 'processes', text: readFileSync(join(home, 'processes'), 'utf8') }
    expect(processes.text).toContain('ansible-playbook')
    const places = [
      planted.errors,
      processes,
      ...(await databasePlaces(product.databaseUrl)),
      ...readFiles(product.dir, ['master-password']),
    ]
    expect(places.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['table public.job_run_events', 'file api.log', 'file worker.log']),
    )
    expect(findSecrets(canaries, places)).toEqual([])
    // Planted leaks: in a column, which the audit log repeats, and in a file.
    const [first, second] = canaries as [Canary, Canary]
    await planted.leak(formsOf(first.value)[2]!)
    writeFileSync(join(product.dir, 'leak'), formsOf(second.value).at(-1)!)
    const leaks = [...(await databasePlaces(product.databaseUrl)), ...readFiles(product.dir, ['master-password'])]
    expect(findSecrets(canaries, leaks)).toEqual(
      expect.arrayContaining([`${first.kind} in table public.compute_nodes`, `${second.kind} in file leak`]),
    )
    // What a leak would look like, in every form.
    for (const { kind, value } of canaries)
      for (const form of formsOf(value))
        expect(findSecrets([{ kind, value }], [{ name: 'a leak', text: `x${form}y` }])).toEqual([`${kind} in a leak`])
  })

  /** Runs one block. Its output must match the text or JSON block below it. */
  async function execute(block: Block, next: Block | undefined): Promise<void> {
    const [, file] = /^# (\S+\.yml)\n/.exec(block.text) ?? []
    if (block.language === 'yaml' && file) writeFileSync(join(home, file), block.text)
    if (block.language === 'sh') {
      const { code, out, err } = await sh(block.text, home, env)
      expect(code, `${err}\n${out}`).toBe(Number(/^exit=(\d+)/.exec(block.rest)?.[1] ?? 0))
      if (next?.language === 'text') expect(asPattern(next.text).test(squeeze(out)), `output:\n${err}\n${out}`).toBe(true)
    }
    if (block.language === 'graphql') {
      const { data, errors } = await sendOperation(
        block.text,
        JSON.parse(block.rest || '{}', (_, value) => substitute(value)),
      )
      expect(errors).toBeUndefined()
      const failures = Object.values(data!).filter((value) => value && typeof value === 'object' && 'message' in value)
      expect(failures).toEqual([])
      for (const [name, id] of idsOf(data)) env[name] = id
      if (next?.language === 'json') {
        const shown = JSON.parse(next.text) as unknown
        expect(asExpected(shown, data)).toEqual(shown)
      }
    }
  }

  /** Replaces `$NAME` in variables of an operation: the last ID of that name in a response, or a shell variable. */
  function substitute(value: unknown): unknown {
    if (typeof value !== 'string' || !value.startsWith('$')) return value
    const found = env[value.slice(1)]
    if (found === undefined) throw new Error(`${value} is not defined by an earlier block`)
    return found
  }

  async function sendOperation(query: string, variables: unknown) {
    const response = await fetch(`${product.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${env.MUSTER_TOKEN}` },
      body: JSON.stringify({ query, variables }),
    })
    return (await response.json()) as { data?: Record<string, unknown>; errors?: unknown[] }
  }
})

/** Runs a shell script. Variables that it sets are kept in `env` for the next one. */
async function sh(text: string, home: string, env: Record<string, string>) {
  const envFile = join(home, '.env')
  const script = `set -euo pipefail; set -a; trap 'env -0 > ${envFile}' EXIT\n${text}`
  const child = spawn('bash', ['-c', script], { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { out: '', err: '' }
  child.stdout.on('data', (chunk) => (output.out += chunk))
  child.stderr.on('data', (chunk) => (output.err += chunk))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  for (const pair of readFileSync(envFile, 'utf8').split('\0').filter(Boolean)) {
    const [, name, value] = /^(\w+)=(.*)$/s.exec(pair) ?? []
    if (name && value !== undefined) env[name] = value
  }
  return { code, ...output }
}

/** A shell environment with `muster`, as its npm package has it, and Ansible on PATH. */
async function shellEnvironment(home: string): Promise<Record<string, string>> {
  const bin = join(home, 'bin')
  const bundle = join(home, 'muster.mjs')
  mkdirSync(bin)
  await buildBundle(bundle)
  const programs = { muster: bundle, 'muster-agent': join(ROOT, 'apps/agent/src/main.ts') }
  for (const [name, program] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
    chmodSync(join(bin, name), 0o755)
  }
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

/** Settings of the agent of gpu01, which the guide writes to /etc/muster/agent.yaml, with files below `home`. */
const agentSettings = (home: string, url: string) => ({
  MUSTER_AGENT_CONFIG: '/dev/null',
  MUSTER_AGENT_NODE_ID: 'gpu01',
  MUSTER_AGENT_CLUSTER_ID: 'training',
  MUSTER_AGENT_API_URL: url,
  MUSTER_AGENT_KEY_FILE: join(home, 'agent.key'),
  MUSTER_AGENT_STATE_DIR: join(home, 'agent-state'),
  MUSTER_AGENT_STATUS_SOCKET: join(home, 'agent.sock'),
})

/** Writes the files that the guides assume: a key, a list of nodes, and their fingerprints. */
function writeInputFiles(home: string, lab: Lab): void {
  // The guide to Slurm adds the controller.
  const nodes = lab.nodes.filter((node) => !lab.slurm?.controllers.includes(node))
  writeFileSync(join(home, 'ops_key'), lab.credentials.sshKey.privateKey, { mode: 0o600 })
  writeFileSync(join(home, 'nodes.csv'), ['name,host,port', ...nodes.map((n) => `${n.name},${n.host},${n.port}`), ''].join('\n'))
  writeFileSync(join(home, 'fingerprints'), nodes.map((n) => `${n.name} ${n.hostKeyFingerprint}\n`).join(''))
}

/** Address and host key of the controller, and a pending job. */
async function slurmVariables({ slurm }: Lab): Promise<Record<string, string>> {
  if (!slurm) return {}
  const { host, hostKeyFingerprint } = slurm.controllers[0]!
  return { CTL_1: host, CTL_1_FINGERPRINT: hostKeyFingerprint, JOB: await slurm.submit('sleep 600', ['--begin=now+1hour']) }
}

/** The problem of a command in the guides: an unknown subcommand or option. */
function invalidCommand(muster: Command, words: string[]): string | null {
  let command = muster
  const rest = [...words]
  while (rest[0] && !rest[0].startsWith('-') && command.commands.length > 0) {
    const next = command.commands.find((one) => one.name() === rest[0] || one.aliases().includes(rest[0]!))
    if (!next && !defaultOf(command)) return `muster ${words.join(' ')}: unknown: ${rest[0]}`
    if (!next) break
    command = next
    rest.shift()
  }
  command = defaultOf(command) ?? command
  const options = command.options.flatMap((option) => [option.short, option.long])
  const unknown = rest.filter((word) => /^--?[a-zA-Z]/.test(word) && !options.includes(word.split('=')[0]!))
  return unknown.length > 0 ? `muster ${words.join(' ')}: unknown: ${unknown.join(', ')}` : null
}

/** The subcommand that runs when none is named, as `muster runs` does. */
function defaultOf(command: Command): Command | undefined {
  const { _defaultCommandName: name } = command as Command & { _defaultCommandName?: string | null }
  return command.commands.find((each) => each.name() === name)
}

/** The problem of a GraphQL name in code: `Type.field`, `field(argument: …)` or `fieldName`. */
function invalidField(schema: GraphQLSchema, code: string): string | null {
  const types = Object.values(schema.getTypeMap()).filter((t) => isObjectType(t) || isInterfaceType(t) || isInputObjectType(t))
  const [, owner, field] = /^([A-Z]\w+)\.([a-z]\w*)$/.exec(code) ?? []
  if (owner) {
    const type = types.find((t) => t.name === owner)
    return type && field! in type.getFields() ? null : `unknown: ${code}`
  }
  const [, name, given] = /^([a-z]+[A-Z]\w*|queue|workers)(?:\(([^{)]*)[^)]*\))?$/.exec(code) ?? []
  if (!name) return null
  const args = (given?.match(/\b[a-z]\w*(?=:|,|$)/gi) ?? []).filter((word) => !/^[A-Z]/.test(word))
  const fields = types.flatMap((t): { name: string; args?: readonly { name: string }[] }[] => Object.values(t.getFields()))
  const isField = fields.some((f) => f.name === name && args.every((arg) => f.args?.some((one) => one.name === arg)))
  const isArgument = args.length === 0 && fields.some((f) => f.args?.some((one) => one.name === name))
  return isField || isArgument ? null : `unknown: ${code}`
}
