import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Accelerator, Discovery, parseAmd, parseHuawei, parseIntel, parseNvidia, parseProbe, parseThead } from '../src/index.ts'
import { mutantsOf } from './mutants.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url))
const texts = readdirSync(FIXTURES, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(txt|xml|json)$/.test(entry.name) && entry.name !== 'pci.txt')
  .map((entry) => ({
    path: join(entry.parentPath, entry.name),
    name: entry.name
      .replace(/\.txt$/, '')
      .replaceAll('_', ' ')
      .trim(),
  }))
  .map(({ path, name }) => ({ name, tool: /([a-z]+-smi)\//.exec(path)?.[1] ?? 'nvidia-smi', text: readFileSync(path, 'utf8') }))

const NONCE = '0123456789abcdef'
const frame = (tool: string, args: string, text: string) => `${NONCE} + tool ${tool} ${args}\n${text}\n:0\n${NONCE} - ms=10\n`

const SIZE = 200_000
const repeat = (part: string) => part.repeat(SIZE / part.length)

/** Long texts of one repeated part. */
export const REPETITIVE_TEXTS = [
  ' ',
  '\n',
  '1',
  '| ',
  'a : ',
  '{',
  '[',
  '{\n',
  '1 / ',
  'k=v\n',
  '<gpu ',
  'GPU 0: (UUID: ',
  'A-SMI ',
  '\u001b[',
].map((part) => ({
  name: JSON.stringify(part),
  text: repeat(part),
}))

/** Runs every parser on one text. */
export const parseAll = (text: string) => [
  parseNvidia({ xml: text, csv: [text], list: text, table: text, topology: text, version: text, query: text }),
  parseNvidia({ xml: `<nvidia_smi_log><gpu id="1">${text}` }),
  parseAmd({ static: text, list: text, metric: text, topology: text, version: text, rocm: [text] }),
  parseIntel({ discovery: text, details: [text], stats: [text], health: text, topology: text, table: text, version: text }),
  parseHuawei({ info: text, list: text, mapping: text, boards: [text], details: [text], topology: text }),
  parseThead({ query: text, csv: [text], list: text, table: text, topology: text }),
  parseProbe(
    `muster-probe/1 ${NONCE}\n${['files', 'links', 'cpuinfo', 'tool system'].map((name) => `${NONCE} + ${name}\n@df\n${text}\n${NONCE} -\n`).join('')}`,
  ),
]

/** Defines tests that every parser returns valid results for mutated input. */
export function defineFuzzTests(runs: number): void {
  const any = mutantsOf(texts.map((one) => one.text))
  const expectValid = (accelerators: Accelerator[]) => {
    for (const device of accelerators) {
      Accelerator.parse(device)
      expect(JSON.stringify(device)).not.toContain('null,null,NaN')
    }
  }
  describe(`${runs} mutants`, () => {
    const check = (name: string, read: (text: string) => { accelerators: Accelerator[] }) =>
      it(name, { timeout: 600_000 }, () =>
        fc.assert(
          fc.property(any, (text) => expectValid(read(text).accelerators)),
          { numRuns: runs },
        ),
      )
    check('nvidia XML', (text) => parseNvidia({ xml: text }))
    check('nvidia, every text at once', (text) =>
      parseNvidia({
        xml: text,
        csv: [text, { fields: ['index', 'name', 'uuid'], text }],
        list: text,
        table: text,
        topology: text,
        version: text,
        query: text,
      }),
    )
    check('amd', (text) =>
      parseAmd({ static: text, list: text, metric: text, topology: text, version: text, rocm: [text, text] }),
    )
    check('intel', (text) =>
      parseIntel({ discovery: text, details: [text], stats: [text], health: text, topology: text, table: text, version: text }),
    )
    check('huawei', (text) =>
      parseHuawei({
        info: text,
        list: text,
        mapping: text,
        boards: [text],
        details: [text],
        vnpus: [{ card: '0', chip: '0', text }],
        topology: text,
      }),
    )
    check('thead', (text) => parseThead({ query: text, csv: [text], list: text, table: text, topology: text }))

    it('whole probes', { timeout: 600_000 }, () => {
      const probes = fc
        .array(fc.constantFrom(...texts), { minLength: 1, maxLength: 6 })
        .map(
          (picked) =>
            `muster-probe/1 ${NONCE}\n${picked.map((one) => frame(one.tool, one.name, one.text)).join('')}${NONCE} end ms=9\n`,
        )
      fc.assert(
        fc.property(
          probes.chain((probe) => mutantsOf([probe])),
          (raw) => {
            const discovery = Discovery.parse(parseProbe(raw))
            for (const tool of discovery.tools)
              if (tool.state !== 'OK' && tool.state !== 'FOREIGN') expect(tool.deviceCount).toBeNull()
            for (const tool of discovery.tools) if (tool.state === 'OK') expect(tool.deviceCount).toBeGreaterThan(0)
          },
        ),
        { numRuns: runs },
      )
    })

    it('bytes', { timeout: 600_000 }, () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 4000 }), (raw) => {
          Discovery.parse(parseProbe(raw))
        }),
        { numRuns: runs },
      )
    })
  })
}
