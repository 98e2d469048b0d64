import { crossCheck } from './cross-check.ts'
import { type Frame, readFrames } from './frames.ts'
import { findLink, parseEvidence } from './host-evidence.ts'
import { addMigFiles } from './nvidia-devices.ts'
import { parseAmd } from './parse-amd.ts'
import { parseHost, parseProcNvidia } from './parse-host.ts'
import { parseHuawei } from './parse-huawei.ts'
import { parseIntel } from './parse-intel.ts'
import { parseNvidia } from './parse-nvidia.ts'
import { parseThead } from './parse-thead.ts'
import { type Accelerator, type Discovery, SCHEMA_VERSION, type ToolName, type ToolReport } from './schema.ts'
import { FABRIC_STATE } from './smi-query.ts'
import { firstLine, splitLines } from './text.ts'
import { mergeDevices, type VendorResult, vendorResult } from './vendor.ts'

interface Call {
  args: string
  frame: Frame
}

/** Assigns the calls of each tool, identified by their arguments, to the inputs of its parser. */
const TOOLS: Record<ToolName, (calls: Call[]) => VendorResult> = {
  'nvidia-smi': (calls) => {
    const texts = {
      xml: bodies(calls, /^-q -x( -i \S+)?$/).join('\n'),
      list: body(calls, /^-L$/),
      topology: body(calls, /^topo/),
      table: body(calls, /^$/),
      csv: csv(calls),
    }
    const found = parseNvidia(texts)
    if (!found.foreign) return found
    return { ...parseThead({ ...texts, query: texts.xml, csv: texts.csv }), foreign: found.foreign }
  },
  'amd-smi': (calls) =>
    parseAmd({
      static: body(calls, /^static/),
      list: body(calls, /^list/),
      metric: body(calls, /^metric/),
      topology: body(calls, /^topology/),
      version: body(calls, /^version/),
    }),
  'rocm-smi': (calls) => parseAmd({ rocm: calls.map((call) => call.frame.body) }),
  'xpu-smi': (calls) =>
    parseIntel({
      discovery: body(calls, /^discovery -j$/),
      details: bodies(calls, /^discovery -d/),
      stats: bodies(calls, /^stats/),
      health: body(calls, /^health/),
      topology: body(calls, /^topology/),
      table: body(calls, /^$/),
      version: body(calls, /^-v$/),
    }),
  'npu-smi': (calls) =>
    parseHuawei({
      info: body(calls, /^info$/),
      list: body(calls, /^info -l$/),
      mapping: body(calls, /^info -m$/),
      boards: bodies(calls, /^info -t board/),
      details: calls
        .filter((call) => /^info -t ecc/.test(call.args))
        .map((call) => ({ card: call.args.split(' ')[4] ?? '', text: call.frame.body })),
      vnpus: calls
        .filter((call) => /^info -t info-vnpu/.test(call.args))
        .map((call) => ({ card: call.args.split(' ')[4] ?? '', chip: call.args.split(' ')[6] ?? '0', text: call.frame.body })),
      topology: body(calls, /^info -t topo/),
    }),
  'ppu-smi': (calls) =>
    parseThead({
      query: body(calls, /^-q$/),
      list: body(calls, /^-L$/),
      topology: body(calls, /^topo/),
      table: body(calls, /^$/),
      csv: csv(calls),
    }),
}

const bodies = (calls: Call[], args: RegExp) => calls.filter((call) => args.test(call.args)).map((call) => call.frame.body)
const body = (calls: Call[], args: RegExp) => bodies(calls, args).find((text) => text.trim() !== '') ?? ''
const csv = (calls: Call[]) =>
  calls.flatMap((call) => {
    const fields = /^--query-[gp]pu=(\S+) --format=csv(,noheader)?/.exec(call.args)
    return fields ? [{ fields: (fields[1] ?? '').split(','), text: call.frame.body }] : []
  })

/**
 * Parses the raw output of the probe. Never throws: unreadable parts are missing and produce a warning. PCI devices that no tool lists are
 * added with `source: 'pci'`, so a failed tool does not make a node look empty.
 */
export function parseProbe(raw: Uint8Array | string): Discovery {
  const { frames, complete, durationMs } = readFrames(raw)
  const warnings: string[] = []
  if (!frames.length) warnings.push('no probe output: the shell on the node did not run the probe')
  else if (!complete) warnings.push('the probe output is incomplete')
  const host = parseSafely('host facts', () => parseHost(frames), warnings) ?? parseHost([])
  const paths = new Map(
    (frames.find((frame) => frame.name === 'tools')?.body ?? '')
      .split('\n')
      .map((line) => line.trim().split(' ') as [string, string]),
  )

  const tools: ToolReport[] = []
  const readings = new Map<string, VendorResult>()
  for (const [tool, read] of Object.entries(TOOLS) as [ToolName, (calls: Call[]) => VendorResult][]) {
    const calls = toolCalls(frames, tool)
    const path = paths.get(tool)
    if (!calls.length) {
      const present = path !== undefined && path !== '-'
      const unused = present && tool === 'rocm-smi' && toolCalls(frames, 'amd-smi').length > 0
      if (unused) continue
      tools.push(
        toolReport(
          tool,
          present ? path : null,
          present || !frames.length ? 'FAILED' : 'ABSENT',
          present ? 'not called' : frames.length ? null : 'the probe did not run',
        ),
      )
      continue
    }
    const found = parseSafely(tool, () => read(calls), warnings) ?? vendorResult({ failure: 'unreadable output' })
    readings.set(tool, found)
    tools.push(reportTool(tool, path ?? null, calls, found, warnings))
  }
  if (frames.some((frame) => frame.name === 'unbounded'))
    warnings.push('no vendor tool was called, because the node has neither setsid nor timeout')

  // Two tools can report the same device: PPU images contain nvidia-smi beside ppu-smi.
  let accelerators: Accelerator[] = []
  for (const found of readings.values()) accelerators = mergeVendorDevices(accelerators, found.accelerators)
  for (const found of readings.values()) {
    warnings.push(...found.warnings)
    for (const [name, version] of Object.entries(found.toolkits)) host.toolkits[name] ??= version
  }
  const { files, links } = parseEvidence(frames)
  const lost = new Map([...readings.values()].flatMap((found) => [...found.lost]))
  const checked = parseSafely(
    'PCI',
    () => crossCheck({ accelerators, host, tools, lost, files, proc: parseProcNvidia(frames) }),
    warnings,
  )
  return {
    schemaVersion: SCHEMA_VERSION,
    host,
    tools,
    accelerators: (checked?.accelerators ?? accelerators).map((device) =>
      setToolkitVersion(addMigFiles(addFabricManager(device, links), host, files), host.toolkits),
    ),
    warnings: [...new Set([...warnings, ...(checked?.warnings ?? [])])],
    truncated: !complete || frames.some((frame) => frame.cut),
    durationMs,
  }
}

/** Adds to the reason of a fabric that is not configured whether the fabric manager runs. */
function addFabricManager(device: Accelerator, links: Map<string, string>): Accelerator {
  if (!device.healthReason?.startsWith(FABRIC_STATE)) return device
  const isInstalled = findLink(links, '/nvidia-fabricmanager.service') !== undefined
  const isRunning = findLink(links, '/system.slice/nvidia-fabricmanager.service/cgroup.procs') !== undefined
  if (isRunning) return device
  const manager = isInstalled ? 'nvidia-fabricmanager does not run' : 'nvidia-fabricmanager is not installed'
  return { ...device, healthReason: `${device.healthReason}; ${manager}` }
}

/** Merges devices of one vendor that two tools report. */
function mergeVendorDevices(merged: Accelerator[], more: Accelerator[]): Accelerator[] {
  const vendor = more[0]?.vendor
  return [
    ...merged.filter((device) => device.vendor !== vendor),
    ...mergeDevices(
      merged.filter((device) => device.vendor === vendor),
      more,
    ),
  ]
}

const toolCalls = (frames: Frame[], tool: string): Call[] =>
  frames
    .filter((frame) => frame.name === `tool ${tool}` || frame.name.startsWith(`tool ${tool} `))
    .map((frame) => ({ args: frame.name.slice(`tool ${tool} `.length).trim(), frame }))

/** Runs a parser; on an error it returns null and adds a warning, so the other results are kept. */
function parseSafely<T>(what: string, read: () => T, warnings: string[]): T | null {
  try {
    return read()
  } catch {
    warnings.push(`${what}: unreadable output`)
    return null
  }
}

const toolReport = (tool: ToolName, path: string | null, state: ToolReport['state'], reason: string | null): ToolReport => ({
  tool,
  state,
  reason,
  path,
  version: null,
  durationMs: null,
  deviceCount: null,
})

/** Derives the state of a tool from its output, exit code and duration. */
function reportTool(tool: ToolName, path: string | null, calls: Call[], found: VendorResult, warnings: string[]): ToolReport {
  const durationMs = calls.reduce((sum, call) => sum + (call.frame.durationMs ?? 0), 0)
  const base = { tool, path, version: found.version, durationMs }
  const late = calls.find((call) => call.frame.timedOut)
  const hung = late ?? calls.find((call) => call.frame.skipped)
  const devices = found.accelerators.length
  if (hung) warnings.push(`${tool} ${hung.args}: timed out`)
  if (calls.some((call) => call.frame.cut)) warnings.push(`${tool}: truncated output`)
  if (found.foreign)
    return { ...base, state: 'FOREIGN', reason: `this ${tool} is ${found.foreign}`, deviceCount: devices || null }
  if (devices && !(late && late === calls[0])) return { ...base, state: 'OK', reason: null, deviceCount: devices }
  const firstOutput = calls.map((call) => firstLine(call.frame.body)).find((line) => line !== null)
  if (late)
    return {
      ...base,
      state: 'TIMED_OUT',
      reason: `\`${[tool, late.args].join(' ').trim()}\` timed out${firstOutput ? `; output: ${firstOutput}` : ''}`,
      deviceCount: null,
    }
  const code = calls[0]?.frame.code
  const reason = [found.failure ?? firstOutput ?? 'no output', code ? `(exit code ${code})` : ''].join(' ').trim()
  return { ...base, state: 'FAILED', reason, deviceCount: null }
}

/** Prefers the installed toolkit version to the version that the driver supports. */
function setToolkitVersion(device: Accelerator, toolkits: Record<string, string>): Accelerator {
  const name = { nvidia_gpu: 'cuda', amd_gpu: 'rocm', intel_gpu: 'oneapi', huawei_npu: 'cann', thead_npu: 'hggc', other: '' }[
    device.deviceType
  ]
  return { ...device, toolkitVersion: toolkits[name] ?? device.toolkitVersion }
}

/** Raw output of one tool by call, for display. */
export function evidenceOf(raw: Uint8Array | string, tool: string): { call: string; text: string }[] {
  return toolCalls(readFrames(raw).frames, tool).map((call) => ({
    call: `${tool} ${call.args}`.trim(),
    text: splitLines(call.frame.body).join('\n'),
  }))
}
