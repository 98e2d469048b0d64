import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Bench } from './bench.ts'
import { report } from './compare.ts'
import { seededRandom } from './seeded-random.ts'

// npm run bench -- NAME [--rounds N] [--seed N] [--SIZE N …]: sizes are options of the benchmark, for example --hosts.
const folder = fileURLToPath(new URL('benches', import.meta.url))
const names = readdirSync(folder).map((file) => file.replace(/\.ts$/, ''))
const [name, ...args] = process.argv.slice(2)

if (!name || !names.includes(name)) {
  process.stderr.write(`Name a benchmark: ${names.join(', ')}. Example: npm run bench -- discovery\n`)
  process.exit(2)
}
const option = (name: string, fallback: number): number => {
  const at = args.indexOf(`--${name}`)
  const value = at < 0 ? fallback : Number(args[at + 1])
  if (value > 0) return value
  process.stderr.write(`--${name} must be a number above 0. Default: ${fallback}\n`)
  process.exit(2)
}
const rounds = option('rounds', 5)
if (!Number.isInteger(rounds)) {
  process.stderr.write('--rounds must be an integer. Default: 5\n')
  process.exit(2)
}
// Product and peers are killed when this process exits; a signal alone would not run the exit handlers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const started = Date.now()
const print = (text: string) =>
  void process.stderr.write(`[${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s] ${text}\n`)
const seed = option('seed', Date.now() % 1_000_000 || 1)
print(`${name}: ${rounds} rounds, seed ${seed}`)
const { bench } = (await import(`./benches/${name}.ts`)) as { bench: Bench }
const results = await bench({ rounds, print, option, random: seededRandom(seed) })
process.exitCode = report(name, results) ? 0 : 1
