import { mkdtemp, open, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { addNode } from '@muster/core/nodes'
import { runJob } from '@muster/core/runs'
import { TEST_MASTER_PASSWORD, type TestRuntime, testRuntime } from '@muster/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { spawnWorker } from '../testing/spawn-worker.ts'
import { runProgram, startProgram } from './executor.ts'

let suite: TestRuntime
let folder: string
beforeAll(async () => {
  suite = await testRuntime({ vault: 'real' })
  folder = await mkdtemp(join(tmpdir(), 'muster-executor-'))
})
afterAll(async () => {
  await suite.close()
  await rm(folder, { recursive: true })
})

test('no other file of the worker starts processes', async () => {
  const src = join(import.meta.dirname, '..')
  const files = (await readdir(src, { recursive: true })).filter(
    (file) => /\.ts$/.test(file) && !/\.test\.ts$|^(testing|executor)\//.test(file),
  )
  const texts = await Promise.all(
    files.map(async (file) => ((await readFile(join(src, file), 'utf8')).includes('child_process') ? [file] : [])),
  )
  expect(texts.flat()).toEqual([])
})

test('returns output, exit codes and signals, and passes input', async () => {
  expect(await runProgram(['sh', '-c', 'cat; echo out; echo err >&2; exit 3'], { stdin: 'in ' })).toEqual({
    ...{ code: 3, signal: null, timedOut: false },
    ...{ stdout: 'in out\n', stderr: 'err\n' },
  })
  expect(await runProgram(['sh', '-c', 'kill -9 $$'])).toMatchObject({ code: null, signal: 'SIGKILL' })
  await expect(runProgram(['/nowhere/program'])).rejects.toMatchObject({ code: 'ENOENT' })
  expect(await runProgram(['sleep', '600'], { timeoutMs: 50 })).toMatchObject({ timedOut: true, signal: 'SIGKILL' })
})

test('delivers large output completely and gives programs only the environment that they are started with', async () => {
  const program = await startProgram(['sh', '-c', 'env; seq 1 200000 >&3'], {
    env: { PATH: process.env.PATH, A: 'b' },
    outputs: 3,
  })
  const [env, , numbers] = await Promise.all(program.outputs.map((output) => text(output)))
  expect(numbers!.trim().split('\n')).toHaveLength(200_000)
  expect(env!.split('\n').filter((line) => !/^(PATH|PWD|SHLVL|_|OLDPWD)=/.test(line))).toEqual(['A=b', ''])
})

test('kills its programs when it is killed, and is started again', async () => {
  const program = await startProgram(['sleep', '600'])
  const { stdout } = await runProgram(['sh', '-c', 'echo $PPID'])
  process.kill(Number(stdout), 'SIGKILL')
  expect(await program.closed).toEqual({ code: null, signal: 'SIGKILL' })
  await expect.poll(() => readFile(`/proc/${program.pid}/stat`, 'utf8').catch(() => 'gone')).toMatch(/gone|\) Z /)
  expect((await runProgram(['echo', 'again'])).stdout).toBe('again\n')
})

test.runIf(process.platform === 'linux')(
  'the executor and all that it starts have neither the master password nor the address of the database',
  async () => {
    const started = join(folder, 'started')
    const program = join(folder, 'ansible-playbook')
    const body = `case "$1" in --version) echo 'ansible-playbook [core 2.19.4]' ;; *) echo $$ > '${started}'; sleep 600 ;; esac`
    await writeFile(program, `#!/bin/sh\n${body}\n`, { mode: 0o755 })
    const url = `${suite.url}${suite.url.includes('?') ? '&' : '?'}application_name=canary-of-the-broker`
    const worker = spawnWorker({
      DATABASE_URL: url,
      ANSIBLE_PLAYBOOK: program,
      ANSIBLE_WORK_DIR: join(folder, 'runs'),
      ARTIFACT_DIR: join(folder, 'artifacts'),
      JOB_CANCEL_GRACE_PERIOD: '1',
    })
    try {
      await expect.poll(() => /"port":\d+/.test(worker.output), { timeout: 60_000 }).toBe(true)
      const { admin } = await suite.given.tenant()
      const node = await addNode(admin, { name: 'here', host: 'localhost', connectionType: 'local' })
      await runJob(admin, { template: 'connectivity_check', nodeIds: [node.id] })
      await expect.poll(() => readFile(started, 'utf8').catch(() => ''), { timeout: 60_000 }).toMatch(/^\d+\n$/)
      const children = await childrenOf(worker.child.pid!)
      const below = (await Promise.all(children.map(descendantsOf))).flat()
      expect(below).toContain(Number(await readFile(started, 'utf8')))
      expect(below.length).toBeGreaterThanOrEqual(3)
      const canaries = [TEST_MASTER_PASSWORD, 'canary-of-the-broker', new URL(suite.url).pathname.slice(1)]
      for (const pid of below) expect(await foundIn(pid, canaries)).toEqual([])
      // The search finds them where they are.
      const own = await foundIn(worker.child.pid!, canaries)
      expect([...new Set(own)].sort()).toEqual([...canaries].sort())
    } finally {
      worker.child.kill('SIGTERM')
      await worker.ended
    }
  },
  120_000,
)

async function childrenOf(pid: number): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  const parents = pids.map(async (child) => {
    const stat = await readFile(`/proc/${child}/stat`, 'utf8').catch(() => '')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid ? [child] : []
  })
  return (await Promise.all(parents)).flat()
}

async function descendantsOf(pid: number): Promise<number[]> {
  return [pid, ...(await Promise.all((await childrenOf(pid)).map(descendantsOf))).flat()]
}

/** Which of `texts` a process has in its environment, arguments, open files or writable memory. */
async function foundIn(pid: number, texts: string[]): Promise<string[]> {
  const parts = await Promise.all(['environ', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`)))
  const fds = await readdir(`/proc/${pid}/fd`)
  parts.push(Buffer.from((await Promise.all(fds.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')))).join('\n')))
  const found = new Set<string>()
  const search = (part: Buffer) => {
    for (const one of texts) if (!found.has(one) && part.includes(one)) found.add(one)
  }
  parts.forEach(search)
  const memory = await open(`/proc/${pid}/mem`)
  try {
    for (const line of (await readFile(`/proc/${pid}/maps`, 'utf8')).split('\n')) {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
      if (!from || !to) continue
      const [start, end] = [BigInt(`0x${from}`), BigInt(`0x${to}`)]
      // Larger ones are reservations without content.
      if (end - start > 64n * 1024n * 1024n || found.size === texts.length) continue
      const part = Buffer.alloc(Number(end - start))
      const { bytesRead } = await memory.read(part, 0, part.length, start).catch(() => ({ bytesRead: 0 }))
      search(part.subarray(0, bytesRead))
    }
  } finally {
    await memory.close()
  }
  return [...found]
}
