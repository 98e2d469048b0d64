import { chmodSync, copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('callback-flood.pl', import.meta.url))

/** `rate` null: as fast as it is taken. */
export type Flood = { events: number; rate: number | null }
export type CallbackFlood = {
  /** With which the product takes it for ansible-playbook. Isolation would hide from it what it is to say. */
  env: Record<string, string>
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
  const go = join(dir, 'go')
  copyFileSync(SCRIPT, program)
  chmodSync(program, 0o755)
  return {
    env: { ANSIBLE_PLAYBOOK: program, ANSIBLE_ISOLATION: 'none' },
    set({ events, rate }, isHeld = false) {
      writeFileSync(join(dir, 'flood'), `${events} ${rate ?? 0}\n`)
      if (isHeld) rmSync(go, { force: true })
      else writeFileSync(go, '')
    },
    letGo: () => writeFileSync(go, ''),
  }
}
