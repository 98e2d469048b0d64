import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { compile, here, TARGETS, type Target } from './compile.ts'
import { pack } from './pack.ts'

const HELP = `Builds the node agent: one binary, and packages of it, in dist/agent.

  node apps/agent/packaging/build.ts [--binary-only] [TARGET...]

Targets: ${Object.keys(TARGETS).join(', ')}, all. Without one: what runs here.
`

const { values, positionals } = parseArgs({
  options: { 'binary-only': { type: 'boolean' }, out: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  allowPositionals: true,
})
const root = path.join(import.meta.dirname, '../../..')
const out = path.resolve(values.out ?? path.join(root, 'dist/agent'))
const targets = positionals.includes('all') ? Object.keys(TARGETS) : positionals.length ? positionals : [here ?? '?']
const strange = targets.find((target) => !(target in TARGETS))
if (values.help || strange) {
  process.stdout.write(`${strange ? `There is no target ${strange}.\n\n` : ''}${HELP}`)
  process.exit(strange ? 2 : 0)
}
fs.mkdirSync(out, { recursive: true })
// The same commit gives the same packages.
const epoch = Number(
  process.env.SOURCE_DATE_EPOCH ?? execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }),
)
for (const target of targets as Target[]) {
  const binary = path.join(out, `muster-agent-${target}`)
  compile(target, binary)
  const made = values['binary-only'] ? [] : pack(binary, target, out, { epoch })
  for (const file of [binary, ...made])
    process.stdout.write(`${(fs.statSync(file).size / 1024 ** 2).toFixed(1).padStart(6)} MiB  ${file}\n`)
}
