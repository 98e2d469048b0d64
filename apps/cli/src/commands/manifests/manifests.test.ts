import { mkdirSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { muster, startTestApi, type TestApi } from '../../testing/muster.ts'

let t: TestApi
const PATH = process.env.PATH ?? ''
const folder = mkdtempSync(path.join(tmpdir(), 'muster-manifests-'))
const file = (name: string, text: string) => {
  writeFileSync(path.join(folder, name), text)
  return path.join(folder, name)
}
beforeAll(async () => {
  t = await startTestApi()
  const { admin } = await t.given.tenant()
  await t.signIn(admin)
})
afterAll(() => t?.close())

const NODES = `apiVersion: muster/v1
kind: ComputeNode
metadata: {nodes: "gpu[01-03]"}
spec:
  host: 10.0.0.1+
  rack: A1
`
const GROUP = 'apiVersion: muster/v1\nkind: NodeGroup\nmetadata: {name: gpu}\nspec: {members: "gpu[01-02]"}\n'

it('shows, applies, exports and deletes the objects of a folder', async () => {
  mkdirSync(path.join(folder, 'site'))
  file('site/nodes.yaml', NODES)
  file('site/group.yml', GROUP)
  file('site/README.md', 'not a manifest')
  const site = path.join(folder, 'site')
  const diff = await muster(`diff -f ${site} --exit-code`)
  expect(diff.out).toBe(
    '+ NodeGroup gpu\n    members: gpu[01-02]\n+ ComputeNode gpu[01-03] (3)\n    host: 10.0.0.[1-3]\n    rack: A1\n',
  )
  expect([diff.code, diff.err]).toEqual([1, '4 to create\n'])
  expect((await muster(`apply -f ${site} --dry-run`)).err).toContain('4 to create')
  expect((await muster(`apply -f ${site} --owner site -o name`)).out).toBe('NodeGroup/gpu\nComputeNode/gpu[01-03]\n')
  const again = await muster(`apply -f ${site} --owner site`)
  expect([again.code, again.err]).toEqual([0, 'Applying 2 files …\n4 unchanged\n'])

  const exported = (await muster('export')).out
  expect((await muster('apply -f - --owner copy', exported)).err).toContain('4 unchanged')
  expect((await muster('export')).out).toBe(exported)
  expect((await muster('export NodeGroup/gpu nodes')).code).toBe(2)
  expect((await muster('export nodegroup/gpu --resource-versions')).out).toMatch(/resourceVersion: \S+/)

  expect((await muster('get ComputeNode/gpu02 -o json')).out).toContain('"host": "10.0.0.2"')
  expect((await muster('describe NodeGroup/gpu')).out).toContain('gpu')
  expect((await muster('delete NodeGroup/gpu')).code).toBe(0)
  expect((await muster('delete ComputeNode/gpu03')).code).toBe(0)
  expect((await muster('node get gpu03 -o json')).out).toContain('DECOMMISSIONED')
  expect((await muster('get Pod/x')).err).toContain('There is no kind Pod')
})

it('prints problems with file, line and column, and conflicts', async () => {
  const bad = await muster(`apply -f ${file('bad.yaml', NODES.replace('rack', 'rak'))}`)
  expect(bad.code).toBe(5)
  expect(bad.err).toContain('bad.yaml:6:3: spec.rak: the field rak is not known; did you mean rack?')
  expect(bad.err).toContain('1 problem. Nothing was changed.')
  const nodes = (rack: string) =>
    file('one.yaml', NODES.replaceAll('gpu[01-03]', 'cpu1').replace('A1', rack).replace('10.0.0.1+', 'h'))
  await muster(`apply -f ${nodes('A1')} --owner site`)
  const taken = await muster(`apply -f ${nodes('B1')} --owner team`)
  expect([taken.code, taken.err]).toEqual([5, expect.stringContaining('Conflict: ComputeNode/cpu1: rack is owned by site')])
  expect((await muster(`apply -f ${nodes('B1')} --owner team --force-conflicts`)).err).toContain('1 changed')
  expect((await muster(`apply -f ${nodes('B1')} --prune`)).err).toContain('--prune needs --owner')
})

describe('apply --wait', () => {
  const wave = (rack = '{name}') =>
    file(
      'wave.yaml',
      `apiVersion: muster/v1\nkind: ComputeNode\nmetadata: {nodes: "w[1-1010]"}\nspec: {host: 10.1.0.1+, rack: "${rack}"}\n`,
    )
  const setNodes = (columns: string, where: string) =>
    t.runtime.db.$client.query(`update compute_nodes set ${columns} where ${where}`)
  const printed = () => vi.mocked(process.stderr.write).mock.calls.map(([text]) => String(text))

  it('waits for nodes beyond the listed changes, and for nodes that do not change', async () => {
    await muster(`apply -f ${wave()} --owner wave`)
    await setNodes('ready_at = now()', "name like 'w%' and name <> 'w1010'")
    const changing = wave('row {name}')
    const plan = JSON.parse((await muster(`diff -f ${changing} --owner wave -o json`)).out)
    expect([plan.changeCount, plan.changes.length, plan.nodes]).toEqual([1010, 1000, 'w[1-1010]'])
    expect(JSON.stringify(plan.changes)).not.toContain('w1010')
    const reason = '  w1010: NEW: no connection test has succeeded yet\n'
    for (const what of ['1010 changed', '1010 unchanged']) {
      const { code, err } = await muster(`apply -f ${changing} --owner wave --wait --timeout 1`)
      expect(err).toContain(`${what}\nWaiting for nodes: 1009 of 1010 READY; 1 NEW …\n`)
      expect(err).toContain(`1 of 1010 nodes not READY after 1 second:\n${reason}The manifests are applied.`)
      expect(code).toBe(1)
    }
    await setNodes('ready_at = now()', "name = 'w1010'")
    const { code, err } = await muster(`apply -f ${changing} --owner wave --wait`)
    expect([code, err]).toEqual([0, 'Applying 1 file …\n1010 unchanged\n1010 nodes READY.\n'])
  })

  it('names the reasons of nodes that are not READY, at most 20 of them', async () => {
    await setNodes('ready_at = now()', "name like 'w%'")
    await setNodes("unreachable_since = now(), unreachable_reason = 'connection refused'", "name in ('w1', 'w2')")
    await setNodes('maintenance_at = now()', "name = 'w3'")
    const some = await muster(`apply -f ${wave('row {name}')} --owner wave --wait --timeout 1`)
    expect(some.err).toContain('1007 of 1010 READY; 2 UNREACHABLE, 1 in maintenance or decommissioned …')
    expect(some.err).toMatch(
      / {2}w1: UNREACHABLE: .*connection refused\n {2}w2: UNREACHABLE: .*\n {2}w3: MAINTENANCE: an operator set it\n/,
    )
    await setNodes("unreachable_since = now(), unreachable_reason = 'no route to host', maintenance_at = null", "name like 'w%'")
    const all = await muster(`apply -f ${wave('row {name}')} --owner wave --wait --timeout 1`)
    expect(all.err.match(/^ {2}w\d+: UNREACHABLE: .*no route to host$/gm)).toHaveLength(20)
    expect(all.err).toContain('  … and 990 more\n')
  })

  it('prints the progress and ends when the last node is READY; names a node that is renamed meanwhile', async () => {
    const two = file('two.yaml', NODES.replaceAll('gpu[01-03]', 'late[1-2]'))
    const waiting = muster(`apply -f ${two} --wait`)
    await vi.waitFor(() => expect(printed()).toContain('Waiting for nodes: 0 of 2 READY; 2 NEW …\n'))
    await setNodes('ready_at = now()', "name = 'late1'")
    await vi.waitFor(() => expect(printed()).toContain('Waiting for nodes: 1 of 2 READY; 1 NEW …\n'), { timeout: 10_000 })
    await setNodes('ready_at = now()', "name = 'late2'")
    expect(await waiting).toMatchObject({ code: 0, err: expect.stringMatching(/2 nodes READY\.\n$/) })

    await setNodes('ready_at = null', "name = 'late2'")
    const failing = muster(`apply -f ${two} --wait`)
    await vi.waitFor(() => expect(printed()).toContain('Waiting for nodes: 1 of 2 READY; 1 NEW …\n'))
    await setNodes("name = 'other', ready_at = now()", "name = 'late2'")
    expect((await failing).err).toContain('  late2: deleted or renamed since it was applied\n')
  })
})

it('refuses a file of 100 MB', async () => {
  const large = file('large.yaml', '')
  truncateSync(large, 100_000_000)
  const { code, err } = await muster(`apply -f ${large}`)
  expect([code, err]).toEqual([5, expect.stringContaining('at most 10 million characters')])
})

it('applies Pkl through the program pkl', async () => {
  // In place of pkl, which is a program of 100 MB: prints the file, which is YAML.
  const bin = path.join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(path.join(bin, 'pkl'), '#!/bin/sh\nexec cat "$4"\n', { mode: 0o755 })
  vi.stubEnv('PATH', `${bin}${path.delimiter}${PATH}`)
  const pkl = file('node.pkl', NODES.replaceAll('gpu[01-03]', 'pkl1'))
  const applied = await muster(`apply -f ${pkl}`)
  vi.stubEnv('PATH', folder)
  const { code, err } = await muster(`apply -f ${pkl}`)
  vi.stubEnv('PATH', PATH)
  expect(applied.err).toContain('1 created')
  expect([code, err]).toEqual([2, expect.stringContaining('needs the program pkl, which is not on the path')])
})

it('prints the JSON Schema of a kind', async () => {
  const schema = JSON.parse((await muster('schema ComputeNode')).out)
  expect(schema.properties.spec.properties.managementIp).toBeDefined()
  expect(schema.properties.spec.additionalProperties).toBe(false)
})
