/** Timers and subscriptions of one run, ended together. */
export class Watch {
  isOver = false
  private readonly ends: (() => void)[] = []

  on(end: () => void): void {
    if (this.isOver) end()
    else this.ends.push(end)
  }

  /** Like setInterval, but never twice at once. */
  every(ms: number, work: () => Promise<void>): void {
    let isBusy = false
    const timer = setInterval(async () => {
      if (isBusy) return
      isBusy = true
      await work()
      isBusy = false
    }, ms)
    this.on(() => clearInterval(timer))
  }

  after(ms: number, work: () => void): void {
    const timer = setTimeout(work, Math.min(ms, 2 ** 31 - 1))
    this.on(() => clearTimeout(timer))
  }

  end(): void {
    this.isOver = true
    for (const end of this.ends.splice(0)) end()
  }
}
