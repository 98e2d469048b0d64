// `node sample-processes.ts FILE PID...` reads the command line and environment of all descendants of these processes every 10 ms
// (50 ms with `npm test`, because reading takes half of a core), and writes each new text to FILE. Ends when it is killed.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'

const INTERVAL_MS = process.env.MUSTER_LONG_TESTS ? 10 : 50
const [file, ...roots] = process.argv.slice(2) as [string, ...string[]]
const seen = new Set<string>()

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended.
    return ''
  }
}

function* descendantsOf(pid: string): Generator<string> {
  let threads: string[] = []
  try {
    threads = readdirSync(`/proc/${pid}/task`)
  } catch {
    // The process has ended.
  }
  for (const thread of threads)
    for (const child of read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean)) {
      yield child
      yield* descendantsOf(child)
    }
}

setInterval(() => {
  for (const root of roots)
    for (const pid of descendantsOf(root))
      for (const name of ['cmdline', 'environ']) {
        const text = read(`/proc/${pid}/${name}`).replaceAll('\0', '\n')
        if (seen.has(text)) continue
        seen.add(text)
        appendFileSync(file, `${name}\n${text}\n`)
      }
}, INTERVAL_MS)
