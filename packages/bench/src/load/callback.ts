import { chmodSync, copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('callback-flood.pl', import.meta.url))

/** `rate` in events per second; null: unlimited. */
export type Flood = { events: number; rate: number | null }
export type CallbackFlood = {
  /** Settings that make the product run it as ansible-playbook. Isolation would hide its files. */
  env: Record<string, string>
  /** Sets what runs started from now on emit; with `isPaused` they wait for `release`. */
  set(flood: Flood, isPaused?: boolean): void
  release(): void
}

/**
 * A fake ansible-playbook that emits one-line events in the callback plugin's format, faster than Ansible can: it measures everything
 * behind the callback.
 * @param dir folder of the program and its settings
 */
export function callbackFlood(dir: string): CallbackFlood {
  const program = join(dir, 'ansible-playbook')
  const go = join(dir, 'go')
  copyFileSync(SCRIPT, program)
  chmodSync(program, 0o755)
  return {
    env: { ANSIBLE_PLAYBOOK: program, ANSIBLE_ISOLATION: 'none' },
    set({ events, rate }, isPaused = false) {
      writeFileSync(join(dir, 'flood'), `${events} ${rate ?? 0}\n`)
      if (isPaused) rmSync(go, { force: true })
      else writeFileSync(go, '')
    },
    release: () => writeFileSync(go, ''),
  }
}
