import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Lab } from '@muster/lab'
import { queryArguments, type SlurmQuery } from '@muster/slurm'

/** In the order of a refresh. */
const QUERIES: SlurmQuery[] = [
  'version',
  'controllers',
  'config',
  'nodes',
  'partitions',
  'reservations',
  'jobs',
  'scheduler',
  'licenses',
]
const NONCE = 'f'.repeat(32)
const END = `\n${'e'.repeat(32)}\n`

/** OpenSSH with one open session on the controller, in which a shell runs the commands of a refresh and nothing reads their output. */
export function openRawSession(lab: Lab, version: string) {
  const dir = mkdtempSync(join(tmpdir(), 'rs-'))
  const { host, port, hostPublicKey } = lab.slurm!.controllers[0]!
  const { username, privateKey } = lab.credentials.sshKey
  writeFileSync(join(dir, 'key'), privateKey)
  chmodSync(join(dir, 'key'), 0o600)
  writeFileSync(join(dir, 'known_hosts'), `${port === 22 ? host : `[${host}]:${port}`} ${hostPublicKey}\n`)
  const options = [
    ...['-F', 'none', '-T', '-p', String(port), '-i', join(dir, 'key'), '-l', username],
    ...['-o', `UserKnownHostsFile=${join(dir, 'known_hosts')}`, '-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=yes'],
  ]
  const ssh = spawn('ssh', [...options, host, 'LC_ALL=C sh -s'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<never>((_, reject) => ssh.once('exit', (code) => reject(new Error(`ssh ended with ${code}.`))))
  ended.catch(() => {})
  const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

  /** Runs one command. @returns its output */
  async function run(argv: string[]): Promise<Buffer> {
    const chunks: Buffer[] = []
    const done = new Promise<void>((resolve) => {
      const read = (chunk: Buffer) => {
        chunks.push(chunk)
        // The mark can be split over two chunks.
        const tail = Buffer.concat(chunks.slice(-2)).subarray(-40).toString()
        if (!tail.endsWith(END)) return
        ssh.stdout.off('data', read)
        resolve()
      }
      ssh.stdout.on('data', read)
    })
    ssh.stdin.write(`${argv.map(quoted).join(' ')} </dev/null\nprintf '${END.replaceAll('\n', '\\n')}'\n`)
    await Promise.race([done, ended])
    return Buffer.concat(chunks)
  }
  return {
    /** Runs the commands of one refresh, one after the other. @returns the wall time in ms, and the output of a command */
    async refresh() {
      const began = performance.now()
      const outputs = new Map<SlurmQuery, Buffer>()
      for (const query of QUERIES) outputs.set(query, await run(queryArguments(query, version, NONCE)))
      const ms = performance.now() - began
      return { ms, outputOf: (query: SlurmQuery) => outputs.get(query)!.toString('utf8').slice(0, -END.length) }
    },
    /** Ends each record of the jobs. */
    nonce: NONCE,
    close() {
      ssh.kill()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
