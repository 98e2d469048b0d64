import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `rate` null: as fast as it is taken. */
export type Flood = { events: number; rate: number | null }
export type CallbackFlood = {
  /** The executable. */
  program: string
  /** What runs that start from now on say; `isHeld`: once they are let go, all together. */
  set(flood: Flood, isHeld?: boolean): void
  letGo(): void
}

/**
 * A program in the place of ansible-playbook that says events as our callback plugin does, each of one line, at a rate that Ansible
 * itself does not reach: what is measured with it is what comes behind the callback.
 * @param dir where it is put
 */
export function callbackFlood(dir: string): CallbackFlood {
  const program = join(dir, 'ansible-playbook')
  const [settings, go] = [join(dir, 'flood.json'), join(dir, 'go')]
  writeFileSync(program, `#!${process.execPath}\n(${flood.toString()})(${JSON.stringify(settings)}, ${JSON.stringify(go)})\n`)
  chmodSync(program, 0o755)
  return {
    program,
    set(what, isHeld = false) {
      writeFileSync(settings, JSON.stringify(what))
      if (isHeld) rmSync(go, { force: true })
      else writeFileSync(go, '')
    },
    letGo: () => writeFileSync(go, ''),
  }
}

/** Runs in a process of its own: may use nothing from outside of it. */
function flood(settings: string, go: string): void {
  const LINES_PER_WAKE = 5
  if (process.argv.includes('--version')) {
    console.log('ansible-playbook [core 2.19.0]')
    return
  }
  const { existsSync, readFileSync, writeSync } = process.getBuiltinModule('node:fs')
  const { events, rate } = JSON.parse(readFileSync(settings, 'utf8')) as Flood
  const fd = Number(process.env.MUSTER_EVENTS_FD)
  const wait = new Int32Array(new SharedArrayBuffer(4))
  const say = (fields: object) => `${JSON.stringify({ t: Date.now() / 1000, ...fields })}\n`
  const write = (text: string) => {
    for (let rest = Buffer.from(text); rest.length > 0; )
      try {
        rest = rest.subarray(writeSync(fd, rest))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
        Atomics.wait(wait, 0, 0, 1)
      }
  }
  write(say({ kind: 'play_start', play: 'flood' }) + say({ kind: 'task_start', play: 'flood', task: 'say', uuid: 'u' }))
  while (!existsSync(go)) Atomics.wait(wait, 0, 0, 50)
  const began = performance.now()
  for (let sent = 0; sent < events; ) {
    const due = rate === null ? sent + 200 : Math.min(events, Math.floor(((performance.now() - began) / 1000) * rate))
    let text = ''
    for (; sent < Math.min(due, events); sent++)
      text += say({ kind: 'ok', host: 'node1', play: 'flood', task: 'say', uuid: 'u', stdout: `ok: [node1] => line ${sent}` })
    write(text)
    // Many of them run at once, on the machine that is measured: each wakes for some lines only.
    if (rate !== null) Atomics.wait(wait, 0, 0, Math.max(2, (LINES_PER_WAKE * 1000) / rate))
  }
  const figures = { ok: events, failures: 0, unreachable: 0, changed: 0, skipped: 0, rescued: 0, ignored: 0 }
  write(say({ kind: 'stats', hosts: { node1: figures } }))
}
