#!/usr/bin/env node
// A fake ansible-playbook for tests of signals and floods. The playbook's file name selects the behavior.
import { spawn } from 'node:child_process'
import fs from 'node:fs'

const args = process.argv.slice(2)
if (args.includes('--version')) {
  console.log('ansible-playbook [core 2.19.4]')
  process.exit(0)
}
const inventory = fs.readFileSync(args[args.indexOf('-i') + 1], 'utf8')
const hosts = [...inventory.matchAll(/^ {4}"([^"]+)":/gm)].map(([, name]) => name)
const write = (fd, text) => {
  for (let data = Buffer.from(text); data.length > 0; )
    try {
      data = data.subarray(fs.writeSync(fd, data))
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
}
const emit = (kind, fields = {}) => write(3, `${JSON.stringify({ kind, t: Date.now() / 1000, ...fields })}\n`)
const figures = { ok: 1, failures: 0, unreachable: 0, changed: 0, skipped: 0, rescued: 0, ignored: 0 }
const wait = () => setInterval(() => {}, 1000)
const begin = () => {
  emit('play_start', { play: 'all', stdout: '\nPLAY [all]' })
  emit('task_start', { play: 'all', task: 'work', uuid: 'u1', action: 'command', stdout: '\nTASK [work]' })
  for (const host of hosts) emit('host_start', { play: 'all', task: 'work', uuid: 'u1', action: 'command', host })
}
const end = () => {
  for (const host of hosts)
    emit('ok', {
      play: 'all',
      task: 'work',
      uuid: 'u1',
      action: 'command',
      host,
      changed: false,
      ms: 5,
      result: { rc: 0 },
      stdout: `ok: [${host}]`,
    })
  emit('stats', { hosts: Object.fromEntries(hosts.map((host) => [host, figures])), stdout: 'RECAP' })
}

const behaviors = {
  /** Prints its arguments, environment and files as one line of JSON. */
  look() {
    const files = fs.readdirSync('.', { recursive: true, withFileTypes: true }).filter((f) => f.isFile())
    const read = files.map((f) => [f.name, fs.readFileSync(`${f.parentPath}/${f.name}`, 'utf8')])
    const modes = [fs.statSync('.').mode & 0o777, ...files.map((f) => fs.statSync(`${f.parentPath}/${f.name}`).mode & 0o777)]
    write(1, `${JSON.stringify({ args, env: process.env, files: Object.fromEntries(read), modes })}\n`)
    begin()
    end()
  },
  flood() {
    begin()
    for (let i = 1; i <= 100_000; i += 100) write(1, Array.from({ length: 100 }, (_, j) => `line ${i + j} of a flood\n`).join(''))
    end()
  },
  /** One line that never ends. */
  endless() {
    begin()
    process.on('SIGINT', () => process.exit(130))
    const more = () => {
      process.stdout.write('x'.repeat(65536), () => setImmediate(more))
    }
    more()
  },
  polite() {
    begin()
    process.on('SIGINT', () => process.exit(130))
    wait()
  },
  /** Works until a file `go` exists beside the playbook. */
  held() {
    begin()
    const timer = setInterval(() => {
      if (!fs.existsSync(args.at(-1).replace(/[^/]*$/, 'go'))) return
      clearInterval(timer)
      end()
    }, 50)
  },
  /** Ignores signals and has a child outside its process group. */
  stubborn() {
    const stray = spawn('sh', ['-c', 'trap "" INT TERM; sleep 300; :'], { detached: true, stdio: 'inherit' })
    for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => write(1, `got ${name}\n`))
    begin()
    write(1, `stray ${stray.pid}\n`)
    wait()
  },
  crash() {
    write(2, 'ERROR! the playbook could not be found\n')
    process.exit(4)
  },
  /** Succeeds and leaves a process that floods its output forever. */
  escaped() {
    const stray = spawn('sh', ['-c', 'while :; do echo and on and on; done'], { detached: true, stdio: 'inherit' })
    begin()
    write(1, `stray ${stray.pid} of ${process.pid}\n`)
    end()
    process.exit(0)
  },
  /** Emits a timestamp that the database rejects. */
  unstorable() {
    begin()
    emit('ok', { host: hosts[0], task: 'work', uuid: 'u1', t: 1e300, stdout: 'ok' })
    wait()
  },
  /** Emits host counts that the database rejects. */
  uncountable() {
    begin()
    emit('stats', { hosts: { [hosts[0]]: { ...figures, ok: 1e300 } } })
  },
  /** Gets killed while its first host is between two tasks and the others are in a task. */
  killed() {
    begin()
    emit('ok', { host: hosts[0], task: 'work', uuid: 'u1', result: {}, stdout: 'ok' })
    process.kill(process.pid, 'SIGKILL')
  },
  /** Its first host waits for the second one, which is in its second task. */
  between() {
    begin()
    for (const host of hosts) emit('ok', { host, task: 'work', uuid: 'u1', changed: true, result: {}, stdout: 'ok' })
    emit('task_start', { play: 'all', task: 'more', uuid: 'u2', action: 'command', stdout: '\nTASK [more]' })
    for (const host of hosts) emit('host_start', { task: 'more', uuid: 'u2', host })
    emit('ok', { host: hosts[0], task: 'more', uuid: 'u2', result: {}, stdout: 'ok' })
    process.on('SIGINT', () => process.exit(130))
    wait()
  },
  /** Prints the extra var `secret` in many encodings and split over several writes. */
  async leak() {
    const secret = JSON.parse(fs.readFileSync('extra-vars.yml', 'utf8').match(/"secret": !unsafe ("(?:[^"\\]|\\.)*")/)[1])
    begin()
    for (const part of ['the password is ', ...secret, ' indeed\n']) {
      write(1, part)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    write(2, `basic ${Buffer.from(`admin:${secret}`).toString('base64')} and ${encodeURIComponent(secret)}\n`)
    emit('ok', {
      host: hosts[0],
      task: `say ${secret}`,
      uuid: 'u1',
      result: { stdout: secret, [secret]: [JSON.stringify({ secret })] },
      stdout: `ok: ${JSON.stringify(secret)}`,
    })
    write(1, `${'y'.repeat(16 * 1024 - 4)}${secret}\n`)
    end()
  },
  /** Writes invalid and oversized events. */
  garbage() {
    begin()
    write(3, 'not json\n{"kind":1}\n')
    emit('ok', {
      host: hosts[0],
      task: 'big',
      uuid: 'u1',
      result: {
        rc: 0,
        msg: 'z'.repeat(300_000),
        list: Array.from({ length: 50_000 }, (_, i) => i),
        '\u0000nul': '\ud800 half \u0000',
      },
    })
    end()
  },
}
const behavior = process.argv.at(-1).split('/').at(-1).replace('.yml', '')
await behaviors[behavior]()
