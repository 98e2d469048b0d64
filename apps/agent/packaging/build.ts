import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { compile, hostTarget, TARGETS, type Target } from './compile.ts'
import { pack } from './pack.ts'

const HELP = `Builds the node agent binary and its packages in dist/agent.

  node apps/agent/packaging/build.ts [--binary-only] [TARGET...]

Targets: ${Object.keys(TARGETS).join(', ')}, all. Default: the platform of this machine.
`

const { values, positionals } = parseArgs({
  options: { 'binary-only': { type: 'boolean' }, out: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  allowPositionals: true,
})
const root = path.join(import.meta.dirname, '../../..')
const out = path.resolve(values.out ?? path.join(root, 'dist/agent'))
const targets = positionals.includes('all') ? Object.keys(TARGETS) : positionals.length ? positionals : [hostTarget ?? '?']
const unknown = targets.find((target) => !(target in TARGETS))
if (values.help || unknown) {
  process.stdout.write(`${unknown ? `Unknown target: ${unknown}\n\n` : ''}${HELP}`)
  process.exit(unknown ? 2 : 0)
}
fs.mkdirSync(out, { recursive: true })
// Reproducible build: timestamps come from the commit.
const epoch = Number(
  process.env.SOURCE_DATE_EPOCH ?? execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }),
)
for (const target of targets as Target[]) {
  const binary = path.join(out, `muster-agent-${target}`)
  compile(target, binary)
  const packages = values['binary-only'] ? [] : pack(binary, target, out, { epoch })
  for (const file of [binary, ...packages])
    process.stdout.write(`${(fs.statSync(file).size / 1024 ** 2).toFixed(1).padStart(6)} MiB  ${file}\n`)
}
