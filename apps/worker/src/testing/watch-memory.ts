/** Watches the memory of this process. `growth` ends it and returns the largest growth in bytes. */
export function watchMemory(): { growth(): number } {
  const before = process.memoryUsage.rss()
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20)
  return {
    growth() {
      clearInterval(timer)
      return Math.max(peak, process.memoryUsage.rss()) - before
    },
  }
}
