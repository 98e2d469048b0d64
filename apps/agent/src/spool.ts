import fs from 'node:fs'
import path from 'node:path'
import { writeFileAtomic } from './files.ts'
import type { Position } from './sequence.ts'

export const SPOOL_MAX_AGE_MS = 3_600_000
const SPOOL_MAX_BYTES = 8 * 1024 * 1024

/** An undelivered heartbeat: its JSON in memory, or null when it is in the file named after its position. */
type QueuedHeartbeat = { position: Position; measuredAt: number; bytes: number; json: string | null }

/**
 * Queue of heartbeats in order of measurement. Only heartbeats that could not be delivered at once are persisted; on a full disk they
 * stay in memory. Heartbeats older than one hour or beyond 8 MiB are dropped, oldest first, and counted.
 */
export class Spool {
  #folder: string
  #queue: QueuedHeartbeat[] = []
  dropped = 0
  /** Why heartbeats cannot be persisted; null when they can. */
  problem: string | null = null

  constructor(stateDir: string) {
    this.#folder = path.join(stateDir, 'spool')
    for (const name of listFolder(this.#folder)) {
      const [, epoch, sequence] = /^(\d{14})-(\d{14})\.json$/.exec(name) ?? []
      const file = path.join(this.#folder, name)
      if (!epoch || !sequence) {
        fs.rmSync(file, { force: true, recursive: true })
        continue
      }
      const { size, mtimeMs } = fs.statSync(file)
      this.#queue.push({
        position: { boot_epoch: Number(epoch), sequence_number: Number(sequence) },
        measuredAt: mtimeMs,
        bytes: size,
        json: null,
      })
    }
  }

  get size(): number {
    return this.#queue.length
  }

  push(position: Position, measuredAt: Date, json: string): void {
    this.#queue.push({ position, measuredAt: measuredAt.getTime(), bytes: Buffer.byteLength(json), json })
    let bytes = this.#queue.reduce((sum, heartbeat) => sum + heartbeat.bytes, 0)
    const oldestAllowed = measuredAt.getTime() - SPOOL_MAX_AGE_MS
    while (this.#queue.length > 1 && (bytes > SPOOL_MAX_BYTES || this.#queue[0]!.measuredAt < oldestAllowed)) {
      bytes -= this.#queue[0]!.bytes
      this.#delete(0)
      this.dropped++
    }
  }

  /** Returns the oldest heartbeat. Drops heartbeats whose file is missing or unreadable. */
  first(): { position: Position; json: string } | undefined {
    while (this.#queue[0]) {
      const { position, json } = this.#queue[0]
      try {
        return { position, json: json ?? fs.readFileSync(this.#file(position), 'utf8') }
      } catch {
        this.#delete(0)
        this.dropped++
      }
    }
  }

  /** Removes a heartbeat that was accepted or rejected permanently. */
  remove(position: Position): void {
    const index = this.#queue.findIndex((heartbeat) => this.#file(heartbeat.position) === this.#file(position))
    if (index >= 0) this.#delete(index)
  }

  /** Writes heartbeats that are only in memory to disk. */
  persist(): void {
    try {
      fs.mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      for (const heartbeat of this.#queue) {
        if (heartbeat.json === null) continue
        const file = this.#file(heartbeat.position)
        writeFileAtomic(file, heartbeat.json)
        // The next start reads the time of measurement from the mtime.
        fs.utimesSync(file, heartbeat.measuredAt / 1000, heartbeat.measuredAt / 1000)
        heartbeat.json = null
      }
      this.problem = null
    } catch (error) {
      this.problem = `undelivered heartbeats cannot be saved: ${(error as Error).message}`
    }
  }

  #delete(index: number): void {
    const [removed] = this.#queue.splice(index, 1)
    if (removed && removed.json === null) fs.rmSync(this.#file(removed.position), { force: true })
  }

  #file({ boot_epoch, sequence_number }: Position): string {
    const digits = (value: number) => String(value).padStart(14, '0')
    return path.join(this.#folder, `${digits(boot_epoch)}-${digits(sequence_number)}.json`)
  }
}

function listFolder(folder: string): string[] {
  try {
    return fs.readdirSync(folder).sort()
  } catch {
    return []
  }
}
