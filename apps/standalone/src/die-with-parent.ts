import { isMainThread } from 'node:worker_threads'

// Preloaded (`node --import`) into every process that the supervisor starts: ends it when the channel to the supervisor closes, which
// is what a killed supervisor leaves behind. Not meant for what such a process forks: that has a channel of another purpose.
if (isMainThread) {
  const here = process.execArgv.indexOf('--import')
  if (here >= 0) process.execArgv.splice(here, 2)
  process.once('disconnect', () => {
    process.kill(process.pid, 'SIGTERM')
    setTimeout(() => process.exit(1), 30_000).unref()
  })
  process.channel?.unref()
}
