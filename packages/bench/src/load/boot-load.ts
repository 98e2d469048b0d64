// A separate process: `node boot-load.ts ORIGIN CONNECTIONS FILE` lets CONNECTIONS machines at a time fetch their paths in order, and prints
// the results as JSON. FILE is a JSON array with the paths of each machine. Like iPXE and cloud-init, a machine opens a connection for
// each request. Hand-written: HTTP clients of Node spend several times the CPU of a request.
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

const [origin, connections, file] = process.argv.slice(2) as [string, string, string]
const { hostname, port } = new URL(origin)
const machines = JSON.parse(readFileSync(file, 'utf8')) as string[][]
const times: number[] = []
const statuses: Record<string, number> = {}
let bytes = 0
let booted = 0
let next = 0

const before = process.cpuUsage()
const began = performance.now()
await Promise.all(Array.from({ length: Number(connections) }, bootMachines))
const ms = performance.now() - began
const { user, system } = process.cpuUsage(before)
times.sort((a, b) => a - b)
const p99 = times[Math.min(times.length - 1, Math.floor(times.length * 0.99))]
process.stdout.write(`${JSON.stringify({ ms, booted, statuses, bytes, p99, cpuShare: (user + system) / 1000 / ms })}\n`)

async function bootMachines(): Promise<void> {
  for (let machine = machines[next++]; machine; machine = machines[next++]) {
    let isBooted = true
    for (const path of machine) isBooted = (await fetchOnce(path)) && isBooted
    if (isBooted) booted++
  }
}

/** @returns whether the answer is complete and a success */
function fetchOnce(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const startedAt = performance.now()
    const chunks: Buffer[] = []
    let status = 'no answer'
    const socket = connect({ port: Number(port), host: hostname, noDelay: true })
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      const answer = Buffer.concat(chunks)
      const end = answer.indexOf('\r\n\r\n')
      const head = answer.toString('latin1', 0, Math.max(end, 0))
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? -1)
      const isComplete = end > 0 && answer.length === end + 4 + length
      if (isComplete) status = head.slice(9, 12)
      statuses[status] = (statuses[status] ?? 0) + 1
      bytes += isComplete ? length : 0
      times.push(performance.now() - startedAt)
      resolve(status === '200')
    })
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\n\r\n`)
  })
}
