import fs from 'node:fs'

type Entry = { at: number; isError: boolean }
const DAY = 86_400_000
const MAX_ENTRIES = 10_000

/**
 * Counts kernel errors and warnings of the last 24 hours and collects Xids of the NVIDIA driver. Counts are null while the log does not
 * cover 24 hours, or when it is not readable.
 */
export class KernelLog {
  #file: number | null = null
  #entries: Entry[] = []
  #knownSince: number | null = null
  #lastError: string | null = null
  #xids: { pci_address: string; code: number; at: string }[] = []

  constructor(file: string) {
    try {
      this.#file = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
    } catch {
      // Only root can read it.
    }
  }

  read(now: Date, uptimeSeconds: number | null) {
    if (this.#file === null || uptimeSeconds === null)
      return { error_count_24h: null, warning_count_24h: null, last_error_message: null, xids: null }
    const boot = now.getTime() - uptimeSeconds * 1000
    for (let record = this.#next(); record !== null; record = this.#next()) this.#parse(record, boot, now)
    const since = now.getTime() - DAY
    this.#entries = this.#entries.filter(({ at }) => at >= since).slice(-MAX_ENTRIES)
    this.#xids = this.#xids.filter(({ at }) => Date.parse(at) >= since).slice(-64)
    const coversDay = this.#knownSince !== null && this.#knownSince <= since
    const count = (isError: boolean) => (coversDay ? this.#entries.filter((entry) => entry.isError === isError).length : null)
    return {
      error_count_24h: count(true),
      warning_count_24h: count(false),
      last_error_message: this.#lastError,
      xids: this.#xids,
    }
  }

  /** Parses `priority,sequence,microseconds since boot,flags;text`. */
  #parse(record: string, boot: number, now: Date): void {
    const match = /^(\d+),(\d+),(\d+),[^;]*;([^\n]*)/.exec(record)
    if (!match) return
    const [priority, sequence, micros] = [Number(match[1]) & 7, Number(match[2]), Number(match[3])]
    const [at, message] = [boot + micros / 1000, match[4]!]
    // Sequence 0 is the first record of this boot: the log is complete.
    if (this.#knownSince === null) this.#knownSince = sequence === 0 ? 0 : Math.min(at, now.getTime())
    if (Number(match[1]) > 7) return
    if (priority <= 4) this.#entries.push({ at, isError: priority <= 3 })
    if (priority <= 3) this.#lastError = message.slice(0, 256)
    const xid = /NVRM: Xid \(PCI:([\da-f:.]+)\): (\d+)/i.exec(message)
    if (xid) this.#xids.push({ pci_address: xid[1]!.toLowerCase(), code: Number(xid[2]), at: new Date(at).toISOString() })
  }

  #next(): string | null {
    for (;;) {
      try {
        const length = fs.readSync(this.#file!, buffer, 0, buffer.length, null)
        return length > 0 ? buffer.toString('utf8', 0, length) : null
      } catch (error) {
        // EPIPE: the kernel overwrote unread records, so earlier entries are lost.
        if ((error as NodeJS.ErrnoException).code !== 'EPIPE') return null
        this.#knownSince = null
      }
    }
  }
}

const buffer = Buffer.alloc(8192)
