import fs from 'node:fs'
import path from 'node:path'
import { writeDurably } from './files.ts'

/** Where a beat stands: no two beats of a node have the same, and a later one has the greater, over restarts and reinstallation. */
export type Position = { boot_epoch: number; sequence_number: number }

/**
 * The position of the last beat, kept in a file before a beat goes out. Every start begins a new epoch: one more than the last, and at
 * least the time in ms, so that it also grows when the file was lost, and two machines with one disk do not begin the same.
 */
export class Sequence {
  #file: string
  #at: Position
  /** Why the position is not on the disk; null when it is. It still grows then, since epochs follow the clock. */
  problem: string | null = null

  constructor(folder: string, now: Date) {
    this.#file = path.join(folder, 'sequence.json')
    this.#at = { boot_epoch: Math.max(lastEpoch(this.#file) + 1, now.getTime()), sequence_number: 0 }
    this.#keep(() => fs.mkdirSync(folder, { recursive: true, mode: 0o700 }))
  }

  get current(): Position {
    return { ...this.#at }
  }

  next(): Position {
    this.#at.sequence_number++
    this.#keep()
    return this.current
  }

  #keep(before?: () => void): void {
    try {
      before?.()
      writeDurably(this.#file, `${JSON.stringify(this.#at)}\n`)
      this.problem = null
    } catch (error) {
      this.problem = `the sequence cannot be kept: ${(error as Error).message}`
    }
  }
}

function lastEpoch(file: string): number {
  try {
    const { boot_epoch } = JSON.parse(fs.readFileSync(file, 'utf8'))
    return Number.isSafeInteger(boot_epoch) && boot_epoch > 0 ? boot_epoch : 0
  } catch {
    return 0
  }
}
