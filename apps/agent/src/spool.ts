import fs from 'node:fs'
import path from 'node:path'
import { writeDurably } from './files.ts'
import type { Position } from './state.ts'

export const SPOOL_AGE = 3_600_000
const SPOOL_BYTES = 8 * 1024 * 1024

/** A beat that waits to be delivered: its JSON in memory, or in a file named after its position. */
type Waiting = { position: Position; measuredAt: number; bytes: number; json: string | null }

/**
 * Beats in the order in which they were measured, oldest first. Only what could not be delivered at once goes to the disk; where the disk
 * is full it stays in memory. Beats older than an hour and beyond 8 MiB are dropped, oldest first, and counted.
 */
export class Spool {
  #folder: string
  #waiting: Waiting[] = []
  dropped = 0
  /** Why beats are not on the disk; null when they are. */
  problem: string | null = null

  constructor(folder: string) {
    this.#folder = path.join(folder, 'spool')
    for (const name of list(this.#folder)) {
      const [, epoch, sequence] = /^(\d{14})-(\d{14})\.json$/.exec(name) ?? []
      const file = path.join(this.#folder, name)
      if (!epoch || !sequence) {
        fs.rmSync(file, { force: true, recursive: true })
        continue
      }
      const { size, mtimeMs } = fs.statSync(file)
      this.#waiting.push({
        position: { boot_epoch: Number(epoch), sequence_number: Number(sequence) },
        measuredAt: mtimeMs,
        bytes: size,
        json: null,
      })
    }
  }

  get size(): number {
    return this.#waiting.length
  }

  /** Takes a beat in behind all others. */
  push(position: Position, measuredAt: Date, json: string): void {
    this.#waiting.push({ position, measuredAt: measuredAt.getTime(), bytes: Buffer.byteLength(json), json })
    let bytes = this.#waiting.reduce((sum, each) => sum + each.bytes, 0)
    while (this.#waiting.length > 1 && (bytes > SPOOL_BYTES || measuredAt.getTime() - this.#waiting[0]!.measuredAt > SPOOL_AGE)) {
      bytes -= this.#waiting[0]!.bytes
      this.#forget(0)
      this.dropped++
    }
  }

  /** The oldest beat. One whose file is gone or cannot be read is dropped. */
  first(): { position: Position; json: string } | undefined {
    while (this.#waiting[0]) {
      const { position, json } = this.#waiting[0]
      try {
        return { position, json: json ?? fs.readFileSync(this.#file(position), 'utf8') }
      } catch {
        this.#forget(0)
        this.dropped++
      }
    }
  }

  /** The beat was delivered, or is refused for good. */
  remove(position: Position): void {
    const at = this.#waiting.findIndex((each) => this.#file(each.position) === this.#file(position))
    if (at >= 0) this.#forget(at)
  }

  /** Puts on the disk what is only in memory. */
  keep(): void {
    try {
      fs.mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      for (const each of this.#waiting) {
        if (each.json === null) continue
        const file = this.#file(each.position)
        writeDurably(file, each.json)
        // The next start takes the age of a beat from here.
        fs.utimesSync(file, each.measuredAt / 1000, each.measuredAt / 1000)
        each.json = null
      }
      this.problem = null
    } catch (error) {
      this.problem = `beats cannot be kept on the disk: ${(error as Error).message}`
    }
  }

  #forget(at: number): void {
    const [gone] = this.#waiting.splice(at, 1)
    if (gone && gone.json === null) fs.rmSync(this.#file(gone.position), { force: true })
  }

  #file({ boot_epoch, sequence_number }: Position): string {
    const digits = (value: number) => String(value).padStart(14, '0')
    return path.join(this.#folder, `${digits(boot_epoch)}-${digits(sequence_number)}.json`)
  }
}

function list(folder: string): string[] {
  try {
    return fs.readdirSync(folder).sort()
  } catch {
    return []
  }
}
