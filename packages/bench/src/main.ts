import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Bench } from './bench.ts'
import { report } from './compare.ts'

const FOLDER = fileURLToPath(new URL('benches', import.meta.url))
const names = readdirSync(FOLDER).map((file) => file.replace(/\.ts$/, ''))
const [name, ...rest] = process.argv.slice(2)

if (!name || !existsSync(`${FOLDER}/${name}.ts`)) {
  process.stderr.write(`Which benchmark? One of: ${names.join(', ')}. For example: npm run bench -- discovery\n`)
  process.exit(2)
}
const roundsAt = rest.indexOf('--rounds')
const rounds = roundsAt < 0 ? 5 : Number(rest[roundsAt + 1])
if (!Number.isInteger(rounds) || rounds < 1) {
  process.stderr.write('--rounds wants a whole number above 0; 5 when not given.\n')
  process.exit(2)
}
const option = (name: string, fallback: number): number => {
  const at = rest.indexOf(`--${name}`)
  const value = at < 0 ? fallback : Number(rest[at + 1])
  if (value > 0) return value
  process.stderr.write(`--${name} wants a number above 0; ${fallback} when not given.\n`)
  process.exit(2)
}
// Product and peers end when we exit, which a signal alone would not do.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const started = Date.now()
const say = (text: string) => void process.stderr.write(`[${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s] ${text}\n`)
const { bench } = (await import(`./benches/${name}.ts`)) as { bench: Bench }
const results = await bench({ rounds, say, option })
process.exitCode = report(name, results) ? 0 : 1
