import fs from 'node:fs'
import path from 'node:path'
import { writeFileAtomic } from './files.ts'

/** Position of a heartbeat. Unique per node, and increasing across restarts and reinstallation. */
export type Position = { boot_epoch: number; sequence_number: number }

/**
 * Position of the last heartbeat, persisted before the heartbeat is sent. Every start begins a new epoch: the last one plus one, and at
 * least the current time in ms. It thus increases after the file is lost, and clones of one disk start in different epochs.
 */
export class Sequence {
  #file: string
  #position: Position
  /** Why the position cannot be persisted; null when it is. Positions still increase, because epochs follow the clock. */
  problem: string | null = null

  constructor(stateDir: string, now: Date) {
    this.#file = path.join(stateDir, 'sequence.json')
    this.#position = { boot_epoch: Math.max(readLastEpoch(this.#file) + 1, now.getTime()), sequence_number: 0 }
    this.#persist(() => fs.mkdirSync(stateDir, { recursive: true, mode: 0o700 }))
  }

  get current(): Position {
    return { ...this.#position }
  }

  next(): Position {
    this.#position.sequence_number++
    this.#persist()
    return this.current
  }

  #persist(prepare?: () => void): void {
    try {
      prepare?.()
      writeFileAtomic(this.#file, `${JSON.stringify(this.#position)}\n`)
      this.problem = null
    } catch (error) {
      this.problem = `the sequence cannot be saved: ${(error as Error).message}`
    }
  }
}

function readLastEpoch(file: string): number {
  try {
    const { boot_epoch } = JSON.parse(fs.readFileSync(file, 'utf8'))
    return Number.isSafeInteger(boot_epoch) && boot_epoch > 0 ? boot_epoch : 0
  } catch {
    return 0
  }
}
