import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterEach, describe, expect, it } from 'vitest'
import { createFakeNode, type FakeNode, processesWith, runProbe, SHELLS } from '../test/node.ts'
import { Discovery, PROBE, PROBE_OUTPUT_LIMIT_BYTES, parseProbe, probeCommand } from './index.ts'

const nodes: FakeNode[] = []
const given = (profile?: string) => {
  const node = createFakeNode(profile)
  nodes.push(node)
  return node
}
afterEach(() => {
  for (const node of nodes.splice(0)) node.remove()
})

/** Unique sleep duration, which identifies the process in the process list. */
const trace = () => `9${Math.floor(Math.random() * 1e9)}`
const toolOf = (discovery: Discovery, name: string) => discovery.tools.find((tool) => tool.tool === name)

describe.each(SHELLS)('the probe in $name', ({ argv: shell }) => {
  it('reports accelerators, absent tools and host facts', async () => {
    const run = await runProbe(given('h100x8'), { shell })
    const discovery = Discovery.parse(parseProbe(run.stdout))
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(toolOf(discovery, 'nvidia-smi')).toMatchObject({ state: 'OK', deviceCount: 8 })
    expect(toolOf(discovery, 'npu-smi')).toMatchObject({ state: 'ABSENT', reason: null, deviceCount: null })
    expect(discovery.accelerators.map((device) => device.pciAddress)).toHaveLength(8)
    expect(discovery).toMatchObject({ truncated: false, warnings: [] })
    expect(discovery.host.kernel).toMatch(/^\d+\.\d+/)
    expect(discovery.host.memoryBytes).toBeGreaterThan(2 ** 26)
    expect(discovery.host.cpu.threads).toBeGreaterThan(0)
    expect(discovery.host.mounts.map((mount) => mount.path)).toContain('/')
    expect(discovery.host.toolkits).toMatchObject({ cuda: '12.4.1', 'nvidia driver': '550.54.15' })
  })

  it('kills a hung tool with its children, keeps its output, and completes the other vendor', async () => {
    const seconds = trace()
    const node = given('mi300x8').tool('nvidia-smi', `echo "GPU 0: half a line"; sleep ${seconds} & sleep ${seconds}`)
    const discovery = parseProbe((await runProbe(node, { shell, toolSeconds: 1 })).stdout)
    expect(toolOf(discovery, 'nvidia-smi')).toMatchObject({ state: 'TIMED_OUT', deviceCount: null })
    expect(toolOf(discovery, 'nvidia-smi')?.reason).toContain('GPU 0: half a line')
    expect(toolOf(discovery, 'amd-smi')).toMatchObject({ state: 'OK', deviceCount: 8 })
    expect(discovery.truncated).toBe(false)
    await expect.poll(() => processesWith(`sleep ${seconds}`)).toEqual([])
  })

  it('kills a tool that ignores SIGTERM', async () => {
    const seconds = trace()
    const node = given().tool('npu-smi', `trap '' TERM HUP INT; echo stuck; sleep ${seconds}; sleep ${seconds}`)
    const discovery = parseProbe((await runProbe(node, { shell, toolSeconds: 1 })).stdout)
    expect(toolOf(discovery, 'npu-smi')).toMatchObject({ state: 'TIMED_OUT' })
    await expect.poll(() => processesWith(`sleep ${seconds}`)).toEqual([])
  })

  it('kills leftover processes: in the background, with an open pipe, and in a separate session', async () => {
    const seconds = trace()
    const node = given().tool(
      'xpu-smi',
      `sleep ${seconds} & (sleep ${seconds} >/dev/null 2>&1 &) ; setsid sh -c "sleep ${seconds} >/dev/null 2>&1 & sleep ${seconds}" >/dev/null 2>&1 & echo "No device discovered"`,
    )
    const discovery = parseProbe((await runProbe(node, { shell })).stdout)
    expect(toolOf(discovery, 'xpu-smi')).toMatchObject({ state: 'FAILED', reason: 'No device discovered', deviceCount: null })
    await expect.poll(() => processesWith(`sleep ${seconds}`)).toEqual([])
  })

  it('truncates 10 MB of output and stays below the limit', async () => {
    const line = 'x'.repeat(99)
    const node = given().tool(
      'nvidia-smi',
      `i=0; while [ $i -lt 1000 ]; do i=$((i+1)); printf '${`${line}\\n`.repeat(100)}'; done`,
    )
    for (const name of ['amd-smi', 'xpu-smi', 'npu-smi', 'ppu-smi']) node.tool(name, 'exec nvidia-smi')
    const run = await runProbe(node, { shell })
    const discovery = parseProbe(run.stdout)
    expect(run.stdout.length).toBeLessThanOrEqual(PROBE_OUTPUT_LIMIT_BYTES)
    expect(run.stdout.length).toBeGreaterThan(400_000)
    expect(discovery).toMatchObject({ truncated: true, accelerators: [] })
    expect(discovery.warnings).toContain('nvidia-smi: truncated output')
    expect(toolOf(discovery, 'nvidia-smi')?.state).toBe('FAILED')
  })

  it('ignores frames that a tool prints', async () => {
    const nonce = randomUUID()
    const forged = `${nonce} - ms=1\\n${nonce} + tool npu-smi info\\n${nonce} end ms=1\\nmuster-probe/1 ${nonce}\\n`
    const discovery = parseProbe((await runProbe(given().tool('nvidia-smi', `printf '${forged}'; exit 9`), { shell })).stdout)
    expect(toolOf(discovery, 'nvidia-smi')?.state).toBe('FAILED')
    expect(toolOf(discovery, 'npu-smi')?.state).toBe('ABSENT')
    expect(discovery.durationMs).not.toBe(1)
  })

  it('reports a tool that cannot be executed', async () => {
    const node = given().tool(
      'ppu-smi',
      'echo "error while loading shared libraries: libhgml.so: cannot open shared object file" >&2; exit 127',
    )
    const report = toolOf(parseProbe((await runProbe(node, { shell })).stdout), 'ppu-smi')
    expect(report).toMatchObject({ state: 'FAILED', deviceCount: null })
    expect(report?.reason).toContain('libhgml.so')
    expect(report?.reason).toContain('exit code 127')
  })
})

it('creates no files', async () => {
  const node = given('ascend910b3x8')
  const before = readdirSync(tmpdir()).filter((name) => !/^muster-probe-|vitest/.test(name))
  await runProbe(node)
  const after = readdirSync(tmpdir()).filter((name) => !/^muster-probe-|vitest/.test(name))
  expect(after.filter((name) => !before.includes(name) && /sh|tmp|probe/i.test(name))).toEqual([])
  expect(PROBE).not.toMatch(/mktemp|>\s*\/tmp/)
})

it('limits tools with timeout when setsid is missing', async () => {
  const seconds = trace()
  const node = given().tool('nvidia-smi', `echo begun; exec sleep ${seconds}`)
  for (const name of ['timeout', 'sh', 'head', 'grep', 'ls', 'df', 'cat', 'sleep', 'uname'])
    node.tool(name, `exec /usr/bin/${name} "$@"`)
  const discovery = parseProbe(
    (await runProbe(node, { shell: ['/bin/sh'], toolSeconds: 1, path: `${node.bin}:/nowhere` })).stdout,
  )
  expect(toolOf(discovery, 'nvidia-smi')?.state).toBe('TIMED_OUT')
  await expect.poll(() => processesWith(`sleep ${seconds}`)).toEqual([])
})

it('rejects settings that could break out of the script', () => {
  expect(() => probeCommand({ nonce: "x'; rm -rf / #aaaaaaaaaaaa" })).toThrow(/nonce/)
  expect(() => probeCommand({ toolSeconds: 0 })).toThrow(/time limit/)
  expect(probeCommand({ nonce: '0123456789abcdef' })).toMatchObject({ command: 'sh -s' })
})

it('uses the nonce of the caller', async () => {
  const { stdin } = probeCommand({ nonce: '0123456789abcdef-00' })
  expect(stdin.startsWith('MUSTER_TOOL_SECONDS=10 MUSTER_NONCE=0123456789abcdef-00\n')).toBe(true)
})
